// What people see beside tables: progress, and Ctrl-C.
#pragma once

#include <chrono>
#include <string>

#include "obolus/core/types.hpp"
#include "obolus/run/table.hpp"

namespace obolus::cli {

[[nodiscard]] bool is_terminal(int descriptor);

// One line on stderr that is rewritten a few times a second; silent unless stderr is a terminal.
class Progress {
 public:
  Progress(std::string label, Round total, bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(Round done, const char* quantity, double value);

 private:
  std::string label_;
  Round total_, first_ = -1;
  bool shown_;
  std::chrono::steady_clock::time_point start_, last_;
};

// The same for jobs that are done in any order.
class JobProgress {
 public:
  JobProgress(std::string label, bool wanted);
  ~JobProgress();
  JobProgress(const JobProgress&) = delete;
  JobProgress& operator=(const JobProgress&) = delete;
  void show(std::size_t done, std::size_t total);

 private:
  std::string label_;
  std::size_t first_ = 0;  // done before we came
  bool shown_, begun_ = false;
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
