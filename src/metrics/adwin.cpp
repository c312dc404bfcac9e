#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/metrics/drift_detectors.hpp"

namespace obolus {
namespace {

// MOA's constants: no check in windows of 10 or fewer numbers, nor of parts of 6 or fewer.
constexpr std::int64_t min_window = 10;
constexpr double min_part = 5.0;
constexpr std::int64_t max_sizes = 62;

}  // namespace

Adwin::Adwin(const AdwinOptions& options) : o_(options) { validate(o_, "adwin"); }

void Adwin::Part::merge(const Part& other) {
  if (count > 0.0 && other.count > 0.0) {
    const double apart = mean() - other.mean();
    squares += count * other.count / (count + other.count) * apart * apart;
  }
  count += other.count;
  sum += other.sum;
  squares += other.squares;
}

void Adwin::Size::drop_oldest(int how_many) {
  std::move(buckets.begin() + how_many, buckets.begin() + count, buckets.begin());
  count -= how_many;
}

bool Adwin::add(double value) {
  if (!std::isfinite(value)) throw DataError(fmt::format("adwin: got {}, expected a finite number", value));
  insert(value);
  if (++added_ % o_.clock != 0 || width_ <= min_window) return false;
  Part dropped;
  while (is_cut()) dropped.merge(drop_oldest());
  if (dropped.count == 0.0) return false;
  last_change_ = mean() - dropped.mean();
  return true;
}

double Adwin::variance() const { return width_ > 0 ? window().squares / static_cast<double>(width_) : 0.0; }

void Adwin::insert(double value) {
  if (sizes_.empty()) sizes_.emplace_back();
  sizes_[0].append({.count = 1.0, .sum = value, .squares = 0.0});
  ++width_;
  for (std::size_t r = 0; sizes_[r].count > max_of_a_size; ++r) {
    if (r + 1 == sizes_.size()) sizes_.emplace_back();
    Part merged = sizes_[r].buckets[0];
    merged.merge(sizes_[r].buckets[1]);
    sizes_[r].drop_oldest(2);
    sizes_[r + 1].append(merged);
  }
}

Adwin::Part Adwin::drop_oldest() {
  const Part oldest = sizes_.back().buckets[0];
  width_ -= static_cast<std::int64_t>(oldest.count);
  sizes_.back().drop_oldest(1);
  while (!sizes_.empty() && sizes_.back().count == 0) sizes_.pop_back();
  return oldest;
}

Adwin::Part Adwin::window() const {
  Part all;
  for (std::size_t r = sizes_.size(); r-- > 0;)
    for (int k = 0; k < sizes_[r].count; ++k) all.merge(sizes_[r].buckets[to_size(k)]);
  return all;
}

bool Adwin::is_cut() const {
  const Part all = window();
  const double variance = all.squares / all.count;
  const double d = std::log(2.0 * std::log(all.count) / o_.delta);
  double n0 = 0.0, sum0 = 0.0;
  for (std::size_t r = sizes_.size(); r-- > 0;) {
    for (int k = 0; k < sizes_[r].count; ++k) {
      const Part& bucket = sizes_[r].buckets[to_size(k)];
      n0 += bucket.count;
      sum0 += bucket.sum;
      const double n1 = all.count - n0;
      if (n0 <= min_part + 1.0 || n1 <= min_part + 1.0) continue;
      const double m = 1.0 / (n0 - min_part + 1.0) + 1.0 / (n1 - min_part + 1.0);
      const double change = (all.sum - sum0) / n1 - sum0 / n0;
      if (std::abs(change) > std::sqrt(2.0 * m * variance * d) + 2.0 / 3.0 * d * m) return true;
    }
  }
  return false;
}

void Adwin::fields(Archive& a) {
  auto sizes = static_cast<std::int64_t>(sizes_.size());
  a("added", added_);
  a("width", width_);
  a("last_change", last_change_);
  a("sizes", sizes);
  if (sizes < 0 || sizes > max_sizes)
    throw DataError(fmt::format("saved state: adwin: got {} sizes of buckets, expected 0 to {}", sizes, max_sizes));
  sizes_.resize(to_size(sizes));
  for (Size& s : sizes_) {
    a("count", s.count);
    if (s.count < 0 || s.count > max_of_a_size)
      throw DataError(fmt::format("saved state: adwin: got {} buckets, expected 0 to {}", s.count, max_of_a_size));
    for (int k = 0; k < s.count; ++k) {
      Part& p = s.buckets[to_size(k)];
      a("n", p.count);
      a("sum", p.sum);
      a("squares", p.squares);
    }
  }
}

}  // namespace obolus
