// Which format a file has, by its name or else by its first line, and the reader for it.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "data/rows/line_rows.hpp"
#include "data/rows/number_text.hpp"

namespace obolus {
namespace {

std::string_view without_packing(std::string_view name) {
  for (const std::string_view packed : {".gz", ".zst"})
    if (name.ends_with(packed)) return name.substr(0, name.size() - packed.size());
  return name;
}

RowFormat format_of_name(std::string_view name) {
  using Extension = std::pair<std::string_view, RowFormat>;
  for (const auto& [extension, format] : {Extension{".svm", RowFormat::svmlight},
                                          {".svmlight", RowFormat::svmlight},
                                          {".libsvm", RowFormat::svmlight},
                                          {".csv", RowFormat::csv},
                                          {".tsv", RowFormat::csv},
                                          {".arff", RowFormat::arff},
                                          {".vw", RowFormat::vowpal_wabbit}})
    if (name.ends_with(extension)) return format;
  return RowFormat::automatic;
}

bool is_entry(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && number_of(text.substr(0, colon)).fault == NumberFault::none;
}

// Automatic: it cannot be told.
RowFormat format_of_line(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.starts_with('%') || text.starts_with('@')) return RowFormat::arff;
  if (text.starts_with('#')) return RowFormat::svmlight;
  // Vowpal Wabbit's bar begins the line or follows a blank or a tag; as a delimiter of CSV it follows its cell.
  const std::size_t bar = text.find('|');
  if (bar != std::string_view::npos &&
      (bar == 0 || is_blank(text[bar - 1]) || text.substr(0, bar).find('\'') != std::string_view::npos))
    return RowFormat::vowpal_wabbit;
  Words words({text});
  Word first, second;
  const bool has_first = words.next(first), has_second = words.next(second);
  if (has_first &&
      (is_entry(first.text) || (has_second && (is_entry(second.text) || second.text.starts_with("qid:")) &&
                                number_of(first.text.substr(0, first.text.find(','))).fault == NumberFault::none)))
    return RowFormat::svmlight;
  return line.find_first_of(",;\t|") != std::string_view::npos ? RowFormat::csv : RowFormat::automatic;
}

RowFormat format_of_content(LineSource& lines) {
  lines.hold();
  std::string_view line;
  bool there = true;
  do there = lines.next(line);
  while (there && trimmed(line).empty());
  const RowFormat format = there ? format_of_line(line) : RowFormat::svmlight;  // no rows in any format
  const std::size_t number = lines.number();
  if (format == RowFormat::automatic)
    throw DataError(
        fmt::format("{}:{}:1: got {}, expected a line that tells svmlight, CSV, ARFF or Vowpal Wabbit's "
                    "text: give the format",
                    lines.name(), number, shown(line)));
  lines.rewind();
  return format;
}

}  // namespace

std::unique_ptr<RowReader> read_rows(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                     const RowOptions& given) {
  RowOptions options = given;
  const std::string_view plain = without_packing(name);
  if (options.delimiter == 0 && plain.ends_with(".tsv")) options.delimiter = '\t';
  auto lines = std::make_unique<LineSource>(std::move(bytes), name == "-" ? "standard input" : name,
                                            options.longest_line, options.block);
  RowFormat format = options.format;
  if (format == RowFormat::automatic) format = format_of_name(plain);
  if (format == RowFormat::automatic) format = format_of_content(*lines);
  switch (format) {
    case RowFormat::csv: return csv_rows(std::move(lines), options);
    case RowFormat::arff: return arff_rows(std::move(lines), options);
    case RowFormat::vowpal_wabbit: return vowpal_wabbit_rows(std::move(lines), options);
    default: return svmlight_rows(std::move(lines), options);
  }
}

}  // namespace obolus
