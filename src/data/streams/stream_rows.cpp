#include "data/streams/stream_rows.hpp"

#include <algorithm>

#include "obolus/core/rng.hpp"

namespace obolus {
namespace {

constexpr std::size_t block = std::size_t{1} << 20;

}  // namespace

std::size_t faulty_label(std::size_t label, std::size_t classes, std::int64_t row, const LabelFaults& faults) {
  const auto swaps = std::count_if(faults.swaps.begin(), faults.swaps.end(), [&](auto from) { return row >= from; });
  if (swaps % 2 == 1) label = classes - 1 - label;
  if (faults.noise <= 0 || row < faults.noise_from || classes < 2) return label;
  Rng rng = Rng(static_cast<std::uint64_t>(faults.seed)).child("noise", static_cast<std::uint64_t>(row));
  if (rng.uniform() >= faults.noise) return label;
  return (label + 1 + rng.below(classes - 1)) % classes;
}

std::int64_t write_stream(StreamRows& rows, std::int64_t max, const LabelFaults& faults,
                          const std::function<void(std::string_view)>& write) {
  const std::vector<std::string>& classes = rows.classes();
  std::string text = rows.head();
  StreamRow row;
  std::int64_t done = 0;
  for (; done < max && rows.next(row); ++done) {
    text.append(row.before).append(classes[faulty_label(row.label, classes.size(), done, faults)]).append(row.after);
    text += '\n';
    if (text.size() < block) continue;
    write(text);
    text.clear();
  }
  write(text);
  return done;
}

}  // namespace obolus
