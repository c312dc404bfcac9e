// Keys that steer a run from its terminal: p pauses and goes on, q saves and stops.
#pragma once

#include <chrono>

namespace obolus::cli {

// While alive, keys come without Enter and are not shown, if standard input and standard error are a terminal and
// standard output is no pipe. The terminal is as before whenever the program is not in front: stopped by Ctrl-Z, in the background, ended, killed.
// One at a time.
class Keys {
 public:
  Keys();
  ~Keys();
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  [[nodiscard]] bool there() const { return there_; }
  // Takes what was typed; cheap enough for every round. q is a Ctrl-C: see Interruption.
  void look();
  // The same after a key, or after the time.
  void wait(std::chrono::milliseconds patience);
  [[nodiscard]] bool paused() const { return paused_; }

 private:
  void read();

  bool there_, paused_ = false;
  std::chrono::steady_clock::time_point looked_;
};

// What the terminal was like before, for those who end the program otherwise. Safe in signal handlers.
void restore_terminal();

}  // namespace obolus::cli
