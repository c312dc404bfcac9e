#include "obolus/problems/picture_pools.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "obolus/core/error.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace obolus;
using Some = std::vector<std::int32_t>;
using Data = std::shared_ptr<const LabelledPictures>;

// `a_class` pictures of one pixel of each class, the classes in turn; half as many for tests.
Data dots(Index classes, Index a_class) {
  LabelledPictures all;
  all.classes = classes;
  for (Pictures* p : {&all.train, &all.test}) {
    p->height = p->width = 1;
    for (Index k = 0; k < (p == &all.train ? a_class : a_class / 2) * classes; ++k) {
      p->label.push_back(static_cast<std::uint8_t>(k % classes));
      p->pixels.push_back(static_cast<std::uint8_t>(k % 256));
    }
  }
  return std::make_shared<const LabelledPictures>(std::move(all));
}
// No convolutions: a picture of one pixel cannot be halved.
LossTuningOptions plain() {
  LossTuningOptions o;
  o.channels = 0.0;
  return o;
}
// Four classes, phases of 9 rounds with μ = 0.5 and 0.8; pools of class 0: 24 pictures to train on, 6 to validate with.
LossTuningOptions phased() {
  LossTuningOptions o = plain();
  o.proportions = Numbers({0.5, 0.8});
  o.phase_rounds = 9;
  o.validation = 6;
  o.batch = 7;
  o.validation_batch = 5;
  return o;
}
Data phased_data() { return dots(4, 30); }

RoundPictures round_of(PicturePools& pools, Round t) {
  RoundPictures now;
  pools.of_round(t, now);
  return now;
}
Some inner_of(const RoundPictures& r) { return {r.picture.begin(), r.picture.begin() + r.inner}; }
Some outer_of(const RoundPictures& r) { return {r.picture.begin() + r.inner, r.picture.end()}; }
Some sorted(Some some) {
  std::sort(some.begin(), some.end());
  return some;
}
std::vector<std::int64_t> by_class(const PicturePools& pools, const Some& pool) {
  std::vector<std::int64_t> count(static_cast<std::size_t>(pools.classes()));
  for (const std::int32_t p : pool) ++count[pools.data().train.label[static_cast<std::size_t>(p)]];
  return count;
}
using Counts = std::vector<std::int64_t>;

// ---- Pools ----------------------------------------------------------------------------------------------------------

LossTuningOptions of_e1() {
  LossTuningOptions o = plain();
  o.proportions = Numbers({0.6, 0.7, 0.8, 0.9});
  o.max = 4000;
  o.validation = 1000;
  o.batch = 64;
  return o;
}

TEST(PicturePools, ThePhasesOfE1HaveTheirStatedNumbersOfPictures) {
  const PicturePools pools(of_e1(), dots(10, 6000), 42);
  EXPECT_EQ(by_class(pools, pools.inner_pool(1)), (Counts{4000, 2400, 1440, 864, 519, 312, 187, 112, 68, 41}));
  EXPECT_EQ(by_class(pools, pools.inner_pool(201)),
            (Counts{4000, 3200, 2561, 2049, 1639, 1311, 1049, 839, 672, 537}));  // 4000 · 0.8² > 2560 in doubles
  const std::size_t totals[] = {9943, 12960, 17857, 26056};
  for (Index k = 0; k < 4; ++k) {
    EXPECT_EQ(pools.inner_pool(100 * k + 1).size(), totals[k]);
    EXPECT_EQ(pools.inner_pool(100 * k + 100).size(), totals[k]);
    EXPECT_EQ(by_class(pools, pools.outer_pool(100 * k + 1)), Counts(10, 1000));
  }
  EXPECT_EQ(pools.inner_pool(100'000).size(), totals[3]) << "the last phase has no end";
}

TEST(PicturePools, AClassTrainsOnItsFirstPicturesAndValidatesWithItsLast) {
  const PicturePools pools(phased(), phased_data(), 1);
  for (const Round t : {1, 10}) {
    Counts first(4), last(4, 29);
    for (const std::int32_t p : pools.inner_pool(t)) EXPECT_EQ(p / 4, first[static_cast<std::size_t>(p % 4)]++);
    const Some& outer = pools.outer_pool(t);
    for (auto p = outer.rbegin(); p != outer.rend(); ++p) EXPECT_EQ(*p / 4, last[static_cast<std::size_t>(*p % 4)]--);
    EXPECT_EQ(first, t == 1 ? (Counts{24, 12, 6, 3}) : (Counts{24, 20, 16, 13}));  // 24 · 0.8^i = 19.2, 15.36, 12.288
    EXPECT_EQ(last, Counts(4, 23));
  }
}

TEST(PicturePools, ValidationIsApartFromTrainingWhateverTheNumbers) {
  for (const std::int64_t a_class : {2, 3, 5, 9, 10, 31})
    for (const double proportion : {1.0, 0.7, 0.01}) {
      LossTuningOptions o = plain();
      o.proportions = proportion;
      const PicturePools pools(o, dots(3, a_class), 1);
      Some both;
      std::set_intersection(pools.inner_pool(1).begin(), pools.inner_pool(1).end(), pools.outer_pool(1).begin(),
                            pools.outer_pool(1).end(), std::back_inserter(both));
      EXPECT_TRUE(both.empty());
      const std::int64_t fifth = std::max<std::int64_t>(1, a_class / 5);
      EXPECT_EQ(by_class(pools, pools.outer_pool(1)), Counts(3, fifth));
      const Counts training = by_class(pools, pools.inner_pool(1));
      EXPECT_EQ(training[0], a_class - fifth);
      EXPECT_GE(*std::min_element(training.begin(), training.end()), 1) << "no class is ever without pictures";
      if (proportion == 1.0) {
        EXPECT_EQ(pools.inner_pool(1).size() + pools.outer_pool(1).size(), static_cast<std::size_t>(3 * a_class));
      }
    }
}

TEST(PicturePools, ImbalancedValidationFollowsTheLawOfItsPhaseFromTheSamePictures) {
  LossTuningOptions o = of_e1();
  const Data data = dots(10, 6000);
  const PicturePools balanced(o, data, 1);
  o.validation_law = ValidationLaw::imbalanced;
  const PicturePools pools(o, data, 1);
  EXPECT_EQ(by_class(pools, pools.outer_pool(1)), (Counts{1000, 600, 360, 216, 130, 78, 47, 28, 17, 11}));
  EXPECT_EQ(by_class(pools, pools.outer_pool(301))[9], 388);  // 1000 · 0.9^9 = 387.4
  EXPECT_EQ(pools.inner_pool(1), balanced.inner_pool(1));
  Counts first(10, 5000);
  for (const std::int32_t p : pools.outer_pool(1)) EXPECT_EQ(p / 10, first[static_cast<std::size_t>(p % 10)]++);
}

TEST(PicturePools, TrainingOnAllIsTrainingOnBothPools) {
  for (const ValidationLaw law : {ValidationLaw::balanced, ValidationLaw::imbalanced}) {
    LossTuningOptions o = phased();
    o.validation_law = law;
    const PicturePools apart(o, phased_data(), 1);
    o.train_on = TrainOn::all;
    const PicturePools pools(o, phased_data(), 1);
    for (const Round t : {1, 10}) {
      Some all = apart.inner_pool(t);
      all.insert(all.end(), apart.outer_pool(t).begin(), apart.outer_pool(t).end());
      EXPECT_EQ(pools.inner_pool(t), sorted(all));
      EXPECT_EQ(pools.outer_pool(t), apart.outer_pool(t));
    }
  }
}

// ---- Batches --------------------------------------------------------------------------------------------------------

TEST(PicturePools, EveryPictureComesOnceAnEpochInAnOrderOfItsOwn) {
  LossTuningOptions o = phased();
  o.phase_rounds = 60;
  PicturePools pools(o, phased_data(), 1);
  for (const Round phase_start : {1, 61}) {
    Some inner, outer;
    for (Round t = phase_start; t < phase_start + 60; ++t) {
      const RoundPictures now = round_of(pools, t);
      ASSERT_EQ(now.inner, 7);
      ASSERT_EQ(now.outer(), 5);
      for (const std::int32_t p : inner_of(now)) inner.push_back(p);
      for (const std::int32_t p : outer_of(now)) outer.push_back(p);
    }
    for (const auto& [sequence, pool] :
         {std::pair{&inner, &pools.inner_pool(phase_start)}, std::pair{&outer, &pools.outer_pool(phase_start)}}) {
      std::set<Some> orders;
      const auto size = static_cast<std::ptrdiff_t>(pool->size());
      for (auto first = sequence->begin(); sequence->end() - first >= size; first += size) {
        EXPECT_EQ(sorted(Some(first, first + size)), *pool);
        EXPECT_TRUE(orders.insert(Some(first, first + size)).second) << "an order came twice";
      }
      EXPECT_GE(orders.size(), 5u);
    }
  }
}

TEST(PicturePools, APhaseBeginsWithAnEpochOfItsOwnInItsFirstRound) {
  PicturePools pools(phased(), phased_data(), 1);
  for (const Round t : {1, 9, 10, 18, 19, 1000}) EXPECT_EQ(pools.phase(t), t <= 9 ? 0 : 1);
  EXPECT_EQ(pools.phases(), 2);
  Some sequence;  // 24 + 20 + 16 + 13 = 73 pictures: ten rounds of seven, and three more
  for (Round t = 10; t <= 20; ++t)
    for (const std::int32_t p : inner_of(round_of(pools, t))) sequence.push_back(p);
  EXPECT_EQ(sorted(Some(sequence.begin(), sequence.begin() + 73)), pools.inner_pool(10));
}

TEST(PicturePools, APhaseDoesNotDependOnThePhasesBefore) {
  LossTuningOptions o = phased();
  PicturePools pools(o, phased_data(), 1);
  o.proportions = Numbers({0.9, 0.8});
  o.phase_rounds = 4;
  PicturePools other(o, phased_data(), 1);
  for (Round k = 0; k < 40; ++k) EXPECT_EQ(round_of(pools, 10 + k), round_of(other, 5 + k));
}

TEST(PicturePools, ABatchLargerThanThePoolGoesOnIntoTheNextEpochs) {
  LossTuningOptions o = phased();
  o.batch = 100;  // of 45
  PicturePools pools(o, phased_data(), 1);
  const Some now = inner_of(round_of(pools, 1)), next = inner_of(round_of(pools, 2));
  ASSERT_EQ(now.size(), 100u);
  EXPECT_EQ(sorted(Some(now.begin(), now.begin() + 45)), pools.inner_pool(1));
  EXPECT_EQ(sorted(Some(now.begin() + 45, now.begin() + 90)), pools.inner_pool(1));
  Some third(now.begin() + 90, now.end());
  third.insert(third.end(), next.begin(), next.begin() + 35);
  EXPECT_EQ(sorted(third), pools.inner_pool(1));
}

TEST(PicturePools, WithoutABatchARoundIsThePools) {
  LossTuningOptions o = phased();
  o.batch = o.validation_batch = 0;
  PicturePools pools(o, phased_data(), 1);
  for (const Round t : {1, 9, 10, 50}) {
    EXPECT_EQ(inner_of(round_of(pools, t)), pools.inner_pool(t));
    EXPECT_EQ(outer_of(round_of(pools, t)), pools.outer_pool(t));
  }
}

RC_GTEST_PROP(PicturePools, RoundsAskedForInAnyOrderAreTheSame, (std::uint64_t seed)) {
  LossTuningOptions o = phased();
  o.drift = PictureDrift::swap;
  o.period = 4;
  o.validation_law = seed % 2 ? ValidationLaw::imbalanced : ValidationLaw::balanced;
  o.train_on = seed / 2 % 2 ? TrainOn::all : TrainOn::train;
  PicturePools in_order(o, phased_data(), seed), any(o, phased_data(), seed);
  std::vector<RoundPictures> expected;
  std::vector<std::vector<double>> weight;
  for (Round t = 1; t <= 40; ++t) {
    expected.push_back(round_of(in_order, t));
    weight.push_back(in_order.class_weight(t));
  }
  Rng rng(seed);
  for (int k = 0; k < 60; ++k) {
    const auto i = rng.below(40);
    const Round t = static_cast<Round>(i) + 1;
    if (k % 2) RC_ASSERT(any.class_weight(t) == weight[i]);
    RC_ASSERT(round_of(any, t) == expected[i]);
  }
}

TEST(PicturePools, TheSeedIsTheStream) {
  PicturePools one(phased(), phased_data(), 1), same(phased(), phased_data(), 1), other(phased(), phased_data(), 2);
  EXPECT_EQ(round_of(one, 3), round_of(same, 3));
  EXPECT_FALSE(round_of(one, 3) == round_of(other, 3));
}

TEST(PicturePools, RoundsAllocateNothingOnceTheirVectorsHaveGrown) {
  if (!test::AllocationCounter::supported()) GTEST_SKIP();
  LossTuningOptions o = phased();
  o.drift = PictureDrift::swap;
  o.period = 3;
  PicturePools pools(o, phased_data(), 1);
  RoundPictures now;
  for (Round t = 1; t <= 60; ++t) {
    pools.of_round(t, now);
    (void)pools.class_weight(t);
  }
  const test::AllocationCounter allocations;
  for (Round t = 1; t <= 60; ++t) {
    pools.of_round(t, now);
    (void)pools.class_weight(t);
  }
  EXPECT_EQ(allocations.count(), 0u);
}

// ---- Weights --------------------------------------------------------------------------------------------------------

TEST(PicturePools, WeightsAreInverseToTheClassesPartsOfValidation) {
  LossTuningOptions o = of_e1();
  const Data data = dots(10, 6000);
  EXPECT_EQ(PicturePools(o, data, 1).class_weight(1), std::vector<double>(10, 10.0)) << "balanced: a mere factor";
  o.validation_law = ValidationLaw::imbalanced;
  PicturePools inverse(o, data, 1);
  o.weights = ClassWeights::normalised;
  PicturePools normalised(o, data, 1);
  o.weights = ClassWeights::none;
  EXPECT_EQ(PicturePools(o, data, 1).class_weight(1), std::vector<double>(10, 1.0));
  for (const Round t : {1, 101, 201, 301}) {
    const Counts count = by_class(inverse, inverse.outer_pool(t));
    const std::vector<double> u = inverse.class_weight(t), v = normalised.class_weight(t);
    for (std::size_t j = 0; j < 10; ++j) {
      EXPECT_DOUBLE_EQ(u[j] * static_cast<double>(count[j]), static_cast<double>(inverse.outer_pool(t).size()));
      EXPECT_NEAR(v[j] / v[0], u[j] / u[0], 1e-13 * u[j]);
    }
    EXPECT_NEAR(std::accumulate(v.begin(), v.end(), 0.0) / 10.0, 1.0, 1e-14);  // ten roundings of 1e-16 each, and sums
  }
  const double first = inverse.class_weight(1)[9], last = inverse.class_weight(301)[9];
  EXPECT_GT(first, last);
}

TEST(PicturePools, WeightsFollowTheirClassUnderANewName) {
  LossTuningOptions o = phased();
  o.validation_law = ValidationLaw::imbalanced;
  o.drift = PictureDrift::swap;
  o.period = 1;
  o.phase_rounds = 1000;
  PicturePools pools(o, phased_data(), 1);
  const std::vector<double> at_first = pools.class_weight(1);
  EXPECT_EQ(at_first, (std::vector<double>{12.0 / 6, 12.0 / 3, 12.0 / 2, 12.0 / 1}));
  for (Round t = 1; t <= 20; ++t)
    for (std::int32_t c = 0; c < 4; ++c)
      EXPECT_EQ(pools.class_weight(t)[static_cast<std::size_t>(pools.name_of(c, t))],
                at_first[static_cast<std::size_t>(c)]);
}

// ---- Drift ----------------------------------------------------------------------------------------------------------

TEST(PicturePools, SwapsArePermutationsOfTwoAfterEveryPeriodAndNeverElse) {
  for (const PictureDrift drift : {PictureDrift::none, PictureDrift::swap, PictureDrift::turn}) {
    LossTuningOptions o = phased();
    o.drift = drift;
    o.period = 5;
    PicturePools pools(o, phased_data(), 1);
    const auto names = [&](Round t) {
      Some all;
      for (std::int32_t c = 0; c < 4; ++c) all.push_back(pools.name_of(c, t));
      return all;
    };
    EXPECT_EQ(names(1), (Some{0, 1, 2, 3}));
    for (Round t = 1; t <= 60; ++t) {
      const Some now = names(t), next = names(t + 1);
      EXPECT_EQ(sorted(now), (Some{0, 1, 2, 3}));
      std::size_t changed = 0;
      for (std::size_t c = 0; c < 4; ++c) changed += now[c] != next[c] ? 1 : 0;
      EXPECT_EQ(changed, drift == PictureDrift::swap && t % 5 == 0 ? 2u : 0u) << "round " << t;
    }
  }
}

TEST(PicturePools, BatchesAndTestsHaveTheirRoundsNames) {
  LossTuningOptions o = phased();
  o.drift = PictureDrift::swap;
  o.period = 2;
  PicturePools pools(o, phased_data(), 1);
  for (Round t = 1; t <= 30; ++t) {
    const RoundPictures now = round_of(pools, t);
    for (std::size_t k = 0; k < now.picture.size(); ++k) {
      EXPECT_EQ(now.label[k], pools.name_of(now.picture[k] % 4, t));
      EXPECT_EQ(now.label[k], pools.label(now.picture[k], t));
    }
    for (std::int32_t p = 0; p < 60; ++p) EXPECT_EQ(pools.test_label(p, t), pools.name_of(p % 4, t));
  }
}

template <class S>
std::vector<S> written(const PicturePools& pools, std::int32_t picture, Round t) {
  std::vector<S> out(static_cast<std::size_t>(pools.side() * pools.side()));
  pools.write(pools.data().train, picture, t, out.data());
  return out;
}
PicturePools turning(double degrees, std::int64_t side = 8) {
  LossTuningOptions o;
  o.drift = PictureDrift::turn;
  o.degrees = degrees;
  o.period = 10;
  o.side = side;
  return {o, pictures_of(o, 3), 3};
}

TEST(PicturePools, APictureIsWrittenAsItsPixelsNormalised) {
  const struct {
    PictureData data;
    double mean, deviation;
  } sets[] = {{PictureData::generated, 0.5, 0.25},
              {PictureData::mnist, 0.1307, 0.3081},
              {PictureData::fashion_mnist, 0.2860, 0.3530}};
  const LossTuningOptions generated;
  const Data data = pictures_of(generated, 3);
  for (const auto& set : sets) {
    LossTuningOptions o;
    o.data = set.data;
    const PicturePools pools(o, data, 1);
    const std::vector<double> fine = written<double>(pools, 5, 17);
    const std::vector<float> coarse = written<float>(pools, 5, 17);
    for (std::size_t i = 0; i < 64; ++i) {
      EXPECT_DOUBLE_EQ(fine[i], (data->train.pixels[5 * 64 + i] / 255.0 - set.mean) / set.deviation);
      EXPECT_EQ(coarse[i], static_cast<float>(fine[i]));
    }
    std::vector<double> test(64);
    pools.write(data->test, 2, 1, test.data());
    EXPECT_DOUBLE_EQ(test[9], (data->test.pixels[2 * 64 + 9] / 255.0 - set.mean) / set.deviation);
  }
}

TEST(PicturePools, ATurnBy0OrByAWholeTurnChangesNothing) {
  for (const double degrees : {0.0, 360.0, -360.0, 120.0, 15.0}) {
    const PicturePools pools = turning(degrees);
    const Round whole = degrees == 15.0 ? 24 : degrees == 120.0 ? 3 : 1;  // periods
    for (const std::int32_t picture : {0, 7}) {
      EXPECT_EQ(written<double>(pools, picture, 10 * whole + 1), written<double>(pools, picture, 1)) << degrees;
      if (degrees == 15.0) {
        EXPECT_NE(written<double>(pools, picture, 11), written<double>(pools, picture, 1));
        EXPECT_EQ(written<double>(pools, picture, 10), written<double>(pools, picture, 1)) << "the period is not over";
      }
    }
  }
}

// Sources lie 1e-15 off the pixels' places (cos 90° = 6e-17, places up to 8), and neighbours differ by at most 1/0.25.
TEST(PicturePools, AQuarterTurnBringsTheRightEdgeToTheTop) {
  for (const Index side : {7, 8}) {
    const PicturePools pools = turning(90.0, side);
    const std::vector<double> before = written<double>(pools, 4, 1), after = written<double>(pools, 4, 11);
    for (Index row = 0; row < side; ++row)
      for (Index column = 0; column < side; ++column)
        EXPECT_NEAR(after[static_cast<std::size_t>(row * side + column)],
                    before[static_cast<std::size_t>(column * side + side - 1 - row)], 1e-13);
  }
}

TEST(PicturePools, WhatATurnUncoversIsBackgroundAndAPictureOfOneGreyStaysSoInTheMiddle) {
  LabelledPictures flat;
  flat.classes = 2;
  for (Pictures* p : {&flat.train, &flat.test}) {
    p->height = p->width = 9;
    p->label = {0, 0, 1, 1};
    p->pixels.assign(4 * 81, 255);
  }
  LossTuningOptions o;
  o.drift = PictureDrift::turn;
  o.degrees = 45.0;
  o.period = 1;
  const PicturePools pools(o, std::make_shared<const LabelledPictures>(flat), 1);
  const std::vector<double> out = written<double>(pools, 0, 2);
  EXPECT_DOUBLE_EQ(out[0], -2.0);  // (0 − 0.5)/0.25: 5.7 from the centre on the axis
  for (const std::size_t i : {40u, 39u, 31u}) EXPECT_NEAR(out[i], 2.0, 1e-14);  // weights that sum to 1
  for (const double v : out) EXPECT_TRUE(v >= -2.0 && v <= 2.0 + 1e-14);
  EXPECT_DOUBLE_EQ(pools.degrees(2), 45.0);
}

// ---- Mistakes of configs --------------------------------------------------------------------------------------------

template <class Change>
std::string refused(Change&& change, const Data& data = phased_data()) {
  LossTuningOptions o = phased();
  change(o);
  try {
    (void)PicturePools(o, data, 1);
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}
using Options = LossTuningOptions;
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(PicturePools, ProportionsOutsideTheirRangeAreRefusedByName) {
  for (const double bad : {0.0, -0.5, 1.1, infinity, std::nan("")})
    EXPECT_EQ(refused([&](Options& o) { o.proportions = Numbers({0.5, bad}); }),
              fmt::format("problem.proportions: got {}, expected numbers in (0, 1]", bad));
  EXPECT_EQ(refused([](Options& o) { o.proportions = Numbers(std::vector<double>(101, 0.5)); }),
            "problem.proportions: got 101 numbers, expected one for each of 1 to 100 phases");
  EXPECT_EQ(refused([](Options& o) { o.proportions = Numbers(std::vector<double>{}); }),
            "problem.proportions: got 0 numbers, expected one for each of 1 to 100 phases");
}

TEST(PicturePools, MorePicturesThanThereAreAreRefusedByName) {
  EXPECT_EQ(refused([](Options& o) { o.validation = 30; }),
            "problem.validation: got 30 of the 30 pictures of class 0, expected fewer: some are to train on");
  EXPECT_EQ(refused([](Options& o) { o.max = 25; }),
            "problem.largest: got 25, hence 25 pictures of class 0 at proportion 0.5, expected at most the 24 that "
            "validation leaves");
  EXPECT_EQ(refused([](Options& o) { o.max = 24, o.validation = 6; }), "accepted");
  EXPECT_EQ(refused([](Options& o) { o.period = 0; }), "problem.period: got 0, expected a finite number ≥ 1");
}

TEST(PicturePools, WidthsAreWholeNumbersAnd0AloneIsNone) {
  EXPECT_EQ(widths_of(0.0), std::vector<Index>{});
  EXPECT_EQ(widths_of(Numbers(std::vector<double>{0.0})), std::vector<Index>{});
  EXPECT_EQ(widths_of(Numbers(std::vector<double>{})), std::vector<Index>{});
  EXPECT_EQ(widths_of(64.0), std::vector<Index>{64});
  EXPECT_EQ(widths_of(Numbers({1.0, 1024.0})), (std::vector<Index>{1, 1024}));
  const std::string expected = ", expected whole numbers in [1, 1024], or 0 alone for none";
  EXPECT_EQ(refused([](Options& o) { o.channels = Numbers({4.0, 0.0}); }), "problem.channels: got 0" + expected);
  EXPECT_EQ(refused([](Options& o) { o.channels = 2.5; }), "problem.channels: got 2.5" + expected);
  EXPECT_EQ(refused([](Options& o) { o.hidden = 1025.0; }), "problem.hidden: got 1025" + expected);
  EXPECT_EQ(refused([](Options& o) { o.hidden = -1.0; }), "problem.hidden: got -1" + expected);
  EXPECT_EQ(refused([](Options& o) { o.hidden = infinity; }), "problem.hidden: got inf" + expected);
  EXPECT_EQ(refused([](Options& o) { o.hidden = std::nan(""); }), "problem.hidden: got nan" + expected);
  EXPECT_EQ(refused([](Options& o) { o.hidden = Numbers(std::vector<double>(9, 4.0)); }),
            "problem.hidden: got 9 numbers, expected at most 8");
}

TEST(PicturePools, EveryBlockNeedsASideToHalve) {
  const auto blocks = [](std::size_t count, Index side) -> std::string {
    LossTuningOptions o;
    o.channels = Numbers(std::vector<double>(count, 4.0));
    try {
      check_network(o, side);
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(blocks(4, 28), "accepted");  // 28, 14, 7, 3, 1
  EXPECT_EQ(blocks(3, 8), "accepted");
  EXPECT_EQ(blocks(5, 28), "problem.channels: got 5 blocks, expected at most 4: each halves the side, 28 at first");
  EXPECT_EQ(blocks(4, 15), "problem.channels: got 4 blocks, expected at most 3: each halves the side, 15 at first");
  EXPECT_EQ(refused([](Options& o) { o.channels = 4.0; }),
            "problem.channels: got 1 blocks, expected at most 0: each halves the side, 1 at first");
}

TEST(PicturePools, DataOfAnotherFormAreRefused) {
  const auto changed = [](auto&& change) {
    LabelledPictures all = *phased_data();
    change(all);
    return refused([](Options&) {}, std::make_shared<const LabelledPictures>(all));
  };
  EXPECT_EQ(changed([](auto& all) { all.train.label[3] = 4; }), "training pictures: got label 4, expected less than 4");
  EXPECT_EQ(changed([](auto& all) { all.test.width = 2; }),
            "test pictures: got 1 by 2, expected all to be squares of one size");
  EXPECT_EQ(changed([](auto& all) { all.test.pixels.pop_back(); }),
            "test pictures: got 59 pixels, expected 1 for each of 60 labels");
  EXPECT_EQ(changed([](auto& all) { all.classes = 1; }), "pictures: got 1 classes, expected at least 2");
  EXPECT_EQ(changed([](auto& all) { all.classes = 5; }),
            "problem.validation: got 6 of the 0 pictures of class 4, expected fewer: some are to train on");
}

// ---- Generated pictures ---------------------------------------------------------------------------------------------

TEST(PicturePools, GeneratedPicturesAreOfTheStatedFormAndOfTheirSeed) {
  for (const std::int64_t side : {2, 3, 8, 28}) {
    LossTuningOptions o;
    o.side = side;
    o.pictures = 11;
    o.classes = 5;
    const LabelledPictures all = generate_pictures(o, 1);
    EXPECT_EQ(all.classes, 5);
    EXPECT_EQ(all.train.count(), 55);
    EXPECT_EQ(all.test.count(), 25);
    for (const Pictures* p : {&all.train, &all.test}) {
      EXPECT_TRUE(p->height == side && p->width == side);
      EXPECT_EQ(p->pixels.size(), p->label.size() * static_cast<std::size_t>(side * side));
      for (std::size_t i = 0; i < p->label.size(); ++i) EXPECT_EQ(p->label[i], i % 5);
    }
    EXPECT_EQ(generate_pictures(o, 1).train.pixels, all.train.pixels);
    EXPECT_NE(generate_pictures(o, 2).train.pixels, all.train.pixels);
  }
  LossTuningOptions o;
  o.pictures = 10'000'000;
  EXPECT_THROW((void)generate_pictures(o, 1), ConfigError);
}

// Over 256 patterns of 16 uniform knots the mean is off by 0.29/√4096 times less than 2, that is 0.01; five of that are
// 0.05, or 0.2 after normalising. The deviation is not meant to be exact.
TEST(PicturePools, GeneratedPicturesAreAboutStandardOnceNormalised) {
  LossTuningOptions o;
  o.classes = 256;
  o.pictures = 2;
  const PicturePools pools(o, pictures_of(o, 1), 1);
  double sum = 0.0, squares = 0.0, count = 0.0;
  for (std::int32_t p = 0; p < 512; ++p)
    for (const double v : written<double>(pools, p, 1)) {
      sum += v;
      squares += v * v;
      count += 1.0;
    }
  EXPECT_NEAR(sum / count, 0.0, 0.2);
  EXPECT_NEAR(std::sqrt(squares / count), 1.0, 0.2);
}

// The nearest of the classes' means, the least that a network can learn.
TEST(PicturePools, GeneratedClassesCanBeToldApart) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const LossTuningOptions o;
    const LabelledPictures all = generate_pictures(o, seed);
    std::vector<std::vector<double>> mean(3, std::vector<double>(64));
    for (std::size_t i = 0; i < all.train.label.size(); ++i)
      for (std::size_t k = 0; k < 64; ++k) mean[all.train.label[i]][k] += all.train.pixels[64 * i + k] / 24.0;
    for (std::size_t i = 0; i < all.test.label.size(); ++i) {
      std::vector<double> distance(3);
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t k = 0; k < 64; ++k) distance[c] += std::pow(all.test.pixels[64 * i + k] - mean[c][k], 2.0);
      EXPECT_EQ(std::min_element(distance.begin(), distance.end()) - distance.begin(), all.test.label[i]);
    }
  }
}

// ---- Pictures of a set ----------------------------------------------------------------------------------------------

class PictureSets : public testing::Test {
 protected:
  PictureSets() {
    if (const char* before = std::getenv("OBOLUS_DATA")) before_ = before;
    setenv("OBOLUS_DATA", folder_.path().c_str(), 1);
  }
  ~PictureSets() override {
    if (before_) setenv("OBOLUS_DATA", before_->c_str(), 1);
    else unsetenv("OBOLUS_DATA");
  }
  // Two pictures of two by two for either part.
  void bring(const std::string& set) const {
    std::filesystem::create_directory(folder_.file(set));
    const std::string two{0, 0, 0, 2};
    for (const std::string part : {"train", "t10k"}) {
      folder_.write(fmt::format("{}/{}-images-idx3-ubyte", set, part),
                    fmt::format("{0}{1}{1}{1}12345678", std::string{0, 0, 8, 3}, two));
      folder_.write(fmt::format("{}/{}-labels-idx1-ubyte", set, part), std::string{0, 0, 8, 1} + two + "\x03\x07");
    }
  }
  static LossTuningOptions of(PictureData data) {
    LossTuningOptions o;
    o.data = data;
    return o;
  }

  test::TemporaryFolder folder_;
  std::optional<std::string> before_;
};

TEST_F(PictureSets, ThoseThatWereNotFetchedAreAskedForByTheirName) {
  for (const PictureData data : {PictureData::mnist, PictureData::fashion_mnist}) {
    try {
      (void)pictures_of(of(data), 1);
      ADD_FAILURE() << "read from an empty folder";
    } catch (const DataError& e) {
      EXPECT_NE(std::string(e.what()).find(fmt::format("obolus data get {}", name_of(data))), std::string::npos);
    }
  }
}

TEST_F(PictureSets, AreReadOnceForAllThatUseThem) {
  bring("mnist");
  bring("fashion-mnist");
  const Data one = pictures_of(of(PictureData::mnist), 1), two = pictures_of(of(PictureData::mnist), 2);
  EXPECT_EQ(one, two);
  EXPECT_EQ(one->train.label, (std::vector<std::uint8_t>{3, 7}));
  EXPECT_EQ(one->classes, 10);
  EXPECT_NE(one, pictures_of(of(PictureData::fashion_mnist), 1));
}

}  // namespace
