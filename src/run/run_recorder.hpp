// What a run leaves in its folder on the way: its trace, its checkpoints and its summary; and how it is taken up
// again from there. `obolus run` and `obolus fit` record alike.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "obolus/core/archive.hpp"
#include "run/run_directory.hpp"

namespace obolus {

class RunRecorder {
 public:
  struct Options {
    std::string directory;
    bool resume = false, force = false;
    std::int64_t checkpoint_every = 0;  // 0: by the clock only
    double checkpoint_seconds = 30;
  };
  // The state of the run, field by field; the length of the trace is one of the fields.
  using Fields = std::function<void(Archive& a, std::uint64_t& trace_bytes)>;

  // `config` is the complete echo.
  RunRecorder(Options options, std::string config);

  // When resuming: loads the checkpoint, if there is one, then calls `check`, which throws if the run cannot go on
  // from it. The folder is as it was until then.
  void restore(const Fields& fields, const std::function<void()>& check);
  void save(const Fields& fields);
  // After so many rounds or rows; the clock is read every `clock_every` of them.
  [[nodiscard]] bool checkpoint_due(std::int64_t done, std::int64_t clock_every = 1) const;

  void append_about(std::string_view line);  // unless it is empty
  void append_trace(std::string_view line) { directory_.append_trace(line); }
  void write_summary(std::string_view json) { directory_.write_summary(json); }  // so far
  void finish(std::string_view summary);

 private:
  using Clock = std::chrono::steady_clock;

  Options options_;
  RunDirectory directory_;
  Clock::time_point saved_ = Clock::now();
};

}  // namespace obolus
