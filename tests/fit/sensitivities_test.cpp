// The learner's slopes are derivatives of what it did, and not of an approximation to it: moving a hyperparameter
// from the first round on moves the loss of every round by the slope.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fit/learner/learner.hpp"
#include "tests/fit/learner_cases.hpp"

namespace obolus {
namespace {

using test::LearnerCase;
using test::LearnerRows;

constexpr int batch = 7, rounds = 25;

struct Course {
  std::vector<double> loss;                // by round
  std::vector<double> curvature;           // by row that is learnt
  std::vector<std::vector<double>> slope;  // by round and hyperparameter
};

Course course(const LearnerCase& c, const fit::LearnerOptions& o, const fit::Hyperparameters& h) {
  auto learner = test::learner_of<double>(c, o, h);
  LearnerRows rows(c, 11);
  Course result;
  for (int t = 0; t < rounds; ++t) {
    for (int r = 0; r < batch; ++r) {
      fit::LearnerRow row = rows.next();
      const bool is_learnt = row.serves(fit::Role::inner);
      learner.add(std::move(row));
      if (is_learnt) result.curvature.push_back(learner.curvature());
    }
    learner.train();
    result.loss.push_back(learner.outer_loss());
    result.slope.push_back(learner.hypergradient());
  }
  return result;
}

// Nothing fades, nothing is cut back, and the hyperparameters stay where they are although they are tuned.
fit::LearnerOptions exact(const LearnerCase& c) {
  fit::LearnerOptions o = options_of(c);
  o.memory = o.l2_memory = o.replay_memory = 1;
  o.max_derivative = 1e12;
  o.limit = 1e12;
  return o;
}

// (−f(2h) + 8 f(h) − 8 f(−h) + f(−2h))/12h by hyperparameter i, in every round. It is h⁴ f⁽⁵⁾/30 off, and what f
// rounds, a few hundred ε (learner_reference_test.cpp), is divided by h: 1e-12 and 1e-10 for h = 1e-3.
std::vector<double> differences(const LearnerCase& c, const fit::LearnerOptions& o, const fit::Hyperparameters& at,
                                std::size_t i) {
  constexpr double h = 1e-3;
  const auto losses = [&](double by) {
    fit::Hyperparameters moved = at;
    moved.list[i].place += by;
    return course(c, o, moved).loss;
  };
  const std::vector<double> up = losses(h), down = losses(-h), far_up = losses(2 * h), far_down = losses(-2 * h);
  std::vector<double> result;
  for (std::size_t t = 0; t < up.size(); ++t)
    result.push_back((far_down[t] - far_up[t] + 8 * (up[t] - down[t])) / (12 * h));
  return result;
}

void expect_exact(const LearnerCase& c, const fit::LearnerOptions& o, const fit::Hyperparameters& h) {
  const Course got = course(c, o, h);
  for (std::size_t i = 0; i < h.list.size(); ++i) {
    const std::vector<double> expected = differences(c, o, h, i);
    double steepest = 0;
    for (const double s : expected) steepest = std::max(steepest, std::abs(s));
    EXPECT_GT(steepest, 1e-4) << "hyperparameter " << i << " does nothing here";
    for (std::size_t t = 0; t < expected.size(); ++t)
      EXPECT_NEAR(got.slope[t][i], expected[t], 1e-7 * steepest + 1e-10)
          << "hyperparameter " << i << ", round " << t + 1;
  }
}

class Sensitivities : public testing::TestWithParam<LearnerCase> {};
INSTANTIATE_TEST_SUITE_P(Learner, Sensitivities, testing::ValuesIn(test::learner_cases()),
                         [](const auto& test) { return test.param.name; });

TEST_P(Sensitivities, AreDerivativesOfTheLossesOfTheRounds) {
  const LearnerCase& c = GetParam();
  expect_exact(c, exact(c), hyperparameters_of(c, 0));
}

// The limit decides where rate · now/curvature is above it. The running mean tells the bound of every row,
// curvature_n = (1 − 1/n) curvature_{n−1} + now/n, and does not depend on the limit. So here is one that some rows are
// above and others below, and none so near to that the differences step over it: the rate moves by 2h = 0.002 at most.
double deciding_limit(const LearnerCase& c) {
  const std::vector<double> curvature = course(c, exact(c), hyperparameters_of(c, 0)).curvature;
  std::vector<double> asked;
  for (std::size_t i = 0; i < curvature.size(); ++i) {
    const auto n = static_cast<double>(i + 1);
    const double now = n * curvature[i] - (i > 0 ? (n - 1) * curvature[i - 1] : 0.0);
    const double round = std::floor(static_cast<double>(i) * rounds / static_cast<double>(curvature.size()));
    asked.push_back(0.7 / (c.decayed ? std::sqrt(1 + round / 100) : 1.0) * now / curvature[i]);
  }
  std::ranges::sort(asked);
  std::size_t widest = asked.size() / 4;
  for (std::size_t i = widest; i < 3 * asked.size() / 4; ++i)
    if (asked[i + 1] - asked[i] > asked[widest + 1] - asked[widest]) widest = i;
  EXPECT_GT(asked[widest + 1], asked[widest] * 1.005);
  return (asked[widest] + asked[widest + 1]) / 2;
}

TEST_P(Sensitivities, TakeTheRateForAConstantWhereTheLimitDecides) {
  const LearnerCase& c = GetParam();
  fit::LearnerOptions o = exact(c);
  o.limit = deciding_limit(c);
  expect_exact(c, o, hyperparameters_of(c, 0));
}

TEST(Sensitivities, ByTheRateAreZeroWhereTheLimitDecidesInEveryRound) {
  for (const LearnerCase& c : test::learner_cases()) {
    fit::LearnerOptions o = exact(c);
    o.limit = 0.05;
    for (const auto& slope : course(c, o, hyperparameters_of(c, 0)).slope) EXPECT_EQ(slope[0], 0.0) << c;
  }
}

// The hyperparameter's derivative needs the tuned parts only: leaving the others out changes nothing.
TEST(Sensitivities, DoNotDependOnWhatElseIsTuned) {
  const LearnerCase c = test::learner_cases()[8];
  ASSERT_TRUE(c.class_tuning && c.groups == 3);
  const fit::Hyperparameters all = hyperparameters_of(c, 0);
  const Course expected = course(c, exact(c), all);
  for (std::size_t i = 0; i < all.list.size(); ++i) {
    fit::Hyperparameters one = all;
    for (std::size_t k = 0; k < one.list.size(); ++k) one.list[k].tuned = k == i;
    const Course got = course(c, exact(c), one);
    for (std::size_t t = 0; t < rounds; ++t) {
      EXPECT_NEAR(got.slope[t][i], expected.slope[t][i], 1e-12 * (1 + std::abs(expected.slope[t][i])));
      for (std::size_t k = 0; k < one.list.size(); ++k) EXPECT_TRUE(k == i || got.slope[t][k] == 0.0);
    }
  }
}

}  // namespace
}  // namespace obolus
