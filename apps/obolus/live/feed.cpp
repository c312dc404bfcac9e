#include "live/feed.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace obolus::cli {
namespace {

// Ids keep increasing when the program is started again on the same port, so that a browser that reconnects is known to
// have seen nothing of this run: no run has one event per microsecond.
std::uint64_t first_id() {
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<microseconds>(system_clock::now().time_since_epoch()).count());
}

std::string event(const char* kind, const std::string& data) {
  return fmt::format("event: {}\ndata: {}\n\n", kind, data);
}

std::string up_to_runs(const Json& report) {
  std::string text = text_of(report);
  text.back() = ',';
  return text + "\"runs\":[";
}

}  // namespace

// Made with the mutex held, which takes as long as copying the rows of runs in progress; written without it.
struct LiveFeed::Snapshot {
  std::uint64_t id;
  std::vector<std::shared_ptr<const LiveRun>> runs;
  std::string progress, end;

  [[nodiscard]] bool write(const std::string& head, const Write& out) const {
    if (!out(fmt::format("id: {}\nevent: reset\ndata: {}", id, head))) return false;
    const char* comma = "";
    for (const auto& run : runs)
      if (!out(std::exchange(comma, ",") + run->json())) return false;
    return out("]}\n\n" + progress + end);
  }
};

LiveFeed::LiveFeed(const Json& report, const Limits& limits)
    : head_(up_to_runs(report)), limits_(limits), last_(first_id()) {}

void LiveFeed::publish(const char* kind, const std::string& data) {
  events_.push_back(std::make_shared<const std::string>(event(kind, data)));
  bytes_ += events_.back()->size();
  ++last_;
  while (!events_.empty() && (events_.size() > limits_.events || bytes_ > limits_.bytes)) {
    bytes_ -= events_.front()->size();
    events_.pop_front();
  }
  changed_.notify_all();
}

void LiveFeed::run(LiveRun run) {
  const std::string data = run.json();
  const std::lock_guard lock(mutex_);
  if (run.status == "running") growing_.insert_or_assign(run.name, std::move(run));
  else replace(std::move(run));
  publish("run", data);
}

void LiveFeed::replace(LiveRun run) {
  for (std::size_t i = 0; i < thinnings_; ++i) run.columns.thin();
  numbers_ += run.columns.size();
  const auto [at, added] = places_.try_emplace(run.name, finished_.size());
  auto shared = std::make_shared<const LiveRun>(std::move(run));
  if (added) finished_.push_back(std::move(shared));
  else numbers_ -= std::exchange(finished_[at->second], std::move(shared))->columns.size();
  if (numbers_ > limits_.finished) thin_finished();
}

void LiveFeed::thin_finished() {
  ++thinnings_;
  numbers_ = 0;
  for (auto& run : finished_) {
    LiveRun thinned = *run;
    thinned.columns.thin();
    numbers_ += thinned.columns.size();
    run = std::make_shared<const LiveRun>(std::move(thinned));
  }
}

bool LiveFeed::row(const RunName& name, const Json& row) {
  const std::string data = text_of({{"run", name.json()}, {"row", row}});
  const std::lock_guard lock(mutex_);
  const auto found = growing_.find(name);
  if (found == growing_.end()) return false;
  LiveColumns& columns = found->second.columns;
  columns.append(row);
  if (const auto summary = row.find("summary"); summary != row.end()) found->second.more["summary"] = *summary;
  found->second.rounds = row.at("t").get<Round>();
  const bool full = columns.rows() > limits_.rows;
  if (full) columns.thin();
  publish("row", data);
  return full;
}

void LiveFeed::finish(const RunName& name, const std::function<void(LiveRun&)>& complete) {
  const std::lock_guard lock(mutex_);
  auto node = growing_.extract(name);
  if (node.empty()) return;
  LiveRun& run = node.mapped();
  complete(run);
  const std::string data = run.json();
  replace(std::move(run));
  publish("run", data);
}

void LiveFeed::progress(const Json& progress) {
  const std::lock_guard lock(mutex_);
  const std::string data = text_of(progress);
  progress_ = event("progress", data);
  publish("progress", data);
}

void LiveFeed::end(const Json& end) {
  const std::lock_guard lock(mutex_);
  const std::string data = text_of(end);
  end_ = event("end", data);
  publish("end", data);
}

void LiveFeed::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

LiveFeed::Place LiveFeed::place(const std::string& last_event_id) const {
  const char* end_of_text = last_event_id.data() + last_event_id.size();
  std::uint64_t seen = 0;
  const auto [end, error] = std::from_chars(last_event_id.data(), end_of_text, seen);
  const std::lock_guard lock(mutex_);
  const bool held = error == std::errc() && end == end_of_text && seen + 1 >= first() && seen <= last_;
  return held ? Place{seen, true} : Place{};
}

LiveFeed::Snapshot LiveFeed::snapshot() const {
  Snapshot now{last_, finished_, progress_, end_};
  for (const auto& [name, run] : growing_) now.runs.push_back(std::make_shared<const LiveRun>(run));
  return now;
}

bool LiveFeed::next(Place& place, std::chrono::milliseconds patience, const Write& write) const {
  std::unique_lock lock(mutex_);
  if (place.knows_all) changed_.wait_for(lock, patience, [&] { return closed_ || place.id != last_ || !end_.empty(); });
  const bool more = !closed_ && end_.empty();
  if (!place.knows_all || place.id + 1 < first()) {
    const Snapshot now = snapshot();
    lock.unlock();
    place = {now.id, true};
    return now.write(head_, write) && more;
  }
  const std::vector<std::shared_ptr<const std::string>> missed(
      events_.end() - static_cast<std::ptrdiff_t>(last_ - place.id), events_.end());
  std::uint64_t id = std::exchange(place.id, last_);
  lock.unlock();
  for (const auto& text : missed)
    if (!write(fmt::format("id: {}\n", ++id) + *text)) return false;
  return more;
}

}  // namespace obolus::cli
