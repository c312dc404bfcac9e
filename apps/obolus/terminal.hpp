// Progress on the terminal, and Ctrl-C.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "obolus/core/types.hpp"
#include "obolus/run/table.hpp"

namespace obolus::cli {

[[nodiscard]] bool is_terminal(int descriptor);

[[nodiscard]] std::string without_heading(const Table& table);  // for names and values

// The pace of a run, without its pauses.
class Pace {
 public:
  void begin(std::int64_t done);  // how many were done before; only the first call counts
  void pause(bool on);
  [[nodiscard]] bool paused() const { return paused_; }
  [[nodiscard]] double seconds() const;  // since it began
  [[nodiscard]] std::optional<double> remaining(std::int64_t done,
                                                std::int64_t of) const;  // none until known

 private:
  using Clock = std::chrono::steady_clock;
  bool begun_ = false, paused_ = false;
  std::int64_t first_ = 0;
  Clock::time_point start_ = Clock::now(), pause_;
  Clock::duration lost_{};
};

// One line on stderr that is rewritten a few times a second; silent unless stderr is a terminal. If `keys` is set and
// the line has room, it ends with what the keys do.
class ProgressLine {
 public:
  ProgressLine(std::string label, bool wanted, bool keys);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  [[nodiscard]] bool due(const Pace& pace);
  void write(const std::string& text, const Pace& pace, std::optional<double> left);

 private:
  std::string label_;
  bool shown_, keys_, paused_ = false;
  std::chrono::steady_clock::time_point last_{};
};

// For rounds, one after another.
class Progress {
 public:
  Progress(std::string label, Round total, bool wanted, bool keys = false);
  void show(Round done, const char* quantity, double value);
  void pause(bool on) { pace_.pause(on); }
  [[nodiscard]] const Pace& pace() const { return pace_; }

 private:
  Round total_;
  Pace pace_;
  ProgressLine line_;
};

// For jobs that finish in any order.
class JobProgress {
 public:
  JobProgress(std::string label, bool wanted, bool keys = false);
  void show(std::size_t done, std::size_t total);
  void pause(bool on) { pace_.pause(on); }
  [[nodiscard]] const Pace& pace() const { return pace_; }

 private:
  Pace pace_;
  ProgressLine line_;
};

// While alive, SIGINT and SIGTERM are recorded instead of ending the program; a second one ends it at once.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  [[nodiscard]] static int signal();     // 0 if none came
  [[nodiscard]] static int exit_code();  // for the signal that came: 130 or 143
};

}  // namespace obolus::cli
