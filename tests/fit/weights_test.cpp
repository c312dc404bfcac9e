#include "fit/model/weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "obolus/core/error.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

using fit::Entry;
using fit::LearnerRow;
using fit::Weights;

// The same weights with nothing put off: every decay passes over all of them.
struct Eager {
  int parts, outputs;
  std::vector<int> group;
  std::vector<std::vector<double>> numbers;  // by feature, then lane
  std::vector<double> constant;

  Eager(int p, int o, std::vector<int> groups)
      : parts(p),
        outputs(o),
        group(std::move(groups)),
        numbers(group.size(), std::vector<double>(lanes())),
        constant(lanes()) {}
  [[nodiscard]] std::size_t lanes() const { return to_size(parts * outputs); }

  void decay(int g, double rho, const std::vector<double>& slopes) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (group[i] != g) continue;
      const auto n = to_size(outputs);
      for (std::size_t lane = n; lane < lanes(); ++lane)
        numbers[i][lane] = rho * numbers[i][lane] + slopes[lane / n] * numbers[i][lane % n];
      for (std::size_t c = 0; c < n; ++c) numbers[i][c] *= rho;
    }
  }
  void scale_derivative(int part, double factor) {
    for (int c = 0; c < outputs; ++c) {
      const auto lane = to_size(part * outputs + c);
      for (auto& row : numbers) row[lane] *= factor;
      constant[lane] *= factor;
    }
  }
  template <class S>
  void scatter(const LearnerRow& row, const std::vector<S>& scales, const std::vector<S>& push) {
    for (std::size_t i = 0; i < row.entries.size(); ++i)
      for (std::size_t lane = 0; lane < lanes(); ++lane)
        numbers[to_size(row.entries[i].slot)][lane] += static_cast<double>(row.entries[i].value) *
                                                       static_cast<double>(scales[i]) * static_cast<double>(push[lane]);
    for (std::size_t lane = 0; lane < lanes(); ++lane) constant[lane] += static_cast<double>(push[lane]);
  }
  [[nodiscard]] std::vector<double> lanes_of(const LearnerRow& row) const {
    std::vector<double> sum = constant;
    for (const Entry& e : row.entries)
      for (std::size_t lane = 0; lane < lanes(); ++lane)
        sum[lane] += static_cast<double>(e.value) * numbers[to_size(e.slot)][lane];
    return sum;
  }
};

constexpr int features = 11, groups = 3;

std::vector<int> thirds() {
  std::vector<int> of;
  for (int i = 0; i < features; ++i) of.push_back(i % groups);
  return of;
}

LearnerRow random_row(Rng& rng) {
  LearnerRow row;
  for (int g = 0; g < groups; ++g) {
    for (int i = g; i < features; i += groups)
      if (rng.below(2) == 0) row.entries.push_back({i, static_cast<float>(rng.normal())});
    row.group_ends.push_back(static_cast<std::int32_t>(row.entries.size()));
  }
  return row;
}

template <class S>
Weights<S> in_thirds(int parts, int outputs) {
  Weights<S> w(parts, outputs, groups);
  w.grow(features);
  for (int i = 0; i < features; ++i) w.set_group(i, i % groups);
  return w;
}

template <class S>
std::vector<S> lanes_of(const Weights<S>& w, const LearnerRow& row) {
  std::vector<S, LineAllocator<S>> sums(to_size(w.groups() * w.width()));
  std::vector<S> lanes(to_size(w.lanes()));
  w.gather(row, sums.data());
  w.combine(sums.data(), lanes.data());
  return lanes;
}

template <class S>
void apply_decay(Weights<S>& w, const LearnerRow& row) {
  std::vector<S, LineAllocator<S>> sums(to_size(w.groups() * w.width()));
  w.decay_and_gather(row, sums.data());
}

// One row of a span; a slot may come twice.
template <class S>
void scatter(Weights<S>& w, const LearnerRow& row, const std::vector<S>& scales, const std::vector<S>& push) {
  constexpr std::size_t stride = 3;  // only the second place has a row
  std::vector<std::int32_t> slots;
  std::vector<S> lines, total(2 * push.size());
  std::vector<fit::Reach> reaches;
  for (const Entry& e : row.entries) {
    slots.push_back(e.slot);
    reaches.push_back({static_cast<std::int32_t>(slots.size() % 2), 1});
    for (std::size_t k = 0; k < stride; ++k) lines.push_back(k == 1 ? S(e.value) : S(0));
  }
  for (std::size_t i = 0; i < push.size(); ++i) total[push.size() + i] = -push[i];
  w.absorb({slots, scales, reaches, lines.data(), stride, 2, total.data()});
}

// What a learner does to weights, at random.
template <class S>
struct Course {
  Weights<S> lazy;
  Eager eager;
  Rng rng;

  Course(int parts, int outputs, std::uint64_t seed)
      : lazy(in_thirds<S>(parts, outputs)), eager(parts, outputs, thirds()), rng(seed) {}

  void go(int steps, double slowest) {
    for (int t = 0; t < steps; ++t) {
      const int g = static_cast<int>(rng.below(groups));
      const double rho = rng.uniform(slowest, 1.0);
      std::vector<double> slopes(to_size(eager.parts));
      for (double& s : slopes) s = rng.below(2) == 0 ? 0.0 : -0.1 * rng.uniform();
      lazy.decay_group(g, rho, slopes);
      eager.decay(g, rho, slopes);
      if (eager.parts > 1) {
        const int part = 1 + static_cast<int>(rng.below(static_cast<std::uint64_t>(eager.parts - 1)));
        lazy.scale_derivative(part, 0.95);
        eager.scale_derivative(part, 0.95);
      }
      push();
      lazy.renormalise();
    }
  }
  void push() {
    const LearnerRow row = random_row(rng);
    std::vector<S> scales, by;
    for (std::size_t i = 0; i < row.entries.size(); ++i) scales.push_back(static_cast<S>(rng.uniform(0.5, 2)));
    for (int lane = 0; lane < lazy.lanes(); ++lane) by.push_back(static_cast<S>(0.1 * rng.normal()));
    scatter(lazy, row, scales, by);
    eager.scatter(row, scales, by);
    for (std::size_t lane = 0; lane < by.size(); ++lane) {
      lazy.constant()[lane] += by[lane];
      eager.constant[lane] += static_cast<double>(by[lane]);
    }
  }
};

// A number is changed by a few roundings an operation, each of ε times the largest number that was added: pushes of
// up to about 1. Old roundings decay with the numbers, at worst they add up.
template <class S>
double tolerance(int steps) {
  return 4.0 * steps * static_cast<double>(std::numeric_limits<S>::epsilon());
}

template <class S>
void expect_same(const Weights<S>& lazy, const Eager& eager, double within) {
  for (int i = 0; i < features; ++i)
    for (int lane = 0; lane < lazy.lanes(); ++lane)
      ASSERT_NEAR(lazy.value(i, lane / eager.outputs, lane % eager.outputs), eager.numbers[to_size(i)][to_size(lane)],
                  within)
          << "feature " << i << ", lane " << lane;
}

template <class S>
class WeightsOf : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(WeightsOf, Scalars);

TYPED_TEST(WeightsOf, DecayLazilyAsTheyWouldEagerly) {
  for (const auto& [parts, outputs] : {std::pair{1, 1}, {3, 1}, {4, 1}, {2, 3}, {4, 2}, {5, 3}, {4, 4}, {5, 7}}) {
    Course<TypeParam> c(parts, outputs, 7);
    c.go(120, 0.8);
    expect_same(c.lazy, c.eager, tolerance<TypeParam>(120));
    const LearnerRow row = random_row(c.rng);
    const auto got = lanes_of(c.lazy, row);
    const auto expected = c.eager.lanes_of(row);
    for (std::size_t lane = 0; lane < got.size(); ++lane)  // a dozen numbers added up, values of about 1
      EXPECT_NEAR(static_cast<double>(got[lane]), expected[lane], 12 * tolerance<TypeParam>(120));
  }
}

// Factors of 0.05 on the average: 200 decays of a group come to 1e-260, and float's smallest number is 1e-38.
TYPED_TEST(WeightsOf, OutliveAnyNumberOfDecays) {
  Course<TypeParam> c(3, 2, 9);
  c.go(600, 0.001);
  expect_same(c.lazy, c.eager, tolerance<TypeParam>(600));
}

TYPED_TEST(WeightsOf, DoNotChangeWhenTheySettle) {
  Course<TypeParam> c(4, 3, 3);
  c.go(50, 0.8);
  std::vector<double> slopes(4, -1e-3);
  for (int t = 0; t < 4; ++t)
    for (int g = 0; g < groups; ++g) c.lazy.decay_group(g, 0.02, slopes);  // 0.02⁴ < 2⁻¹⁶
  std::vector<double> before;
  for (int i = 0; i < features; ++i)
    for (int lane = 0; lane < 12; ++lane) before.push_back(c.lazy.value(i, lane / 3, lane % 3));
  c.lazy.renormalise();
  std::size_t at = 0;
  for (int i = 0; i < features; ++i)
    for (int lane = 0; lane < 12; ++lane, ++at)  // two products and a sum in S, each of numbers below 1e-3
      EXPECT_NEAR(c.lazy.value(i, lane / 3, lane % 3), before[at],
                  3e-3 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon()));
  Archive settled, again;
  c.lazy.fields(settled);
  c.lazy.renormalise();
  c.lazy.fields(again);
  EXPECT_EQ(settled.bytes(), again.bytes());
}

TYPED_TEST(WeightsOf, KeepOutputsPartsSquaresAndGroupsWhenTheyAreReshaped) {
  Course<TypeParam> c(3, 1, 5);
  c.go(40, 0.8);
  for (int i = 0; i < features; ++i) c.lazy.squares(i) = static_cast<TypeParam>(i + 0.5);
  const auto epsilon = static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
  std::vector<double> before;
  for (int i = 0; i < features; ++i)
    for (int part = 0; part < 3; ++part) before.push_back(c.lazy.value(i, part, 0));
  const std::vector<TypeParam> constant = c.lazy.constant();

  c.lazy.reshape(5, {{-0.5}, {0.5}, {0}});
  EXPECT_EQ(c.lazy.outputs(), 3);
  EXPECT_EQ(c.lazy.parts(), 5);
  EXPECT_EQ(c.lazy.slots(), features);
  for (int i = 0; i < features; ++i) {
    EXPECT_EQ(c.lazy.squares(i), static_cast<TypeParam>(i + 0.5));
    for (int part = 0; part < 5; ++part) {
      const double old = part < 3 ? before[to_size(3 * i + part)] : 0;
      EXPECT_NEAR(c.lazy.value(i, part, 0), -old / 2, 4 * epsilon);
      EXPECT_NEAR(c.lazy.value(i, part, 1), old / 2, 4 * epsilon);
      EXPECT_EQ(c.lazy.value(i, part, 2), 0.0);
    }
  }
  for (int part = 0; part < 5; ++part) {
    const TypeParam old = part < 3 ? constant[to_size(part)] : TypeParam(0);
    EXPECT_EQ(c.lazy.constant()[to_size(3 * part)], -old / 2);
    EXPECT_EQ(c.lazy.constant()[to_size(3 * part + 1)], old / 2);
    EXPECT_EQ(c.lazy.constant()[to_size(3 * part + 2)], TypeParam(0));
  }
  c.lazy.decay_group(1, 0.5, std::vector<double>(5));
  for (int i = 0; i < features; ++i)
    EXPECT_NEAR(c.lazy.value(i, 0, 1), before[to_size(3 * i)] / (i % groups == 1 ? 4 : 2), 4 * epsilon);
}

TYPED_TEST(WeightsOf, LeaveFeaturesInTheirGroupWhenGroupsAreAdded) {
  Weights<TypeParam> w(2, 1, 1);
  w.grow(4);
  scatter<TypeParam>(w, {.entries = {{0, 1}, {1, 1}, {2, 1}, {3, 1}}, .group_ends = {}}, {1, 1, 1, 1}, {2, 3});
  w.decay_group(0, 0.5, std::vector<double>{0, 0.25});
  w.grow_groups(3);
  w.reshape(4, {{1}});
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(w.value(i, 0, 0), 1.0);  // ½ · 2
    EXPECT_EQ(w.value(i, 1, 0), 2.0);  // ½ · 3 + ¼ · 2
    EXPECT_EQ(w.value(i, 2, 0), 0.0);
  }
  w.decay_group(1, 0.5, std::vector<double>(4));
  w.decay_group(2, 0.5, std::vector<double>(4));
  EXPECT_EQ(w.value(3, 0, 0), 1.0);
  w.grow(6);
  w.set_group(5, 2);
  scatter<TypeParam>(w, {.entries = {{4, 1}, {5, 1}}, .group_ends = {1, 1, 2}}, {1, 1}, {2, 3, 0, 0});
  w.decay_group(2, 0.5, std::vector<double>(4));
  EXPECT_EQ(w.value(4, 0, 0), 2.0);
  EXPECT_EQ(w.value(5, 0, 0), 1.0);
}

TYPED_TEST(WeightsOf, KeepTheGroupTheyWereGivenFirst) {
  Weights<TypeParam> w(1, 1, 3);
  w.grow(2);
  EXPECT_EQ(w.group(0), 0);
  EXPECT_EQ(w.set_group(0, 2), 2);
  EXPECT_EQ(w.set_group(0, 1), 2);
  EXPECT_EQ(w.group(0), 2);
  EXPECT_EQ(w.group(1), 0);
  Weights<TypeParam> one(1, 1, 1);
  one.grow(2);
  EXPECT_EQ(one.set_group(1, 7), 0);
}

TYPED_TEST(WeightsOf, AreTheSameBitsAfterSavingAndLoading) {
  Course<TypeParam> c(3, 2, 13);
  c.go(30, 0.7);
  Archive saved;
  c.lazy.fields(saved);
  Weights<TypeParam> loaded(1, 1, 1);
  Archive from(saved.bytes());
  loaded.fields(from);
  from.finish();
  for (int t = 0; t < 5; ++t) {
    const LearnerRow row = random_row(c.rng);
    EXPECT_EQ(lanes_of(loaded, row), lanes_of(c.lazy, row));
    const std::vector<TypeParam> scales(row.entries.size(), TypeParam(0.7)), push(6, TypeParam(0.3));
    scatter(loaded, row, scales, push);
    scatter(c.lazy, row, scales, push);
    for (Weights<TypeParam>* w : {&loaded, &c.lazy}) {
      w->decay_group(t % groups, 0.01, std::vector<double>(3, -0.1));
      w->renormalise();
    }
  }
  Archive first, second;
  c.lazy.fields(first);
  loaded.fields(second);
  EXPECT_EQ(first.bytes(), second.bytes());
}

// ---- Paces

// Decays by exp(−ratio time), with two derivatives by ln time, of which one fades from round to round.
template <class S>
struct PacedCourse {
  static constexpr int outputs = 3, parts = 4, fading = 1, lasting = 3;
  using Moved = fit::DecayDerivative;

  double memory;
  Weights<S> lazy;
  Eager eager;
  std::vector<double> ratio;
  Rng rng;

  PacedCourse(std::uint64_t seed, double m)
      : memory(m),
        lazy(parts, outputs, 1),
        eager(parts, outputs, std::vector<int>(features)),
        ratio(features, 1.0),
        rng(seed) {
    lazy.use_feature_decay();
    lazy.grow(features);
  }

  LearnerRow row() {
    LearnerRow row = random_row(rng);
    row.group_ends.clear();
    return row;
  }
  void push() {
    const LearnerRow some = row();
    const std::vector<S> scales(some.entries.size(), S(0.7));
    std::vector<S> by;
    for (int lane = 0; lane < lazy.lanes(); ++lane) by.push_back(static_cast<S>(0.1 * rng.normal()));
    apply_decay(lazy, some);
    scatter(lazy, some, scales, by);
    eager.scatter(some, scales, by);
  }
  void decay(double time) {
    lazy.scale_derivative(fading, memory);
    eager.scale_derivative(fading, memory);
    lazy.decay_features(time, {{fading, memory}, {lasting, 1.0}});
    for (std::size_t i = 0; i < features; ++i) {
      const double now = ratio[i] * time;
      auto& n = eager.numbers[i];
      for (double& of : n) of *= std::exp(-now);
      for (const std::size_t part : {std::size_t{fading}, std::size_t{lasting}})
        for (std::size_t c = 0; c < outputs; ++c) n[part * outputs + c] -= now * n[c];
    }
  }
  void change_paces() {
    for (int i = 0; i < features; ++i) {
      if (rng.below(4) > 0) continue;
      const auto to = static_cast<float>(std::exp(rng.normal()));
      lazy.set_decay_ratio(i, to);
      ratio[to_size(i)] = static_cast<double>(to);
      EXPECT_EQ(lazy.decay_ratio(i), to);
    }
  }
  void go(int rounds) {
    for (int t = 0; t < rounds; ++t) {
      if (rng.below(3) > 0) push();
      if (rng.below(3) == 0) change_paces();
      decay(0.1 * rng.uniform());
      lazy.renormalise();
    }
  }
};

// What is owed from before a change is a float: 6e-8 of a due of about 1, each time there is one, beside the
// roundings above.
TYPED_TEST(WeightsOf, PayLateWhatTheyWouldHavePaidEveryRound) {
  PacedCourse<TypeParam> c(21, 1.0);
  const double within = 120 * 6e-8 + tolerance<TypeParam>(120);
  for (int t = 0; t < 6; ++t) {
    c.go(20);
    expect_same(c.lazy, c.eager, within);
    const LearnerRow row = c.row();
    std::vector<TypeParam, LineAllocator<TypeParam>> sums(to_size(c.lazy.width())), paid(sums);
    typename fit::Weights<TypeParam>::Decayed scratch;
    c.lazy.gather_decayed(row, sums.data(), scratch);
    Archive before, after;
    c.lazy.fields(before);
    c.lazy.gather_decayed(row, paid.data(), scratch);
    c.lazy.fields(after);
    EXPECT_EQ(before.bytes(), after.bytes()) << "a look at them applies nothing";
    c.lazy.decay_and_gather(row, paid.data());
    EXPECT_EQ(sums, paid);
    expect_same(c.lazy, c.eager, within);
  }
}

// Where the time is the same every round, what has faded is exact: part k of n has faded n − k times, and has decayed
// with the weights. 600 rounds are more than a table holds.
TYPED_TEST(WeightsOf, PayDerivativesThatFadeAsIfInEqualParts) {
  PacedCourse<TypeParam> c(22, 0.9);
  c.push();
  c.push();
  for (const int rounds : {1, 2, 30, 600}) {
    for (int t = 0; t < rounds; ++t) c.decay(0.3 / rounds);
    expect_same(c.lazy, c.eager, tolerance<TypeParam>(50));
    LearnerRow all;
    for (int i = 0; i < features; ++i) all.entries.push_back({i, 1.0F});
    apply_decay(c.lazy, all);
    expect_same(c.lazy, c.eager, tolerance<TypeParam>(50));
  }
}

TYPED_TEST(WeightsOf, MultiplyByTheirFactorInAProduct) {
  PacedCourse<TypeParam> c(23, 1.0);
  c.go(15);
  LearnerRow all;
  for (int i = 0; i < features; ++i) all.entries.push_back({i, 1.0F});
  apply_decay(c.lazy, all);
  ASSERT_EQ(c.lazy.product_width(), 4);
  alignas(64) const TypeParam by[] = {TypeParam(0.5), TypeParam(-1.5), TypeParam(2), TypeParam(0)};
  for (int i = 0; i < features; ++i) {
    const double expected = 0.5 * c.lazy.value(i, 0, 0) - 1.5 * c.lazy.value(i, 0, 1) + 2 * c.lazy.value(i, 0, 2);
    EXPECT_NEAR(static_cast<double>(c.lazy.product(i, by)), expected, tolerance<TypeParam>(4));
  }
}

// Nothing comes back to life, and nothing overflows, after more time than a float can tell.
TYPED_TEST(WeightsOf, AreNothingAfterAllTheTimeInTheWorld) {
  PacedCourse<TypeParam> c(24, 0.98);
  c.push();
  c.push();
  for (int i = 0; i < features; ++i) c.lazy.set_decay_ratio(i, 1000.0F);
  for (int t = 0; t < 100; ++t) c.lazy.decay_features(1e6, {{1, 0.98}, {3, 1.0}});
  LearnerRow all;
  for (int i = 0; i < features; ++i) all.entries.push_back({i, 1.0F});
  apply_decay(c.lazy, all);
  for (int i = 0; i < features; ++i)
    for (int lane = 0; lane < c.lazy.lanes(); ++lane)  // 40 e^−40 = 2e-16 of them
      EXPECT_NEAR(c.lazy.value(i, lane / 3, lane % 3), 0.0, 1e-15);
}

TYPED_TEST(WeightsOf, KeepTheirPacesAndPayBeforeTheyAreReshaped) {
  PacedCourse<TypeParam> c(25, 1.0);
  c.go(20);
  std::vector<double> before;
  for (int i = 0; i < features; ++i) before.push_back(c.lazy.value(i, 0, 1));
  c.lazy.reshape(4, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}});
  c.lazy.grow(features + 2);
  for (int i = 0; i < features; ++i) {
    EXPECT_NEAR(c.lazy.value(i, 0, 1), before[to_size(i)], tolerance<TypeParam>(2));
    EXPECT_EQ(static_cast<double>(c.lazy.decay_ratio(i)), c.ratio[to_size(i)]);
  }
  EXPECT_EQ(c.lazy.decay_ratio(features + 1), 1.0F);
}

TYPED_TEST(WeightsOf, WithPacesAreTheSameBitsAfterSavingAndLoading) {
  PacedCourse<TypeParam> c(26, 0.97);
  c.go(33);
  Archive saved;
  c.lazy.fields(saved);
  PacedCourse<TypeParam> loaded = c;
  loaded.lazy = Weights<TypeParam>(1, 1, 1);
  loaded.lazy.use_feature_decay();
  Archive from(saved.bytes());
  loaded.lazy.fields(from);
  from.finish();
  c.go(20);
  loaded.go(20);
  Archive first, second;
  c.lazy.fields(first);
  loaded.lazy.fields(second);
  EXPECT_EQ(first.bytes(), second.bytes());

  Archive model, again;
  c.lazy.model_fields(model);
  Weights<TypeParam> alone(1, 1, 1);
  alone.use_feature_decay();
  Archive from_model(model.bytes());
  alone.model_fields(from_model);
  from_model.finish();
  alone.model_fields(again);
  EXPECT_EQ(model.bytes(), again.bytes());
}

// The fields of two features with one output, and a derivative.
struct Saved {
  struct Lazy {
    double z = 1;
    std::vector<double> s{1, 1}, mix{0, 0};
    void fields(Archive& a) { a("z", z), fit::saved(a, "s", s), fit::saved(a, "mix", mix); }
  };
  int parts = 2, outputs = 1, groups = 1;
  std::int64_t slots = 2;
  std::vector<double> memory = std::vector<double>(8), constant = std::vector<double>(2);
  std::vector<std::uint16_t> group_of;
  std::vector<Lazy> lazy = std::vector<Lazy>(1);
  std::vector<fit::DecayDerivative> moved;
  struct Pace {
    float ratio = 1, owed = 0;
    double since = 0;
    std::int64_t paid = 0;
  };
  bool has_paces = false;
  double clock = 3;
  std::int64_t rounds = 5;
  std::vector<Pace> paces = std::vector<Pace>(2);

  void fields(Archive& a) {
    a("parts", parts);
    a("outputs", outputs);
    a("groups", groups);
    a("slots", slots);
    fit::saved(a, "memory", memory);
    fit::saved(a, "group_of", group_of);
    fit::saved(a, "constant", constant);
    fit::saved_list(a, "lazy", lazy);
    fit::saved_list(a, "moved", moved);
    if (has_paces) {
      a("clock", clock);
      a("rounds", rounds);
      fit::saved(a, "paces", paces);
    }
  }
};

std::string loading(Saved saved, const std::function<void(Saved&)>& damage) {
  damage(saved);
  Archive to;
  saved.fields(to);
  Archive from(to.bytes());
  Weights<double> w(1, 1, 1);
  if (saved.has_paces) w.use_feature_decay();
  try {
    w.fields(from);
  } catch (const DataError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(SavedWeights, AreRefusedWhereSizesDoNotFit) {
  EXPECT_EQ(loading({}, [](Saved&) {}), "accepted");
  constexpr int max = std::numeric_limits<int>::max();
  const std::vector<std::pair<const char*, std::function<void(Saved&)>>> damages{
      {"no parts", [](Saved& s) { s.parts = 0; }},
      {"less than no parts",
       [](Saved& s) {
         s.parts = -2;
         s.outputs = -1;
       }},
      {"more parts than there are", [](Saved& s) { s.parts = 3; }},
      {"parts × outputs that no int can hold",
       [](Saved& s) {
         s.parts = max;
         s.outputs = max;
       }},
      {"a width that no int can hold", [](Saved& s) { s.parts = max; }},
      {"no outputs", [](Saved& s) { s.outputs = 0; }},
      {"more outputs", [](Saved& s) { s.outputs = 2; }},
      {"no groups",
       [](Saved& s) {
         s.groups = 0;
         s.lazy.clear();
       }},
      {"more groups", [](Saved& s) { s.groups = 2; }},
      {"groups whose features are not told",
       [](Saved& s) {
         s.groups = 2;
         s.lazy.resize(2);
       }},
      {"less than no features", [](Saved& s) { s.slots = -1; }},
      {"fewer features", [](Saved& s) { s.slots = 1; }},
      {"as many numbers as 2⁶² features modulo 2⁶⁴",
       [](Saved& s) {
         s.slots = std::int64_t{1} << 62;
         s.memory.clear();
       }},
      {"a feature cut in two", [](Saved& s) { s.memory.pop_back(); }},
      {"groups of features where there is one", [](Saved& s) { s.group_of = {0}; }},
      {"a group that does not exist",
       [](Saved& s) {
         s.groups = 2;
         s.lazy.resize(2);
         s.group_of = {0, 3};
       }},
      {"constants of another size", [](Saved& s) { s.constant.push_back(0); }},
      {"factors of another size", [](Saved& s) { s.lazy[0].s.pop_back(); }},
      {"multiples of another size", [](Saved& s) { s.lazy[0].mix.push_back(0); }},
      {"a factor that undoes weights", [](Saved& s) { s.lazy[0].z = 0; }},
      {"a factor that is none", [](Saved& s) { s.lazy[0].z = std::nan(""); }},
  };
  for (const auto& [name, damage] : damages)
    EXPECT_EQ(loading({}, damage), "saved state: the sizes of the weights do not fit together") << name;
  EXPECT_EQ(loading({},
                    [](Saved& s) {
                      s.groups = 2;
                      s.lazy.resize(2);
                      s.group_of = {0, 2};
                    }),
            "accepted");
}

TEST(SavedWeights, AreRefusedWherePacesDoNotFit) {
  Saved paced;
  paced.has_paces = true;
  paced.moved = {{1, 0.9}};
  EXPECT_EQ(loading(paced, [](Saved&) {}), "accepted");
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<const char*, std::function<void(Saved&)>>> damages{
      {"fewer paces than features", [](Saved& s) { s.paces.pop_back(); }},
      {"more paces than features", [](Saved& s) { s.paces.emplace_back(); }},
      {"a ratio of nothing", [](Saved& s) { s.paces[1].ratio = 0; }},
      {"a ratio that is not a number", [=](Saved& s) { s.paces[1].ratio = static_cast<float>(nan); }},
      {"a ratio without end", [=](Saved& s) { s.paces[1].ratio = static_cast<float>(infinity); }},
      {"negative pending decay", [](Saved& s) { s.paces[0].owed = -1; }},
      {"pending decay that is not a number", [=](Saved& s) { s.paces[0].owed = static_cast<float>(nan); }},
      {"applied after now", [](Saved& s) { s.paces[0].since = 4; }},
      {"applied at no time", [=](Saved& s) { s.paces[0].since = nan; }},
      {"no time", [=](Saved& s) { s.clock = nan; }},
      {"applied in a future round", [](Saved& s) { s.paces[1].paid = 6; }},
      {"applied before the first round", [](Saved& s) { s.paces[1].paid = -1; }},
      {"the weights are moved by themselves", [](Saved& s) { s.moved[0].part = 0; }},
      {"a part that there is not", [](Saved& s) { s.moved[0].part = 2; }},
  };
  for (const auto& [name, damage] : damages)
    EXPECT_EQ(loading(paced, damage), "saved state: the sizes of the weights do not fit together") << name;
  EXPECT_NE(loading(paced, [](Saved& s) { s.moved.resize(3, {1, 1}); }), "accepted") << "rate, L2 and what else";
}

// A list says how long it is before its parts come: that costs no memory where there are none.
TEST(SavedWeights, AreRefusedWhereAListIsLongerThanTheFile) {
  Archive to;
  std::uint64_t count = 1u << 24;
  to("lazy", count);
  Archive from(to.bytes());
  std::vector<Saved::Lazy> lazy;
  EXPECT_THROW(fit::saved_list(from, "lazy", lazy), DataError);
  EXPECT_LT(lazy.capacity(), 100u);
}

}  // namespace
}  // namespace obolus
