// Keys that control a run from its terminal: p pauses and resumes, q saves and stops.
#pragma once

#include <chrono>

namespace obolus::cli {

// While alive, keys arrive without Enter and are not echoed, if standard input and standard error are a terminal and
// standard output is not a pipe. The terminal is back to normal whenever the program is not in the foreground: stopped
// by Ctrl-Z, in the background, ended or killed. Only one may exist at a time.
class Keys {
 public:
  Keys();
  ~Keys();
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  [[nodiscard]] bool there() const { return there_; }
  // Reads what was typed; cheap enough for every round. q acts as Ctrl-C: see Interruption.
  void look();
  // The same, once a key is pressed or the time is over.
  void wait(std::chrono::milliseconds patience);
  [[nodiscard]] bool paused() const { return paused_; }

 private:
  void read();

  bool there_, paused_ = false;
  std::chrono::steady_clock::time_point looked_;
};

// Puts the terminal back to normal before the program ends in another way. Safe in signal handlers.
void restore_terminal();

}  // namespace obolus::cli
