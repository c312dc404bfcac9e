#include "data/rows/csv_record.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace obolus {

bool CsvRecord::next(LineSource& lines, char delimiter) {
  std::string_view line;
  do {
    if (!lines.next(line)) return false;
  } while (line.empty());
  read(lines, line, delimiter);
  return true;
}

void CsvRecord::read(LineSource& lines, std::string_view line, char delimiter) {
  text_.clear();
  cells_.clear();
  line_ = lines.number();
  for (std::size_t at = 0;; ++at) {
    cells_.push_back({text_.size(), 0, lines.number(), at + 1});
    if (at < line.size() && line[at] == '"') {
      at = read_quoted(lines, line, at, delimiter);
    } else {
      const std::size_t end = std::min(line.find(delimiter, at), line.size());
      text_.append(line.substr(at, end - at));
      at = end;
    }
    cells_.back().size = text_.size() - cells_.back().begin;
    end_column_ = at + 1;
    if (at == line.size()) return;
  }
}

std::size_t CsvRecord::read_quoted(LineSource& lines, std::string_view& line, std::size_t at, char delimiter) {
  const auto unclosed = [&](std::string_view got) {
    throw DataError(fmt::format("{}:{}:{}: got {} after this quote, expected a quote that closes it", lines.name(),
                                cells_.back().line, cells_.back().column, got));
  };
  ++at;
  while (true) {
    const std::size_t quote = line.find('"', at);
    if (quote == std::string_view::npos) {
      text_.append(line.substr(at)).append(lines.ending());
      if (text_.size() > lines.max_length()) unclosed(fmt::format("more than {} bytes", lines.max_length()));
      if (!lines.next(line)) unclosed("the end of the file");
      at = 0;
      continue;
    }
    text_.append(line.substr(at, quote - at));
    at = quote + 1;
    if (at == line.size() || line[at] == delimiter) return at;
    if (line[at] != '"')
      lines.refuse(lines.number(), at + 1,
                   shown(line.substr(at, line.find(delimiter, at) - at)) + " after the closing quote",
                   "the delimiter or the end of the line");
    text_ += '"';
    ++at;
  }
}

}  // namespace obolus
