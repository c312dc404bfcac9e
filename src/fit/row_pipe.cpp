#include "fit/row_pipe.hpp"

#include <utility>

namespace obolus::fit {

RowPipe::RowPipe(std::unique_ptr<RowReader> reader, bool ahead)
    : reader_(std::move(reader)), items_(ahead ? room : 1), ahead_(ahead) {
  if (ahead_) thread_ = std::thread([this] { work(); });
}

RowPipe::~RowPipe() {
  if (!ahead_) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  has_room_.notify_all();
  thread_.join();
}

bool RowPipe::read(Item& item) {
  if (!reader_->next(item.row)) return false;
  item.place = reader_->place();
  item.groups = reader_->groups().size();
  item.skipped = reader_->skipped();
  item.columns = !reader_->index_base().has_value();
  return true;
}

const RowPipe::Item* RowPipe::next() {
  if (!ahead_) return read(items_[0]) ? items_.data() : nullptr;
  std::unique_lock lock(mutex_);
  if (holds_) {
    ++taken_, holds_ = false;
    if (read_ - taken_ == room / 2) has_room_.notify_one();
  }
  has_rows_.wait(lock, [this] { return read_ > taken_ || ended_; });
  if (read_ == taken_) {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return nullptr;
  }
  holds_ = true;
  return &items_[taken_ % room];
}

const std::vector<std::string>& RowPipe::groups() {
  if (!ahead_) return reader_->groups();
  const std::lock_guard lock(mutex_);
  groups_ = shared_groups_;
  return groups_;
}

void RowPipe::work() {
  bool more = true;
  while (more) {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [this] { return stopping_ || read_ - taken_ < room; });
    if (stopping_) return;
    Item& item = items_[read_ % room];
    lock.unlock();
    std::exception_ptr error;
    try {
      more = read(item);
    } catch (...) {
      error = std::current_exception(), more = false;
    }
    lock.lock();
    const auto& groups = reader_->groups();
    for (std::size_t g = shared_groups_.size(); g < groups.size(); ++g) shared_groups_.push_back(groups[g]);
    if (more) ++read_;
    else ended_ = true, error_ = error;
    if (!more || read_ - taken_ == 1) has_rows_.notify_one();
  }
}

}  // namespace obolus::fit
