// What browsers are told about a run in progress, as server-sent events. The writer never waits; each reader goes at
// its own pace, and one that falls behind the events still held starts again from a snapshot.
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
    std::size_t rows = 20'000;                   // of a run in progress
    std::size_t finished = 2'000'000;            // numbers of all runs that have ended
    std::size_t events = 4096, bytes = 1 << 24;  // held for readers that reconnect
  };
  // What a reader has got.
  struct Place {
    std::uint64_t id = 0;
    bool knows_all = false;  // up to id; otherwise it needs a snapshot first
  };
  using Write = std::function<bool(std::string_view)>;

  // A Report without runs.
  explicit LiveFeed(const Json& report) : LiveFeed(report, Limits()) {}
  LiveFeed(const Json& report, const Limits& limits);

  // Adds a run, or replaces the one of that name. One whose status is "running" takes rows.
  void run(LiveRun run);
  // True if the run had too many rows and was thinned. A "summary" in a row is that of the run so far. Rows of an
  // unknown run are ignored.
  bool row(const RunName& name, const Json& row);
  // The end of a run that took rows.
  void finish(const RunName& name, const std::function<void(LiveRun&)>& complete);
  void progress(const Json& progress);
  void end(const Json& end);
  void close();  // readers stop

  // For a reader whose last event had this id, or that has seen none: its header Last-Event-ID.
  [[nodiscard]] Place place(const std::string& last_event_id) const;
  // Waits for events, at most `patience`, and writes them. False if none will follow or the reader is gone.
  bool next(Place& place, std::chrono::milliseconds patience, const Write& write) const;

 private:
  struct Snapshot;

  void publish(const char* kind, const std::string& data);  // with the mutex
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
