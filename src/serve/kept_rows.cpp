#include "serve/kept_rows.hpp"

#include <utility>

namespace obolus::serve {

void KeptRows::keep(std::string_view id, std::string line, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (const auto before = places_.find(id); before != places_.end()) remove(before->second);
  bytes_ += id.size() + line.size();
  rows_.push_back({std::string(id), std::move(line), now});
  places_.emplace(rows_.back().id, std::prev(rows_.end()));
  expire(now);
}

std::optional<std::string> KeptRows::take(std::string_view id, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  expire(now);
  const auto found = places_.find(id);
  if (found == places_.end()) return std::nullopt;
  std::string line = found->second->line;
  remove(found->second);
  return line;
}

std::size_t KeptRows::size() const {
  const std::lock_guard lock(mutex_);
  return rows_.size();
}

void KeptRows::remove(std::list<Row>::iterator row) {
  bytes_ -= row->id.size() + row->line.size();
  places_.erase(row->id);
  rows_.erase(row);
}

void KeptRows::expire(Clock::time_point now) {
  while (!rows_.empty() &&
         (rows_.size() > limits_.rows || bytes_ > limits_.bytes || now - rows_.front().since > limits_.time))
    remove(rows_.begin());
}

}  // namespace obolus::serve
