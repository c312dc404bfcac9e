// Tables and numbers as people read them, on a terminal and in Markdown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace obolus {

// Columns are as wide as their widest cell; the first is left-aligned, the others right-aligned by default.
class Table {
 public:
  explicit Table(std::vector<std::string> header, std::string alignment = {}, std::size_t indent = 0);
  void row(std::vector<std::string> cells);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string markdown() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the header first
  std::string alignment_;                       // 'l' or 'r' per column
  std::size_t indent_;
};

[[nodiscard]] std::string number(double v);          // four significant digits
[[nodiscard]] std::string count(std::int64_t n);     // 12,345
[[nodiscard]] std::string duration(double seconds);  // 3m 20s

}  // namespace obolus
