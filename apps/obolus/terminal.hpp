// What people see: tables, numbers, progress, and Ctrl-C.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "obolus/core/types.hpp"

namespace obolus::cli {

// Columns as wide as their widest cell; the first is left-aligned, the others right-aligned unless asked otherwise.
class Table {
 public:
  explicit Table(std::vector<std::string> header, std::string alignment = {}, std::size_t indent = 0);
  void row(std::vector<std::string> cells);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string markdown() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the header first
  std::string alignment_;                       // 'l' or 'r' a column
  std::size_t indent_;
};

[[nodiscard]] std::string number(double v);          // four significant digits
[[nodiscard]] std::string count(std::int64_t n);     // 12,345
[[nodiscard]] std::string duration(double seconds);  // 3m 20s

[[nodiscard]] bool is_terminal(int descriptor);

// One line on stderr that is rewritten a few times a second; silent unless stderr is a terminal.
class Progress {
 public:
  Progress(std::string label, Round total, bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(Round done, double regret);

 private:
  std::string label_;
  Round total_, first_ = -1;
  bool shown_;
  std::chrono::steady_clock::time_point start_, last_;
};

// While alive, SIGINT and SIGTERM are noted instead of ending the program; a second one ends it at once.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  [[nodiscard]] static int signal();     // 0 while none came
  [[nodiscard]] static int exit_code();  // for the signal that came: 130 or 143
};

}  // namespace obolus::cli
