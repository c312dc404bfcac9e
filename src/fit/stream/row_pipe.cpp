#include "fit/stream/row_pipe.hpp"

#include <chrono>
#include <utility>

namespace obolus::fit {

RowPipe::RowPipe(std::unique_ptr<RowReader> reader, bool ahead) : shared_(std::make_shared<Shared>()), ahead_(ahead) {
  shared_->reader = std::move(reader);
  shared_->items.resize(ahead ? room : 1);
  if (ahead_) thread_ = std::thread([shared = shared_] { shared->work(); });
}

RowPipe::~RowPipe() {
  if (!ahead_) return;
  constexpr std::chrono::milliseconds patience(200);
  bool waits_for_a_row = false;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->stopping = true;
    shared_->has_room.notify_all();
    waits_for_a_row = !shared_->has_rows.wait_for(lock, patience, [this] { return !shared_->reading; });
  }
  if (waits_for_a_row) thread_.detach();
  else thread_.join();
}

bool RowPipe::Shared::read_into(Item& item) const {
  if (!reader->next(item.row)) return false;
  item.place = reader->place();
  item.groups = reader->groups().size();
  item.skipped = reader->skipped();
  item.columns = !reader->index_base().has_value();
  return true;
}

const RowPipe::Item* RowPipe::next(const std::function<bool()>& stop) {
  Shared& s = *shared_;
  if (!ahead_) return s.read_into(s.items[0]) ? s.items.data() : nullptr;
  std::unique_lock lock(s.mutex);
  if (holds_) {
    ++s.taken;
    holds_ = false;
    if (s.read - s.taken == room / 2) s.has_room.notify_one();
  }
  constexpr std::chrono::milliseconds look(50);
  while (!s.has_rows.wait_for(lock, look, [&] { return s.read > s.taken || s.ended; }))
    if (stop && stop()) return nullptr;
  if (s.read == s.taken) {
    if (s.error) std::rethrow_exception(std::exchange(s.error, nullptr));
    return nullptr;
  }
  holds_ = true;
  return &s.items[s.taken % room];
}

const std::vector<std::string>& RowPipe::groups() {
  if (!ahead_) return shared_->reader->groups();
  const std::lock_guard lock(shared_->mutex);
  groups_ = shared_->groups;
  return groups_;
}

void RowPipe::Shared::work() {
  bool more = true;
  while (more) {
    std::unique_lock lock(mutex);
    has_room.wait(lock, [this] { return stopping || read - taken < room; });
    if (stopping) return;
    Item& item = items[read % room];
    reading = true;
    lock.unlock();
    std::exception_ptr failed;
    try {
      more = read_into(item);
    } catch (...) {
      failed = std::current_exception();
      more = false;
    }
    lock.lock();
    reading = false;
    const auto& names = reader->groups();
    for (std::size_t g = groups.size(); g < names.size(); ++g) groups.push_back(names[g]);
    if (more) {
      ++read;
    } else {
      ended = true;
      error = failed;
    }
    if (!more || stopping || read - taken == 1) has_rows.notify_one();
  }
}

}  // namespace obolus::fit
