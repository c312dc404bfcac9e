#include "obolus/problems/softmax_pools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

void check_noise(const SoftmaxOptions& o) {
  const auto& parts = o.noise.values;
  const auto& rounds = o.noise_rounds.values;
  if (parts.size() != rounds.size())
    throw ConfigError(fmt::format("problem.noise: got {} numbers and {} in noise_rounds, expected one round for each",
                                  parts.size(), rounds.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!(parts[i] >= 0.0 && parts[i] <= 1.0))
      throw ConfigError(fmt::format("problem.noise: got {}, expected numbers in [0, 1]", parts[i]));
    if (!(rounds[i] >= 1.0) || (i > 0 && !(rounds[i] > rounds[i - 1])))
      throw ConfigError(fmt::format("problem.noise_rounds: got {}, expected ascending rounds from 1 on", rounds[i]));
  }
}

}  // namespace

SoftmaxPools::SoftmaxPools(const SoftmaxOptions& options, std::shared_ptr<const LabelledRows> data, std::uint64_t seed)
    : options_(options), data_(std::move(data)), rng_(Rng(seed).child("softmax")) {
  check_noise(options_);
  const auto rows = to_size(data_->train.rows());
  flip_threshold_.resize(rows);
  wrong_label_.resize(rows);
  Rng noise = rng_.child("noise");
  for (std::size_t i = 0; i < rows; ++i) {
    flip_threshold_[i] = noise.uniform();
    const auto step = 1 + noise.below(static_cast<std::uint64_t>(data_->classes) - 1);
    wrong_label_[i] = static_cast<std::int32_t>((static_cast<std::uint64_t>(data_->train_label[i]) + step) %
                                                static_cast<std::uint64_t>(data_->classes));
  }
  if (options_.feed == Feed::split) {
    split(rng_.child("split"));
  } else {
    inner_.resize(rows);
    std::iota(inner_.begin(), inner_.end(), 0);
    outer_ = inner_;
  }
  if (options_.feed == Feed::judge) {  // replay looks back over this many epochs
    constexpr std::int64_t max = 1024;
    const std::int64_t epochs = 2 + options_.replay_window / std::max<std::int64_t>(1, static_cast<std::int64_t>(rows));
    inner_order_.kept.resize(to_size(std::min(max, epochs)));
  }
}

// Half of every class for g, half for f; odd classes give their last row to either in turn.
void SoftmaxPools::split(Rng rng) {
  std::vector<std::vector<std::int32_t>> of_class(to_size(data_->classes));
  for (std::size_t i = 0; i < data_->train_label.size(); ++i)
    of_class[to_size(data_->train_label[i])].push_back(static_cast<std::int32_t>(i));
  bool to_inner = true;
  for (auto& rows : of_class) {
    rng.shuffle(rows);
    for (const std::int32_t row : rows) {
      (to_inner ? inner_ : outer_).push_back(row);
      to_inner = !to_inner;
    }
  }
  std::sort(inner_.begin(), inner_.end());
  std::sort(outer_.begin(), outer_.end());
}

std::int32_t SoftmaxPools::at(Shuffled& s, const std::vector<std::int32_t>& pool, std::int64_t position) {
  const auto size = static_cast<std::int64_t>(pool.size());
  const std::int64_t number = position / size;
  Epoch& epoch = s.kept[to_size(number) % s.kept.size()];
  if (epoch.number != number) {
    epoch.order = pool;
    if (options_.data != SoftmaxData::rows)  // a stream, in its own order
      rng_.child(s.name, static_cast<std::uint64_t>(number)).shuffle(epoch.order);
    epoch.number = number;
  }
  return epoch.order[to_size(position % size)];
}

void SoftmaxPools::add(std::int32_t row, Round labelled_in, RoundRows& out) {
  out.row.push_back(row);
  out.label.push_back(label(row, labelled_in));
}

void SoftmaxPools::of_round(Round t, RoundRows& out) {
  if (given_) return void(out = *given_);
  out.clear();
  if (options_.batch == 0) {
    for (const std::int32_t row : inner_) add(row, t, out);
    out.inner = out.size();
    for (const std::int32_t row : outer_) add(row, t, out);
    return;
  }
  if (options_.feed == Feed::judge) return judged(t, out);
  const std::int64_t first = (t - 1) * options_.batch;
  for (std::int64_t i = 0; i < options_.batch; ++i) add(at(inner_order_, inner_, first + i), t, out);
  out.inner = out.size();
  for (std::int64_t i = 0; i < options_.batch; ++i) add(at(outer_order_, outer_, first + i), t, out);
}

// Rows keep the labels they came with. In the first round there is nothing to train on yet.
void SoftmaxPools::judged(Round t, RoundRows& out) {
  const std::int64_t batch = options_.batch, first = (t - 1) * batch;
  const std::int64_t seen = std::min(first, options_.replay_window);
  if (t > 1)
    for (std::int64_t i = first - batch; i < first; ++i) add(at(inner_order_, inner_, i), t - 1, out);
  if (t > 2) {
    Rng replay = rng_.child("replay", static_cast<std::uint64_t>(t));
    for (std::int64_t i = 0; i < options_.replay; ++i) {
      const std::int64_t position =
          first - 1 - static_cast<std::int64_t>(replay.below(static_cast<std::uint64_t>(seen)));
      add(at(inner_order_, inner_, position), position / batch + 1, out);
    }
  }
  out.inner = out.size();
  for (std::int64_t i = first; i < first + batch; ++i) add(at(inner_order_, inner_, i), t, out);
}

void RoundRows::draw(SampleSizes sizes, Rng& rng, RoundRows& out) const {
  out.clear();
  const auto add = [&](Index first, Index count, std::int64_t wanted) {
    for (std::int64_t i = 0; count > 0 && i < wanted; ++i) {
      const auto k = to_size(first) + rng.below(static_cast<std::uint64_t>(count));
      out.row.push_back(row[k]);
      out.label.push_back(label[k]);
    }
  };
  add(0, inner, sizes.inner);
  out.inner = out.size();
  add(inner, outer(), sizes.outer);
}

void SoftmaxPools::draw(Round t, SampleSizes sizes, Rng& rng, RoundRows& out) {
  out.clear();
  for (std::int64_t i = 0; i < sizes.inner; ++i) add(inner_[rng.below(inner_.size())], t, out);
  out.inner = out.size();
  for (std::int64_t i = 0; i < sizes.outer; ++i) add(outer_[rng.below(outer_.size())], t, out);
}

double SoftmaxPools::noise(Round t) const {
  double now = 0.0;
  for (std::size_t i = 0; i < options_.noise.values.size(); ++i)
    if (static_cast<double>(t) >= options_.noise_rounds.values[i]) now = options_.noise.values[i];
  return now;
}

const std::vector<std::int32_t>& SoftmaxPools::names_of(Round t) {
  const std::int64_t period = options_.drift == LabelDrift::none ? 0 : (t - 1) / options_.period;
  if (period == names_period_) return names_;
  const auto classes = to_size(data_->classes);
  names_.resize(classes);
  std::iota(names_.begin(), names_.end(), 0);
  if (options_.drift == LabelDrift::rotate)
    std::rotate(names_.begin(),
                names_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::uint64_t>(period) % classes),
                names_.end());
  if (options_.drift == LabelDrift::swap)
    for (std::int64_t p = 1; p <= period; ++p) {
      Rng rng = rng_.child("swap", static_cast<std::uint64_t>(p));
      const std::size_t a = rng.below(classes), b = (a + 1 + rng.below(classes - 1)) % classes;
      std::swap(names_[a], names_[b]);
    }
  names_period_ = period;
  return names_;
}

std::int32_t SoftmaxPools::label(std::int32_t row, Round t) {
  const auto i = to_size(row);
  const std::int32_t given = flip_threshold_[i] < noise(t) ? wrong_label_[i] : data_->train_label[i];
  return names_of(t)[to_size(given)];
}
std::int32_t SoftmaxPools::clean_label(std::int32_t row, Round t) {
  return names_of(t)[to_size(data_->train_label[to_size(row)])];
}
std::int32_t SoftmaxPools::test_label(std::int32_t row, Round t) {
  return names_of(t)[to_size(data_->test_label[to_size(row)])];
}

}  // namespace obolus
