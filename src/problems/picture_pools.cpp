#include "obolus/problems/picture_pools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

// ⌈number·μ^i⌉ as doubles have it, at least 1: 4000·0.8² comes out above 2560 and gives 2561. So are the totals stated
// for E1, 17857 and 26056 at μ = 0.8 and 0.9; exact numbers give 17855 and 26055. Products, not std::pow, whose last
// bit differs between libraries.
std::int64_t part(std::int64_t number, double proportion, std::size_t i) {
  double power = 1.0;
  for (; i > 0; --i) power *= proportion;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(static_cast<double>(number) * power)));
}

void check_proportions(const std::vector<double>& proportions) {
  constexpr std::size_t max = 100;
  if (proportions.empty() || proportions.size() > max)
    throw ConfigError(fmt::format("problem.proportions: got {} numbers, expected one for each of 1 to {} phases",
                                  proportions.size(), max));
  for (const double p : proportions)
    if (!(p > 0.0 && p <= 1.0))
      throw ConfigError(fmt::format("problem.proportions: got {}, expected numbers in (0, 1]", p));
}

void check_pictures(const Pictures& p, const char* name, Index side, Index classes) {
  if (p.height != side || p.width != side || side < 1)
    throw DataError(
        fmt::format("{} pictures: got {} by {}, expected all to be squares of one size", name, p.height, p.width));
  if (p.pixels.size() != p.label.size() * to_size(side * side))
    throw DataError(fmt::format("{} pictures: got {} pixels, expected {} for each of {} labels", name, p.pixels.size(),
                                side * side, p.label.size()));
  for (const std::uint8_t label : p.label)
    if (label >= classes)
      throw DataError(fmt::format("{} pictures: got label {}, expected less than {}", name, label, classes));
}

// By class, of how many pictures of each there are.
std::vector<double> weights(ClassWeights kind, const std::vector<std::int64_t>& pictures) {
  std::vector<double> u(pictures.size(), 1.0);
  if (kind == ClassWeights::none) return u;
  const auto all = static_cast<double>(std::accumulate(pictures.begin(), pictures.end(), std::int64_t{0}));
  for (std::size_t j = 0; j < u.size(); ++j) u[j] = all / static_cast<double>(pictures[j]);
  const double mean = std::accumulate(u.begin(), u.end(), 0.0) / static_cast<double>(u.size());
  if (kind == ClassWeights::normalised)
    for (double& each : u) each /= mean;
  return u;
}

struct Shading {
  double mean, deviation;
};
// Over the training sets' pixels; over generated ones about that.
Shading shading(PictureData data) {
  switch (data) {
    case PictureData::mnist: return {0.1307, 0.3081};
    case PictureData::fashion_mnist: return {0.2860, 0.3530};
    case PictureData::generated: break;
  }
  return {0.5, 0.25};
}

}  // namespace

std::vector<Index> widths_of(const Numbers& widths, std::string_view option) {
  constexpr std::size_t max = 8;
  if (widths.values.size() == 1 && widths.values.front() == 0.0) return {};
  if (widths.values.size() > max)
    throw ConfigError(fmt::format("{}: got {} numbers, expected at most {}", option, widths.values.size(), max));
  std::vector<Index> whole;
  for (const double w : widths.values) {
    if (!(w >= 1.0 && w <= 1024.0 && w == std::floor(w)))
      throw ConfigError(fmt::format("{}: got {}, expected whole numbers in [1, 1024], or 0 alone for none", option, w));
    whole.push_back(static_cast<Index>(w));
  }
  return whole;
}

void check_network(const LossTuningOptions& options, Index side) {
  const std::size_t blocks = widths_of(options.channels, "problem.channels").size();
  std::size_t halvings = 0;
  for (Index left = side / 2; left >= 1; left /= 2) ++halvings;
  if (blocks > halvings)
    throw ConfigError(
        fmt::format("problem.channels: got {} blocks, expected at most {}: each halves the side, {} at first", blocks,
                    halvings, side));
  (void)widths_of(options.hidden, "problem.hidden");
}

PicturePools::PicturePools(const LossTuningOptions& options, std::shared_ptr<const LabelledPictures> data,
                           std::uint64_t seed)
    : options_(options), data_(std::move(data)), rng_(Rng(seed).child("pictures")) {
  validate(options_, "problem");
  check_proportions(options_.proportions.values);
  if (classes() < 2) throw DataError(fmt::format("pictures: got {} classes, expected at least 2", classes()));
  check_pictures(data_->train, "training", side(), classes());
  check_pictures(data_->test, "test", side(), classes());
  check_network(options_, side());
  if (options_.test_pictures > data_->test.count())
    throw ConfigError(fmt::format("problem.test_pictures: got {}, expected at most the {} there are, or 0 for all",
                                  options_.test_pictures, data_->test.count()));
  ByClass of_class(to_size(classes()));
  for (std::size_t i = 0; i < data_->train.label.size(); ++i)
    of_class[data_->train.label[i]].push_back(static_cast<std::int32_t>(i));
  for (const double proportion : options_.proportions.values) phases_.push_back(phase_at(proportion, of_class));
  const Shading s = shading(options_.data);
  for (std::size_t p = 0; p < shade_.size(); ++p) shade_[p] = (static_cast<double>(p) / 255.0 - s.mean) / s.deviation;
}

PicturePools::Phase PicturePools::phase_at(double proportion, const ByClass& of_class) const {
  Phase now;
  std::vector<std::int64_t> validating;
  for (std::size_t i = 0; i < of_class.size(); ++i) {
    const auto count = static_cast<std::int64_t>(of_class[i].size());
    const std::int64_t kept = options_.validation > 0 ? options_.validation : std::max<std::int64_t>(1, count / 5);
    const std::int64_t left = count - kept;
    if (left < 1)
      throw ConfigError(
          fmt::format("problem.validation: got {} of the {} pictures of class {}, expected fewer: some are "
                      "to train on",
                      kept, count, i));
    const std::int64_t training = part(options_.max > 0 ? options_.max : left, proportion, i);
    if (training > left)
      throw ConfigError(
          fmt::format("problem.largest: got {}, hence {} pictures of class {} at proportion {}, expected at "
                      "most the {} that validation leaves",
                      options_.max, training, i, proportion, left));
    validating.push_back(options_.validation_law == ValidationLaw::imbalanced ? part(kept, proportion, i) : kept);
    const auto first = of_class[i].begin();
    now.inner.insert(now.inner.end(), first, first + training);
    now.outer.insert(now.outer.end(), first + left, first + left + validating.back());
  }
  if (options_.train_on == TrainOn::all) now.inner.insert(now.inner.end(), now.outer.begin(), now.outer.end());
  std::sort(now.inner.begin(), now.inner.end());
  std::sort(now.outer.begin(), now.outer.end());
  now.weight = weights(options_.weights, validating);
  return now;
}

Index PicturePools::phase(Round t) const {
  return static_cast<Index>(std::min<std::int64_t>((t - 1) / options_.phase_rounds, phases() - 1));
}

const std::vector<std::int32_t>& PicturePools::epoch(Shuffled& s, const std::vector<std::int32_t>& pool, Index phase,
                                                     std::int64_t number) {
  Epoch& epoch = s.kept[to_size(number) % s.kept.size()];
  if (epoch.phase != phase || epoch.number != number) {
    epoch.order = pool;
    const Rng of_phase = rng_.child(s.name, static_cast<std::uint64_t>(phase));
    of_phase.child("epoch", static_cast<std::uint64_t>(number)).shuffle(epoch.order);
    epoch.phase = phase;
    epoch.number = number;
  }
  return epoch.order;
}

void PicturePools::append(Shuffled& s, const std::vector<std::int32_t>& pool, std::int64_t batch, Round t,
                          RoundPictures& out) {
  const std::vector<std::int32_t>& names = names_of(t);
  const auto add = [&](std::int32_t picture) {
    out.picture.push_back(picture);
    out.label.push_back(names[data_->train.label[to_size(picture)]]);
  };
  if (batch == 0) {
    for (const std::int32_t picture : pool) add(picture);
    return;
  }
  const Index now = phase(t);
  const auto size = static_cast<std::int64_t>(pool.size());
  const std::int64_t first = (t - 1 - now * options_.phase_rounds) * batch;
  for (std::int64_t i = first; i < first + batch; ++i) add(epoch(s, pool, now, i / size)[to_size(i % size)]);
}

void PicturePools::of_round(Round t, RoundPictures& out) {
  out.clear();
  append(inner_order_, inner_pool(t), options_.batch, t, out);
  out.inner = out.size();
  append(outer_order_, outer_pool(t), options_.validation_batch, t, out);
}

// From the names in hand where they are of an earlier period, from the classes' own where not.
const std::vector<std::int32_t>& PicturePools::names_of(Round t) {
  const std::int64_t period = options_.drift == PictureDrift::swap ? (t - 1) / options_.period : 0;
  const auto count = to_size(classes());
  if (names_.empty() || period < names_period_) {
    names_.resize(count);
    std::iota(names_.begin(), names_.end(), 0);
    names_period_ = 0;
  }
  for (; names_period_ < period; ++names_period_) {
    Rng rng = rng_.child("swap", static_cast<std::uint64_t>(names_period_) + 1);
    const std::size_t a = rng.below(count), b = (a + 1 + rng.below(count - 1)) % count;
    std::swap(names_[a], names_[b]);
  }
  return names_;
}

std::int32_t PicturePools::name_of(std::int32_t of_class, Round t) { return names_of(t)[to_size(of_class)]; }
std::int32_t PicturePools::label(std::int32_t picture, Round t) {
  return names_of(t)[data_->train.label[to_size(picture)]];
}
std::int32_t PicturePools::test_label(std::int32_t picture, Round t) {
  return names_of(t)[data_->test.label[to_size(picture)]];
}

const std::vector<double>& PicturePools::class_weight(Round t) {
  const std::vector<double>& by_class = of(t).weight;
  const std::vector<std::int32_t>& names = names_of(t);
  weight_.resize(by_class.size());
  for (std::size_t i = 0; i < by_class.size(); ++i) weight_[to_size(names[i])] = by_class[i];
  return weight_;
}

double PicturePools::degrees(Round t) const {
  if (options_.drift != PictureDrift::turn) return 0.0;
  const std::int64_t periods = (t - 1) / options_.period;
  return std::fmod(options_.degrees * static_cast<double>(periods), 360.0);
}

// A counterclockwise turn brings to (x, y) from the centre, y downwards, what was at (x cos − y sin, x sin + y cos).
template <class S>
void PicturePools::write(const Pictures& from, std::int32_t picture, Round t, S* out) const {
  const Index n = side();
  const std::uint8_t* pixel = from.pixels.data() + static_cast<std::ptrdiff_t>(picture) * n * n;
  const double turned = degrees(t);
  if (turned == 0.0) {
    for (Index i = 0; i < n * n; ++i) out[i] = static_cast<S>(shade_[pixel[i]]);
    return;
  }
  const double angle = turned * std::numbers::pi / 180.0, c = std::cos(angle), s = std::sin(angle);
  const double centre = static_cast<double>(n - 1) / 2.0;
  const auto shade = [&](Index row, Index column) {
    return row < 0 || row >= n || column < 0 || column >= n ? shade_[0] : shade_[pixel[row * n + column]];
  };
  for (Index row = 0; row < n; ++row) {
    for (Index column = 0; column < n; ++column) {
      const double x = static_cast<double>(column) - centre, y = static_cast<double>(row) - centre;
      const double from_x = centre + x * c - y * s, from_y = centre + x * s + y * c;
      const double left = std::floor(from_x), top = std::floor(from_y);
      const double right = from_x - left, down = from_y - top;
      const auto i = static_cast<Index>(top), j = static_cast<Index>(left);
      out[row * n + column] = static_cast<S>((1.0 - down) * ((1.0 - right) * shade(i, j) + right * shade(i, j + 1)) +
                                             down * ((1.0 - right) * shade(i + 1, j) + right * shade(i + 1, j + 1)));
    }
  }
}
template void PicturePools::write(const Pictures&, std::int32_t, Round, float*) const;
template void PicturePools::write(const Pictures&, std::int32_t, Round, double*) const;

}  // namespace obolus
