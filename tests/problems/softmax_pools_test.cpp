#include "obolus/problems/softmax_pools.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "obolus/core/error.hpp"

namespace {

using namespace obolus;
using Rows = std::vector<std::int32_t>;

SoftmaxOptions some(std::int64_t documents = 60, std::int64_t batch = 7) {
  SoftmaxOptions o;
  o.documents = documents;
  o.features = 12;
  o.classes = 4;
  o.batch = batch;
  return o;
}
SoftmaxPools pools_of(const SoftmaxOptions& o, std::uint64_t seed = 1) {
  return {o, std::make_shared<const LabelledRows>(generate_rows(o, seed)), seed};
}
RoundRows round_of(SoftmaxPools& pools, Round t) {
  RoundRows rows;
  pools.of_round(t, rows);
  return rows;
}
Rows inner_of(const RoundRows& r) { return {r.row.begin(), r.row.begin() + r.inner}; }
Rows outer_of(const RoundRows& r) { return {r.row.begin() + r.inner, r.row.end()}; }
Rows sorted(Rows rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}
bool same(const RoundRows& a, const RoundRows& b) { return a.row == b.row && a.label == b.label && a.inner == b.inner; }

// ---- Batches --------------------------------------------------------------------------------------------------------

TEST(SoftmaxPools, TheSplitIsDisjointCompleteAndHalfOfEveryClass) {
  for (const std::int64_t documents : {4, 60, 61, 63}) {
    const SoftmaxOptions o = some(documents);
    const SoftmaxPools pools = pools_of(o);
    Rows all = pools.inner_pool();
    all.insert(all.end(), pools.outer_pool().begin(), pools.outer_pool().end());
    Rows expected(static_cast<std::size_t>(documents));
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(sorted(all), expected);
    std::array<std::int64_t, 4> surplus{};
    for (const std::int32_t row : pools.inner_pool())
      ++surplus[static_cast<std::size_t>(pools.data().train_label[static_cast<std::size_t>(row)])];
    for (const std::int32_t row : pools.outer_pool())
      --surplus[static_cast<std::size_t>(pools.data().train_label[static_cast<std::size_t>(row)])];
    for (const std::int64_t s : surplus) EXPECT_LE(std::abs(s), 1) << documents;
  }
}

TEST(SoftmaxPools, SharedAndJudgedRoundsHaveOnePool) {
  for (const Feed feed : {Feed::shared, Feed::judge}) {
    SoftmaxOptions o = some();
    o.feed = feed;
    const SoftmaxPools pools = pools_of(o);
    EXPECT_EQ(pools.inner_pool().size(), 60u);
    EXPECT_EQ(pools.inner_pool(), pools.outer_pool());
  }
}

// 7 rows a round of pools of 30 and 60: epochs end in the middle of rounds.
TEST(SoftmaxPools, EveryRowComesOnceAnEpochInAnOrderOfItsOwn) {
  for (const Feed feed : {Feed::split, Feed::shared}) {
    SoftmaxOptions o = some();
    o.feed = feed;
    SoftmaxPools pools = pools_of(o);
    Rows inner, outer;
    for (Round t = 1; t <= 60; ++t) {
      const RoundRows now = round_of(pools, t);
      ASSERT_EQ(now.inner, 7);
      ASSERT_EQ(now.outer(), 7);
      for (const std::int32_t row : inner_of(now)) inner.push_back(row);
      for (const std::int32_t row : outer_of(now)) outer.push_back(row);
    }
    for (const auto& [sequence, pool] :
         {std::pair{&inner, &pools.inner_pool()}, std::pair{&outer, &pools.outer_pool()}}) {
      std::set<Rows> orders;
      const std::size_t size = pool->size();
      for (std::size_t start = 0; start + size <= sequence->size(); start += size) {
        const Rows epoch(sequence->begin() + static_cast<std::ptrdiff_t>(start),
                         sequence->begin() + static_cast<std::ptrdiff_t>(start + size));
        EXPECT_EQ(sorted(epoch), *pool);
        EXPECT_TRUE(orders.insert(epoch).second) << "an order came twice";
      }
      EXPECT_GE(orders.size(), 7u);
    }
    EXPECT_NE(inner, outer);
  }
}

TEST(SoftmaxPools, WithoutABatchARoundIsThePools) {
  for (const Feed feed : {Feed::split, Feed::shared, Feed::judge}) {
    SoftmaxOptions o = some(60, 0);
    o.feed = feed;
    SoftmaxPools pools = pools_of(o);
    const RoundRows now = round_of(pools, 5);
    EXPECT_EQ(inner_of(now), pools.inner_pool());
    EXPECT_EQ(outer_of(now), pools.outer_pool());
  }
}

RC_GTEST_PROP(SoftmaxPools, RoundsAskedForInAnyOrderAreTheSame, (std::uint64_t seed)) {
  SoftmaxOptions o = some();
  const Feed feeds[] = {Feed::split, Feed::shared, Feed::judge};
  const LabelDrift drifts[] = {LabelDrift::none, LabelDrift::swap, LabelDrift::rotate};
  o.feed = feeds[seed % 3];
  o.drift = drifts[seed / 3 % 3];
  o.period = 3;
  o.replay = 5;
  o.replay_window = 150;
  o.noise = Numbers({0.2, 0.5});
  o.noise_rounds = Numbers({2, 11});
  SoftmaxPools in_order = pools_of(o, seed), any = pools_of(o, seed);
  std::vector<RoundRows> expected;
  for (Round t = 1; t <= 40; ++t) expected.push_back(round_of(in_order, t));
  Rng rng(seed);
  for (int k = 0; k < 60; ++k) {
    const auto t = rng.below(40);
    RC_ASSERT(same(round_of(any, static_cast<Round>(t) + 1), expected[t]));
  }
}

TEST(SoftmaxPools, TheSeedIsTheStream) {
  SoftmaxPools one = pools_of(some(), 1), same_seed = pools_of(some(), 1), other = pools_of(some(), 2);
  EXPECT_TRUE(same(round_of(one, 3), round_of(same_seed, 3)));
  EXPECT_FALSE(same(round_of(one, 3), round_of(other, 3)));
}

TEST(SoftmaxPools, DrawsDependOnTheirGeneratorOnlyAndComeFromTheirPools) {
  SoftmaxPools pools = pools_of(some()), other = pools_of(some());
  (void)round_of(other, 17);
  Rng one(5), two(5), three(6);
  RoundRows a, b, c;
  pools.draw(4, {.outer = 300, .inner = 200}, one, a);
  other.draw(4, {.outer = 300, .inner = 200}, two, b);
  other.draw(4, {.outer = 300, .inner = 200}, three, c);
  EXPECT_TRUE(same(a, b));
  EXPECT_FALSE(same(a, c));
  EXPECT_EQ(one, two);
  EXPECT_EQ(a.inner, 200);
  EXPECT_EQ(a.outer(), 300);
  const auto within = [](const Rows& rows, const Rows& pool) {
    return std::all_of(rows.begin(), rows.end(),
                       [&](std::int32_t r) { return std::binary_search(pool.begin(), pool.end(), r); });
  };
  EXPECT_TRUE(within(inner_of(a), pools.inner_pool()));
  EXPECT_TRUE(within(outer_of(a), pools.outer_pool()));
  // Each of 30 rows is missed by 200 draws with probability (29/30)^200 = 0.0011, by 300 with 4e-5.
  EXPECT_GE(std::set<std::int32_t>(a.row.begin(), a.row.begin() + 200).size(), 28u);
}

// ---- Labels ---------------------------------------------------------------------------------------------------------

// 4,000 labels, each wrong with probability q: a deviation of √(q(1 − q)/4000) < 0.008, five of which are 0.04.
TEST(SoftmaxPools, TheStatedPartOfLabelsIsWrongAndAlwaysAnotherClass) {
  for (const double part : {0.0, 0.1, 0.5, 1.0}) {
    SoftmaxOptions o = some(4000);
    o.noise = part;
    SoftmaxPools pools = pools_of(o);
    std::array<int, 4> mistaken{};
    int wrong = 0;
    for (std::int32_t row = 0; row < 4000; ++row) {
      const std::int32_t given = pools.label(row, 1), truth = pools.data().train_label[static_cast<std::size_t>(row)];
      ASSERT_TRUE(given >= 0 && given < 4);
      ASSERT_EQ(pools.clean_label(row, 1), truth);
      if (given == truth) continue;
      ++wrong;
      ++mistaken[static_cast<std::size_t>((given - truth + 4) % 4)];
    }
    EXPECT_NEAR(wrong / 4000.0, part, part == 0.0 || part == 1.0 ? 0.0 : 0.04);
    for (int k = 1; k < 4; ++k)
      EXPECT_NEAR(mistaken[static_cast<std::size_t>(k)] / 4000.0, part / 3, 0.04) << "each other class alike";
    EXPECT_EQ(pools.noise(1), part);
  }
}

TEST(SoftmaxPools, NoiseComesInItsRoundsAndIsNestedAsItGrows) {
  SoftmaxOptions o = some(500);
  o.noise = Numbers({0.1, 0.4, 0.2});
  o.noise_rounds = Numbers({3, 10, 20});
  SoftmaxPools pools = pools_of(o);
  const auto wrong_in = [&](Round t) {
    std::map<std::int32_t, std::int32_t> wrong;
    for (std::int32_t row = 0; row < 500; ++row)
      if (pools.label(row, t) != pools.clean_label(row, t)) wrong[row] = pools.label(row, t);
    return wrong;
  };
  const auto includes = [](const auto& large, const auto& little) {
    return std::all_of(little.begin(), little.end(), [&](const auto& entry) {
      const auto found = large.find(entry.first);
      return found != large.end() && found->second == entry.second;
    });
  };
  EXPECT_TRUE(wrong_in(1).empty() && wrong_in(2).empty());
  EXPECT_EQ(wrong_in(3), wrong_in(9));
  EXPECT_EQ(wrong_in(10), wrong_in(19));
  EXPECT_EQ(wrong_in(20), wrong_in(1'000'000));
  EXPECT_TRUE(includes(wrong_in(10), wrong_in(3)) && includes(wrong_in(10), wrong_in(20)) &&
              includes(wrong_in(20), wrong_in(3)));
  EXPECT_LT(wrong_in(3).size(), wrong_in(20).size());
  EXPECT_LT(wrong_in(20).size(), wrong_in(10).size());
  const double noises[] = {pools.noise(2), pools.noise(3), pools.noise(10), pools.noise(20)};
  EXPECT_EQ(noises[0], 0.0);
  EXPECT_EQ(noises[1], 0.1);
  EXPECT_EQ(noises[2], 0.4);
  EXPECT_EQ(noises[3], 0.2);
}

TEST(SoftmaxPools, TestLabelsAreClean) {
  SoftmaxOptions o = some(200);
  o.noise = 1.0;
  SoftmaxPools pools = pools_of(o);
  for (std::int32_t row = 0; row < 100; ++row)
    EXPECT_EQ(pools.test_label(row, 9), pools.data().test_label[static_cast<std::size_t>(row)]);
}

// What a round calls each class, read off rows of known classes: 0, 1, 2, 3, 0, …
Rows names_in(SoftmaxPools& pools, Round t) {
  Rows names(4, -1);
  for (std::int32_t row = 0; row < 8; ++row) {
    std::int32_t& name = names[static_cast<std::size_t>(pools.data().train_label[static_cast<std::size_t>(row)])];
    EXPECT_TRUE(name == -1 || name == pools.clean_label(row, t)) << "two rows of a class, two names";
    name = pools.clean_label(row, t);
    EXPECT_EQ(pools.test_label(row, t), pools.clean_label(row, t)) << "tests follow the drift; their classes go alike";
  }
  return names;
}
TEST(SoftmaxPools, NamesArePermutationsThatChangeAfterEveryPeriodAndNeverElse) {
  for (const LabelDrift drift : {LabelDrift::none, LabelDrift::swap, LabelDrift::rotate}) {
    SoftmaxOptions o = some();
    o.drift = drift;
    o.period = 5;
    SoftmaxPools pools = pools_of(o);
    EXPECT_EQ(names_in(pools, 1), (Rows{0, 1, 2, 3}));
    for (Round t = 1; t <= 60; ++t) {
      const Rows now = names_in(pools, t), next = names_in(pools, t + 1);
      EXPECT_EQ(sorted(now), (Rows{0, 1, 2, 3}));
      std::size_t changed = 0;
      for (std::size_t c = 0; c < 4; ++c) changed += now[c] != next[c] ? 1 : 0;
      const std::size_t expected = drift == LabelDrift::none || t % 5 != 0 ? 0 : drift == LabelDrift::swap ? 2 : 4;
      EXPECT_EQ(changed, expected) << name_of(drift) << ", round " << t;
      if (drift == LabelDrift::rotate && t % 5 == 0) {
        for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(next[c], (now[c] + 1) % 4);
      }
    }
  }
}

TEST(SoftmaxPools, AWrongLabelStaysWrongUnderAnyNames) {
  SoftmaxOptions o = some();
  o.noise = 0.5;
  o.drift = LabelDrift::swap;
  o.period = 1;
  SoftmaxPools pools = pools_of(o);
  for (std::int32_t row = 0; row < 60; ++row) {
    const bool wrong = pools.label(row, 1) != pools.clean_label(row, 1);
    for (Round t = 2; t <= 10; ++t) EXPECT_EQ(pools.label(row, t) != pools.clean_label(row, t), wrong);
  }
}

TEST(SoftmaxPools, ABatchHasItsRoundsLabels) {
  SoftmaxOptions o = some();
  o.noise = 0.3;
  o.drift = LabelDrift::rotate;
  o.period = 2;
  SoftmaxPools pools = pools_of(o);
  for (Round t = 1; t <= 10; ++t) {
    const RoundRows now = round_of(pools, t);
    for (std::size_t r = 0; r < now.row.size(); ++r) EXPECT_EQ(now.label[r], pools.label(now.row[r], t));
  }
}

// ---- Judge, then train ----------------------------------------------------------------------------------------------

SoftmaxOptions judging() {
  SoftmaxOptions o = some(60, 7);
  o.feed = Feed::judge;
  o.replay = 9;
  o.replay_window = 40;
  o.noise = Numbers({0.1, 0.6});
  o.noise_rounds = Numbers({1, 15});
  o.drift = LabelDrift::rotate;
  o.period = 4;
  return o;
}
TEST(SoftmaxPools, WhatIsJudgedInARoundIsTrainedOnInTheNextUnderTheSameLabels) {
  SoftmaxPools pools = pools_of(judging());
  EXPECT_EQ(round_of(pools, 1).inner, 0) << "nothing to train on yet";
  EXPECT_EQ(round_of(pools, 2).inner, 7) << "nothing to replay yet";
  for (Round t = 1; t <= 40; ++t) {
    const RoundRows now = round_of(pools, t), next = round_of(pools, t + 1);
    ASSERT_EQ(now.outer(), 7);
    ASSERT_EQ(next.inner, t == 1 ? 7 : 16);
    for (std::size_t r = 0; r < 7; ++r) {
      EXPECT_EQ(next.row[r], now.row[static_cast<std::size_t>(now.inner) + r]);
      EXPECT_EQ(next.label[r], now.label[static_cast<std::size_t>(now.inner) + r]);
    }
  }
}
TEST(SoftmaxPools, ReplayedRowsAreOfTheWindowWithTheLabelsTheyCameWith) {
  SoftmaxPools pools = pools_of(judging());
  std::vector<std::pair<std::int32_t, std::int32_t>> judged;  // rows and labels, in the order they came
  std::set<std::size_t> ages;
  for (Round t = 1; t <= 60; ++t) {
    const RoundRows now = round_of(pools, t);
    const std::size_t window = std::min<std::size_t>(40, judged.size());
    for (std::size_t r = 7; r < static_cast<std::size_t>(now.inner); ++r) {
      const auto found = std::find(judged.end() - static_cast<std::ptrdiff_t>(window), judged.end(),
                                   std::pair{now.row[r], now.label[r]});
      ASSERT_NE(found, judged.end()) << "round " << t;
      ages.insert(static_cast<std::size_t>(judged.end() - found));
    }
    for (auto r = static_cast<std::size_t>(now.inner); r < now.row.size(); ++r)
      judged.emplace_back(now.row[r], now.label[r]);
  }
  EXPECT_EQ(*ages.rbegin(), 40u);  // 522 draws from 40 places: one is missed with probability 2e-6
  EXPECT_EQ(*ages.begin(), 1u);
}

TEST(SoftmaxPools, JudgedRowsComeOnceAnEpoch) {
  SoftmaxPools pools = pools_of(judging());
  Rows sequence;
  for (Round t = 1; t <= 60; ++t)
    for (const std::int32_t row : outer_of(round_of(pools, t))) sequence.push_back(row);
  for (std::ptrdiff_t start = 0; start + 60 <= static_cast<std::ptrdiff_t>(sequence.size()); start += 60)
    EXPECT_EQ(sorted(Rows(sequence.begin() + start, sequence.begin() + start + 60)), pools.inner_pool());
}

// ---- Mistakes of configs --------------------------------------------------------------------------------------------

std::string refused(const Numbers& noise, const Numbers& rounds) {
  SoftmaxOptions o = some();
  o.noise = noise;
  o.noise_rounds = rounds;
  try {
    (void)pools_of(o);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}
TEST(SoftmaxPools, NoiseThatDoesNotFitItsRoundsIsRefusedByName) {
  EXPECT_NE(refused(Numbers({0.1, 0.2}), 1.0).find("problem.noise: got 2 numbers and 1 in noise_rounds"),
            std::string::npos);
  EXPECT_NE(refused(0.1, Numbers({1, 5})).find("problem.noise"), std::string::npos);
  EXPECT_NE(refused(Numbers({0.1, 0.2}), Numbers({5, 5})).find("problem.noise_rounds: got 5"), std::string::npos);
  EXPECT_NE(refused(Numbers({0.1, 0.2}), Numbers({5, 3})).find("problem.noise_rounds: got 3"), std::string::npos);
  EXPECT_NE(refused(0.1, 0.0).find("problem.noise_rounds"), std::string::npos);
  EXPECT_NE(refused(1.5, 1.0).find("problem.noise: got 1.5"), std::string::npos);
  EXPECT_NE(refused(-0.1, 1.0).find("problem.noise: got -0.1"), std::string::npos);
  EXPECT_NE(refused(std::nan(""), 1.0).find("problem.noise"), std::string::npos);
  EXPECT_EQ(refused(Numbers({0.1, 0.2}), Numbers({1, 5})), "");
}

// ---- Generated rows -------------------------------------------------------------------------------------------------

TEST(SoftmaxPools, GeneratedRowsAreSparseAscendingAndOfLengthOne) {
  for (const std::int64_t features : {2, 12, 500}) {
    SoftmaxOptions o = some();
    o.features = features;
    const LabelledRows data = generate_rows(o, 3);
    EXPECT_EQ(data.train.rows(), 60);
    EXPECT_EQ(data.test.rows(), 30);
    EXPECT_EQ(data.classes, 4);
    for (const SparseRows* rows : {&data.train, &data.test}) {
      EXPECT_EQ(rows->columns, features);
      for (std::size_t i = 0; i + 1 < rows->start.size(); ++i) {
        double squares = 0.0;
        ASSERT_LT(rows->start[i], rows->start[i + 1]) << "no row is empty";
        for (auto k = static_cast<std::size_t>(rows->start[i]); k < static_cast<std::size_t>(rows->start[i + 1]); ++k) {
          squares += double(rows->value[k]) * double(rows->value[k]);
          ASSERT_TRUE(rows->column[k] >= 0 && rows->column[k] < features && rows->value[k] > 0.0f);
          if (k > static_cast<std::size_t>(rows->start[i])) {
            ASSERT_LT(rows->column[k - 1], rows->column[k]);
          }
        }
        EXPECT_NEAR(squares, 1.0, 1e-6);  // each value is rounded by 6e-8 of itself
      }
    }
  }
}

}  // namespace
