#include "obolus/run/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

std::size_t width(std::string_view s) {  // code points; our tables use no wide ones
  return to_size(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& s, std::size_t to, bool left) {
  const std::string space(to - std::min(to, width(s)), ' ');
  return left ? s + space : space + s;
}

}  // namespace

Table::Table(std::vector<std::string> header, std::string alignment, std::size_t indent)
    : alignment_(std::move(alignment)), indent_(indent) {
  while (alignment_.size() < header.size()) alignment_ += alignment_.empty() ? 'l' : 'r';
  rows_.push_back(std::move(header));
}

void Table::row(std::vector<std::string> cells) {
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  std::string out;
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text(indent_, ' ');
    for (std::size_t i = 0; i < row.size(); ++i)
      text += (i ? "  " : "") + padded(row[i], widths[i], alignment_[i] == 'l');
    out += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
  };
  line(rows_.front());
  std::vector<std::string> rule;
  for (const std::size_t w : widths) {
    rule.emplace_back();
    for (std::size_t i = 0; i < w; ++i) rule.back() += "─";
  }
  line(rule);
  for (std::size_t i = 1; i < rows_.size(); ++i) line(rows_[i]);
  return out;
}

std::string Table::markdown() const {
  std::string out;
  const auto line = [&](const std::vector<std::string>& row) {
    for (const std::string& cell : row) {
      out += "| ";
      for (const char c : cell) out += c == '|' ? std::string("\\|") : std::string(1, c);
      out += ' ';
    }
    out += "|\n";
  };
  line(rows_.front());
  for (const char a : alignment_) out += a == 'l' ? "|---" : "|---:";
  out += "|\n";
  for (std::size_t i = 1; i < rows_.size(); ++i) line(rows_[i]);
  return out;
}

std::string number(double v) { return fmt::format("{:.4g}", v); }

std::string count(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (auto i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > (n < 0 ? 1 : 0); i -= 3)
    digits.insert(to_size(i), 1, ',');
  return digits;
}

std::string duration(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  return fmt::format("{}h {:02}m", whole / 3600, whole % 3600 / 60);
}

}  // namespace obolus
