// What browsers are told of a run while it runs, as server-sent events. One side writes and never waits for the other; each
// reader goes at its own pace, and one that falls behind what is still held starts again from a snapshot.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "live/live_run.hpp"

namespace obolus::cli {

class LiveFeed {
 public:
  struct Limits {
    std::size_t rows = 20'000;                   // of a run that goes on
    std::size_t finished = 2'000'000;            // numbers of all runs that have ended
    std::size_t events = 4096, bytes = 1 << 24;  // to go on from after a lost connection
  };
  // What a reader has got.
  struct Place {
    std::uint64_t id = 0;
    bool knows_all = false;  // up to id; else it needs a snapshot first
  };
  using Write = std::function<bool(std::string_view)>;

  // A Report without runs.
  explicit LiveFeed(const Json& report) : LiveFeed(report, Limits()) {}
  LiveFeed(const Json& report, const Limits& limits);

  // Adds a run, or replaces the one of that name. One whose status is "running" takes rows.
  void run(LiveRun run);
  // True when the run held too many rows and was thinned. Rows of an unknown run are ignored.
  bool row(const RunName& name, const Json& row);
  // The end of a run that took rows.
  void finish(const RunName& name, const std::function<void(LiveRun&)>& complete);
  void progress(const Json& progress);
  void end(const Json& end);
  void close();  // readers are let go

  // A reader that has seen the event of this id, or none.
  [[nodiscard]] Place place(std::optional<std::uint64_t> last_seen) const;
  // Waits for events, at most so long, and writes them. False when nothing more comes or the reader is gone.
  bool next(Place& place, std::chrono::milliseconds patience, const Write& write) const;

 private:
  struct Snapshot;

  void publish(const char* kind, std::string data);  // with the mutex
  void replace(LiveRun run);
  void thin_finished();
  [[nodiscard]] std::uint64_t first() const { return last_ - events_.size() + 1; }
  [[nodiscard]] Snapshot snapshot() const;

  const std::string head_;  // the report up to its runs
  const Limits limits_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<std::shared_ptr<const std::string>> events_;
  std::uint64_t last_;  // id of the last event
  std::size_t bytes_ = 0;
  std::map<RunName, LiveRun> growing_;
  std::vector<std::shared_ptr<const LiveRun>> finished_;
  std::map<RunName, std::size_t> places_;  // in finished_
  std::size_t numbers_ = 0, thinnings_ = 0;
  std::string progress_, end_;  // the last of each
  bool closed_ = false;
};

}  // namespace obolus::cli
