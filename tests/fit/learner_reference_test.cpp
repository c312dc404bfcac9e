#include <gtest/gtest.h>

#include <limits>

#include "fit/learner/learner.hpp"
#include "obolus/core/to_size.hpp"
#include "tests/fit/learner_cases.hpp"
#include "tests/fit/slow_learner.hpp"

namespace obolus {
namespace {

using test::LearnerCase;
using test::LearnerRows;
using test::SlowLearner;

constexpr int batch = 7;

// The largest differences so far, each relative to the largest number of its kind.
struct Difference {
  double max = 0;
  void add(double got, double expected, double size) { max = std::max(max, std::abs(got - expected) / size); }
};

double max_abs(const SlowLearner::Matrix& m) {
  double max = 1e-300;
  for (const auto& row : m)
    for (const double n : row) max = std::max(max, std::abs(n));
  return max;
}

// Weights and all derivatives, the constant's with them. A derivative is kept as a sum of itself and a multiple of
// the weights (weights.hpp): it rounds like the larger of the two.
template <class S>
void compare_weights(const fit::Learner<S>& fast, const SlowLearner& slow, Difference& difference) {
  const auto& list = fast.hyperparameters().list;
  const auto compare = [&](int part, const SlowLearner::Matrix& expected) {
    const double size = max_abs(expected) + max_abs(slow.z());
    const auto outputs = static_cast<int>(slow.outputs());
    for (int c = 0; c < outputs; ++c) {
      for (int i = 0; i < LearnerRows::features; ++i)
        difference.add(fast.weights().value(i, part, c), expected[to_size(i)][to_size(c)], size);
      difference.add(static_cast<double>(fast.weights().constant()[to_size(part * outputs + c)]),
                     expected.back()[to_size(c)], size);
    }
  };
  compare(0, slow.z());
  int part = 0;
  for (std::size_t j = 0; j < list.size(); ++j)
    if (list[j].tuned && list[j].kind != fit::Tunable::temperature) compare(++part, slow.s(j));
}

struct Gap {
  Difference weights, rest, ratios;
  int limited = 0, guarded = 0;
};

template <class S>
Gap run(const LearnerCase& c, const fit::LearnerOptions& o, const fit::Hyperparameters& h, int rounds) {
  auto fast = test::learner_of<S>(c, o, h);
  SlowLearner slow(o, h, c.classes, LearnerRows::groups(c.groups), 5);
  LearnerRows rows(c, 11);
  Gap result;
  double steepest = 1e-300;
  for (int t = 0; t < rounds; ++t) {
    for (int r = 0; r < batch; ++r) {
      const fit::LearnerRow row = rows.next();
      slow.add(row);
      fast.add(fit::LearnerRow(row));
    }
    fast.train();
    slow.train();
    compare_weights(fast, slow, result.weights);
    result.rest.add(fast.outer_loss(), slow.outer_loss, 1 + slow.outer_loss);
    result.rest.add(fast.curvature(), slow.curvature, slow.curvature);
    for (const double s : slow.slope) steepest = std::max(steepest, std::abs(s));
    for (std::size_t j = 0; j < h.list.size(); ++j) {
      result.rest.add(fast.hypergradient()[j], slow.slope[j], steepest);
      result.rest.add(fast.hyperparameters().list[j].place, slow.place(j), 1);
    }
    for (std::size_t i = 0; o.first_order && i < LearnerRows::features; ++i)
      result.ratios.add(static_cast<double>(fast.weights().decay_ratio(static_cast<std::int64_t>(i))), slow.ratio(i),
                        slow.ratio(i));
  }
  result.limited = slow.limited;
  result.guarded = slow.guarded;
  return result;
}

class Reference : public testing::TestWithParam<LearnerCase> {};
INSTANTIATE_TEST_SUITE_P(Learner, Reference, testing::ValuesIn(test::learner_cases()),
                         [](const auto& test) { return test.param.name; });

// What a round rounds: each of K = 8 steps adds up 16 rows and 13 features and takes an exponential of degree 14, in
// both programs: some 8 · (16 + 13 + 14) ≈ 350 roundings of a number, 350 · ε/2 = 4e-14. Steps are shorter than 2/L
// and derivatives fade: what earlier rounds rounded does not grow. Twenty-five rounds' worth is allowed.
constexpr double rounding = 1e-12;

TEST_P(Reference, IsWhatTheLearnerDoesRoundForRound) {
  const LearnerCase& c = GetParam();
  const Gap got = run<double>(c, options_of(c), hyperparameters_of(c, 0.05), 50);
  EXPECT_LT(got.weights.max, rounding);
  EXPECT_LT(got.rest.max, rounding);
}

TEST_P(Reference, IsWhatTheLearnerDoesWhereTheLimitDecidesAndDerivativesAreCutBack) {
  const LearnerCase& c = GetParam();
  fit::LearnerOptions o = options_of(c);
  o.limit = 0.7;
  o.max_derivative = 0.03;
  const Gap got = run<double>(c, o, hyperparameters_of(c, 0.05), 30);
  EXPECT_GT(got.limited, 0);
  EXPECT_GT(got.guarded, 0);
  EXPECT_LT(got.weights.max, rounding);
  EXPECT_LT(got.rest.max, rounding);
}

// The same count over 10 rounds with float's ε/2 = 6e-8: 350 · 10 · 6e-8 = 2e-4.
TEST_P(Reference, IsNearToWhatTheLearnerDoesInSinglePrecision) {
  const LearnerCase& c = GetParam();
  const Gap got = run<float>(c, options_of(c), hyperparameters_of(c, 0.05), 10);
  EXPECT_LT(got.weights.max, 2e-4);
  EXPECT_LT(got.rest.max, 2e-4);
}

class ReferenceWithPenalties : public testing::TestWithParam<LearnerCase> {};
INSTANTIATE_TEST_SUITE_P(Learner, ReferenceWithPenalties, testing::ValuesIn(test::learner_cases_with_penalties()),
                         [](const auto& test) { return test.param.name; });

// The learner's slopes, moments and ratios are floats: some 20 roundings of 6e-8 a move (7 rows' slopes, moments,
// their quotient, exp), a step of 0.2 long, come to 2.4e-7 of a ratio; 50 moves add up to 1.2e-5 at most. A round
// decays by a tenth of the ratio or less.
constexpr double rounding_of_ratios = 1.2e-5;

TEST_P(ReferenceWithPenalties, IsWhatTheLearnerDoesRoundForRound) {
  const LearnerCase& c = GetParam();
  const Gap got = run<double>(c, options_of(c), hyperparameters_of(c, 0.05), 50);
  EXPECT_LT(got.weights.max, rounding_of_ratios);
  EXPECT_LT(got.rest.max, rounding_of_ratios);
  EXPECT_LT(got.ratios.max, rounding_of_ratios);
}

TEST_P(ReferenceWithPenalties, IsWhatTheLearnerDoesWhereTheLimitDecides) {
  const LearnerCase& c = GetParam();
  fit::LearnerOptions o = options_of(c);
  o.limit = 0.7;
  const Gap got = run<double>(c, o, hyperparameters_of(c, 0.05), 30);
  EXPECT_GT(got.limited, 0);
  EXPECT_EQ(got.guarded, 0);
  EXPECT_LT(got.weights.max, rounding_of_ratios);
  EXPECT_LT(got.rest.max, rounding_of_ratios);
  EXPECT_LT(got.ratios.max, rounding_of_ratios);
}

TEST_P(ReferenceWithPenalties, IsNearToWhatTheLearnerDoesInSinglePrecision) {
  const LearnerCase& c = GetParam();
  const Gap got = run<float>(c, options_of(c), hyperparameters_of(c, 0.05), 10);
  EXPECT_LT(got.weights.max, 2e-4);
  EXPECT_LT(got.rest.max, 2e-4);
  EXPECT_LT(got.ratios.max, rounding_of_ratios);
}

TEST(LearnerReference, IsWhatTheLearnerDoesWithOneStepARoundAndNoMemoryOfEarlierRounds) {
  LearnerCase c = test::learner_cases().front();
  fit::LearnerOptions o = options_of(c);
  o.steps = 1;
  o.memory = o.l2_memory = o.replay_memory = 0;
  const Gap got = run<double>(c, o, hyperparameters_of(c, 0.05), 30);
  EXPECT_LT(got.weights.max, rounding);
  EXPECT_LT(got.rest.max, rounding);
}

// 300 rounds take the groups' factors out of bounds several times: ρ is near exp(−8 · 0.7 · 0.03) = 0.85 a round.
TEST(LearnerReference, IsWhatTheLearnerDoesWhenDecaysHaveTakenMostWeightsAway) {
  LearnerCase c = test::learner_cases()[2];
  ASSERT_EQ(c.groups, 3);
  const Gap got = run<double>(c, options_of(c), hyperparameters_of(c, 0.0), 300);
  EXPECT_LT(got.weights.max, rounding);
  EXPECT_LT(got.rest.max, rounding);
}

}  // namespace
}  // namespace obolus
