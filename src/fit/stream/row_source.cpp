#include "fit/stream/row_source.hpp"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "obolus/core/error.hpp"

namespace obolus::fit {

std::unique_ptr<RowReader> open_stream(const OpenRows& open, const Stop& stop) {
  auto promise = std::make_shared<std::promise<std::unique_ptr<RowReader>>>();
  std::future<std::unique_ptr<RowReader>> reader = promise->get_future();
  std::thread([open, promise] {
    try {
      promise->set_value(open());
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  }).detach();
  constexpr std::chrono::milliseconds look(50);
  while (reader.wait_for(look) != std::future_status::ready)
    if (stop && stop()) return nullptr;
  return reader.get();
}

std::vector<std::string> RowSource::first_labels(std::size_t count, const Stop& stop) {
  std::vector<std::string> labels;
  while (first_.size() < count) {
    const RowPipe::Item* item = pipe_.next(stop);
    if (!item) break;
    if (!item->row.label.empty()) labels.push_back(item->row.label);
    first_.push_back(*item);
  }
  return labels;
}

const RowPipe::Item* RowSource::take(const Stop& stop) {
  if (!first_.empty()) {
    if (took_first_) first_.pop_front();
    took_first_ = !first_.empty();
    if (took_first_) return &first_.front();
  }
  return pipe_.next(stop);
}

const RowPipe::Item* RowSource::next(const Stop& stop) {
  const RowPipe::Item* item = take(stop);
  if (!item) {
    if (!stop || !stop()) skipped_ = pipe_.reader().skipped();
    return nullptr;
  }
  ++read_.count;
  skipped_ = item->skipped;
  RowsDigest& digest = read_.digest;
  if (digest.groups < item->groups)
    for (const auto& names = pipe_.groups(); digest.groups < item->groups;) digest.add_group(names[digest.groups]);
  digest.add(item->row);
  return item;
}

void RowSource::skip_to_checkpoint(const std::string& run) {
  const auto [wanted, expected] = std::exchange(read_, {0, before_});
  while (read_.count < wanted)
    if (!next({}))
      throw DataError(
          fmt::format("{}: cannot resume: the data has {} rows, the checkpoint has read {}", run, read_.count, wanted));
  if (wanted > 0 && read_.digest.value != expected.value)
    throw DataError(run + ": cannot resume: the rows differ from those before the checkpoint");
}

}  // namespace obolus::fit
