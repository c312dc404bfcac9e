#include "data/counting_crew.hpp"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "obolus/core/to_size.hpp"

namespace obolus {

CountingCrew::CountingCrew(Encoding encoding, int threads, Visit visit)
    : visit_(std::move(visit)), counters_(to_size(std::max(1, threads)), TermCounter(encoding)) {
  try {
    for (std::size_t i = 1; i < counters_.size(); ++i) workers_.emplace_back([this, i] { work(counters_[i]); });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): fewer threads than requested will do
  }
}

CountingCrew::~CountingCrew() { close(); }

void CountingCrew::add(Batch batch) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < 2 * workers_.size()) {
      waiting_.push_back(std::move(batch));
      arrived_.notify_one();
      return;
    }
  }
  count(batch, counters_.front());
}

std::vector<TermCounter> CountingCrew::finish() {
  while (true) {
    Batch batch;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) break;
      batch = std::move(waiting_.front());
      waiting_.pop_front();
    }
    count(batch, counters_.front());
  }
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_all();
  counters_.front().sort_terms();
  close();
  if (failure_) std::rethrow_exception(failure_);
  return std::move(counters_);
}

void CountingCrew::count(const Batch& batch, TermCounter& counter) {
  for (const Batch::Item& item : batch.items) {
    counter.count(item.document, item.text);
    if (visit_) visit_(item.document, item.text);
  }
}

void CountingCrew::work(TermCounter& counter) {
  try {
    while (true) {
      Batch batch;
      {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
        if (waiting_.empty()) break;
        batch = std::move(waiting_.front());
        waiting_.pop_front();
      }
      count(batch, counter);
    }
    counter.sort_terms();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
}

void CountingCrew::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

}  // namespace obolus
