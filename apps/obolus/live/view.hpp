// A run or a comparison in the browser while it runs.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "live/run_name.hpp"
#include "obolus/run/comparison.hpp"
#include "obolus/run/experiment.hpp"
#include "terminal.hpp"
#include "trace/trace_columns.hpp"

namespace obolus::fit {
struct FitSummary;
struct FitTraceLine;
}  // namespace obolus::fit

namespace obolus::cli {

class LiveFeed;
class LiveServer;

// What the page needs to know of a fit before its first row.
[[nodiscard]] Json live_report(const std::string& folder, const std::string& config, const std::string& name);

class LiveView {
 public:
  // Listens from here on and prints the address on standard error.
  LiveView(const std::string& address, const Experiment& experiment, const std::string& folder);
  LiveView(const std::string& address, const Comparison& comparison, const std::string& folder);

  // A fit: its config and its name.
  LiveView(const std::string& address, const std::string& config, const std::string& folder, const RunName& name);
  ~LiveView();

  // What a resumed run did before; shown as soon as the first row says where the run continues.
  void recall(const std::string& folder);
  // Of a run: a few rows per second are shown, and always the evaluated ones and the last.
  void profile(const Profile& x) { x_ = x; }  // of the next row
  void row(const Row& row, bool last);
  void end(const RunSummary& summary);
  // Of a fit: lines of its trace, as a run's rows, and now and then its summary so far.
  void line(const fit::FitTraceLine& line);
  void end(const fit::FitSummary& summary);
  // Of a comparison.
  void cell(const std::string& line);
  void end(bool finished);
  // Of either.
  void progress(const Pace& pace, std::int64_t done, std::int64_t of);

 private:
  using Clock = std::chrono::steady_clock;

  LiveView(const std::string& address, const Json& report, const char* unit);
  void send(const Row& row);
  void slow_down();
  void replay(Round before);  // what was recalled, once
  void finish(const char* status);

  const char* unit_;
  std::unique_ptr<LiveFeed> feed_;
  std::unique_ptr<LiveServer> server_;
  RunName name_;  // of a run
  Profile x_;
  std::optional<TraceColumns> past_;
  Round sent_ = 0;
  Clock::time_point start_ = Clock::now(), sent_at_ = start_ - std::chrono::hours(1), told_at_ = sent_at_,
                    summed_at_ = sent_at_;
  Clock::duration between_rows_, between_evaluations_{}, between_summaries_{};
  bool paused_ = false;
};

}  // namespace obolus::cli
