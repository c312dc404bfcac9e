#include "fit/penalties/optimised_penalties.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "obolus/any/listing.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/to_size.hpp"
#include "tests/fit/fit_stream.hpp"

namespace obolus {
namespace {

using fit::LearnerRow;
using fit::OptimisedPenalties;
using fit::OptimisedPenaltyOptions;
using test::fit_options;
using test::FitStream;

// A learner that is asked: its weights, scales and ratios, and rows for it.
struct Asked {
  static constexpr std::size_t classes = 3;
  using Matrix = std::vector<std::vector<double>>;

  Rng rng{4};
  Matrix z;  // the constant's last
  std::vector<double> scale;
  std::vector<float> ratio;
  double rate = 0.8, l2 = 0.02, curvature = 1.7, temperature = 1.3;
  std::int64_t round = 10;
  std::vector<LearnerRow> inner, outer;

  explicit Asked(std::size_t slots) {
    for (std::size_t i = 0; i < slots; ++i) grow();
    z.push_back(weights());
  }
  [[nodiscard]] std::vector<double> weights() {
    std::vector<double> of;
    for (std::size_t c = 0; c < classes; ++c) of.push_back(rng.normal());
    return of;
  }
  void grow() {
    z.insert(z.begin() + static_cast<std::ptrdiff_t>(slots()), weights());
    scale.push_back(rng.uniform(0.3, 3.0));
    ratio.push_back(static_cast<float>(rng.uniform(0.5, 2.0)));
  }
  [[nodiscard]] std::size_t slots() const { return scale.size(); }

  void draw() {
    for (auto* rows : {&inner, &outer}) {
      rows->assign(rows == &inner ? 6 : 4, {});
      for (LearnerRow& row : *rows) {
        for (std::size_t i = slots(); i-- > 0;)  // descending, and sometimes twice
          for (int twice = 0; twice < 2; ++twice)
            if (rng.below(twice == 0 ? 2 : 5) == 0)
              row.entries.push_back({static_cast<std::int32_t>(i), static_cast<float>(rng.normal())});
        row.label = static_cast<std::int32_t>(rng.below(classes));
      }
    }
  }
  bool ask(OptimisedPenalties& p) {
    const auto pointers = [](const std::vector<LearnerRow>& rows) {
      OptimisedPenalties::Rows all;
      for (const LearnerRow& r : rows) all.push_back(&r);
      return all;
    };
    const auto at = [](std::int64_t i) { return to_size(i); };
    return p.round(
        pointers(inner), pointers(outer),
        {round, static_cast<std::int64_t>(slots()), static_cast<int>(classes), rate, l2, curvature, temperature,
         [=, this](std::int64_t i) { return scale[at(i)]; },
         [=, this](std::int64_t i, int c) { return z[at(i)][to_size(c)]; },
         [=, this](std::int64_t i) { return ratio[at(i)]; }, [=, this](int c) { return z.back()[to_size(c)]; }});
  }
};

// Algorithm 1 with one inner step, y tied to z, on dense vectors, from its definition.
struct ByHand {
  using Matrix = Asked::Matrix;
  double alpha = 0, lambda = 20, gamma = 0.05, low = 1e-8, high = 0.3, level = 0;
  std::vector<double> sigma, x;  // of what is known so far; the constant's apart
  double sigma_constant = 0;
  Matrix y;

  void open(const Asked& of) {
    alpha = of.rate;
    level = of.l2;
    sigma.clear();
    x.clear();
    y = of.z;
    sigma_constant = std::sqrt(1 / of.curvature);
    for (std::size_t i = 0; i < of.slots(); ++i) {
      sigma.push_back(std::sqrt(of.scale[i] / of.curvature));
      x.push_back(of.l2 * static_cast<double>(of.ratio[i]));
    }
    for (std::size_t i = 0; i < y.size(); ++i)
      for (double& n : y[i]) n /= i < sigma.size() ? sigma[i] : sigma_constant;
  }
  // Known from now on.
  void meet(const Asked& of) {
    while (sigma.size() < of.slots()) {
      y.insert(y.end() - 1, std::vector<double>(Asked::classes));
      sigma.push_back(std::sqrt(of.scale[sigma.size()] / of.curvature));
      x.push_back(of.l2);
    }
  }
  // ∇ of the mean cross-entropy.
  [[nodiscard]] Matrix slope(const std::vector<LearnerRow>& rows, double warmth) const {
    Matrix d(y.size(), std::vector<double>(Asked::classes));
    for (const LearnerRow& row : rows) {
      std::vector<double> a(y.size());
      for (const fit::Entry& e : row.entries)
        a[to_size(e.slot)] += warmth * static_cast<double>(e.value) * sigma[to_size(e.slot)];
      a.back() = warmth * sigma_constant;
      std::vector<double> p(Asked::classes);
      double sum = 0;
      for (std::size_t c = 0; c < p.size(); ++c) {
        for (std::size_t i = 0; i < a.size(); ++i) p[c] += a[i] * y[i][c];
        sum += p[c] = std::exp(p[c]);
      }
      for (std::size_t c = 0; c < p.size(); ++c)
        for (std::size_t i = 0; i < a.size(); ++i)
          d[i][c] += a[i] * (p[c] / sum - (to_size(row.label) == c ? 1 : 0)) / static_cast<double>(rows.size());
    }
    return d;
  }
  void step(const Asked& of) {
    const Matrix f = slope(of.outer, 1 / of.temperature);
    Matrix g = slope(of.inner, 1), tied = y;
    for (std::size_t i = 0; i < y.size(); ++i)
      for (std::size_t c = 0; c < Asked::classes; ++c) {
        g[i][c] += (i < x.size() ? x[i] : low) * y[i][c];
        tied[i][c] -= alpha / lambda * (f[i][c] + lambda * g[i][c]);
        y[i][c] -= alpha * g[i][c];
      }
    for (std::size_t i = 0; i < x.size(); ++i) {
      double d = 0;
      for (std::size_t c = 0; c < Asked::classes; ++c) d += lambda * (tied[i][c] * tied[i][c] - y[i][c] * y[i][c]) / 2;
      x[i] = std::clamp(x[i] - gamma * d, low, high);
    }
  }
};

OptimisedPenaltyOptions by_the_book() {
  OptimisedPenaltyOptions o;
  o.settings = "warm_start=tied,inner_steps=1,outer_step=euclidean,shrinkage=0,gamma=0.05,lambda1=20";
  return o;
}

// d is λ times a difference of squares of about 1 in float, 20 · 6e-8 · a few, and γ d one of penalties of 0.02: 1e-5
// of a ratio a round.
constexpr double rounding = 1e-4;

TEST(OptimisedPenalties, MoveByTheDirectionOfTheDefinition) {
  OptimisedPenalties got(by_the_book());
  Asked learner(5);
  ByHand expected;
  expected.open(learner);
  double moved = 0;
  for (int t = 0; t < 9; ++t, ++learner.round) {
    if (t == 4) learner.grow();  // there is room for it
    learner.draw();
    expected.meet(learner);
    const std::vector<double> before = expected.x;
    expected.step(learner);
    ASSERT_TRUE(learner.ask(got));
    ASSERT_EQ(got.ratios().size(), learner.slots());
    for (std::size_t i = 0; i < learner.slots(); ++i) {
      EXPECT_NEAR(static_cast<double>(got.ratios()[i]), expected.x[i] / expected.level, rounding) << t << ' ' << i;
      moved = std::max(moved, std::abs(expected.x[i] - before[i]) / expected.level);
    }
  }
  EXPECT_GT(moved, 100 * rounding);
}

// What the learner has become meanwhile counts from there on: its rate, weights and curvature.
TEST(OptimisedPenalties, BeginAgainFromTheLearnerWhenAsManyRoundsHavePassedAgain) {
  OptimisedPenalties got(by_the_book());
  Asked learner(5);
  ByHand expected;
  expected.open(learner);
  for (; learner.round < 25; ++learner.round) {
    if (learner.round == 20) {
      learner.curvature = 2.9;
      learner.rate = 0.4;
      learner.l2 = 0.03;
      for (auto& of : learner.z) of = learner.weights();
      expected.open(learner);
    }
    learner.draw();
    expected.step(learner);
    ASSERT_TRUE(learner.ask(got));
    for (std::size_t i = 0; i < learner.slots(); ++i) {
      EXPECT_NEAR(static_cast<double>(got.ratios()[i]), expected.x[i] / expected.level, rounding) << learner.round;
      learner.ratio[i] = got.ratios()[i];
    }
  }
}

TEST(OptimisedPenalties, HaveAGeometricMeanOfOneWhereTheLevelIsTunedElsewhere) {
  OptimisedPenaltyOptions o = by_the_book();
  OptimisedPenalties free(o);
  o.centred = true;
  OptimisedPenalties centred(o);
  Asked learner(7);
  for (int t = 0; t < 5; ++t, ++learner.round) {
    learner.draw();
    ASSERT_TRUE(learner.ask(free) && learner.ask(centred));
    double sum = 0;
    for (std::size_t i = 0; i < 7; ++i) {
      sum += std::log(static_cast<double>(centred.ratios()[i]));
      EXPECT_NEAR(centred.ratios()[i] / centred.ratios()[0], free.ratios()[i] / free.ratios()[0], 1e-5);
    }
    EXPECT_NEAR(sum, 0.0, 1e-5);
  }
}

TEST(OptimisedPenalties, AreNoneWithoutRowsToTrainOnOrToJudgeBy) {
  OptimisedPenalties p(by_the_book());
  Asked learner(4);
  learner.draw();
  learner.inner.clear();
  EXPECT_TRUE(learner.ask(p));
  EXPECT_TRUE(p.ratios().empty());
  learner.draw();
  learner.outer.clear();
  EXPECT_TRUE(learner.ask(p));
  EXPECT_TRUE(p.ratios().empty());
}

std::string refusal(const auto& act) {
  try {
    act();
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(OptimisedPenalties, AreRefusedByNameWhereThereIsNoSuchOptimiserOrOption) {
  const auto made = [](const std::string& optimiser, const std::string& settings) {
    return refusal([&] {
      FitOptions o = fit_options();
      o.optimiser = optimiser;
      o.optimiser_options = settings;
      Fit fit(o);
    });
  };
  EXPECT_EQ(made("f2obo", ""), "accepted");
  EXPECT_EQ(made("f2obo", "gamma=0.1,warm_start=separate"), "accepted");
  EXPECT_NE(made("f2ob", "").find("there is no optimiser 'f2ob'"), std::string::npos) << made("f2ob", "");
  EXPECT_NE(made("f2obo", "gama=0.1").find("gama"), std::string::npos) << made("f2obo", "gama=0.1");
  EXPECT_NE(made("f2obo", "gamma").find("gamma"), std::string::npos) << made("f2obo", "gamma");
  EXPECT_NE(made("f2obo", "gamma=-1").find("gamma"), std::string::npos) << made("f2obo", "gamma=-1");
  EXPECT_NE(made("f2obo", "warm_start=cold").find("warm_start"), std::string::npos);
}

TEST(OptimisedPenalties, AreRefusedForWhatTheirProblemIsNot) {
  const auto made = [](auto&& change) {
    FitOptions o = fit_options();
    o.optimiser = "f2obo";
    change(o);
    return refusal([&] { Fit fit(o); });
  };
  EXPECT_TRUE(made([](FitOptions& o) { o.task = FitTask::numbers; }).starts_with("optimiser: got --task numbers"));
  EXPECT_TRUE(made([](FitOptions& o) { o.judge = FitJudge::balanced; }).starts_with("optimiser: got --judge balanced"));
  EXPECT_TRUE(made([](FitOptions& o) { o.buffer = 0; }).starts_with("optimiser: got buffer=0"));
  EXPECT_EQ(made([](FitOptions& o) {
              o.task = FitTask::numbers;
              o.optimiser = "first-order";
            }),
            "accepted");
  EXPECT_TRUE(made([](FitOptions& o) { o.tune = "rate,l2"; }).starts_with("optimiser: got f2obo, expected l2-per-f"));
}

TEST(OptimisedPenalties, AreMovedByEveryOptimiserThereIs) {
  ASSERT_GT(list_optimisers().size(), 10u);
  for (const Listing& of : list_optimisers())
    for (const bool level : {true, false}) {
      FitOptions o = fit_options();
      o.optimiser = of.name;
      o.tune = level ? "rate,l2,l2-per-feature,replay,temperature" : "rate,l2-per-feature,temperature";
      Fit fit(o);
      fit.set_groups(FitStream::groups(), true);
      FitStream stream(3);
      for (int t = 0; t < 4 * 25; ++t) fit.learn(stream.next());
      EXPECT_GE(fit.rounds(), 20);
      EXPECT_TRUE(std::isfinite(fit.outer_loss())) << of.name;
      ASSERT_TRUE(fit.penalties().has_value());
      const auto [min, middle, max] = *fit.penalties();
      EXPECT_TRUE(min > 0 && min <= middle && middle <= max && max < 10) << of.name << ' ' << min << ' ' << max;
      if (of.name == "fixed") EXPECT_NEAR(max / min, 1.0, 1e-5);  // over their mean, whose logarithm is −12 in float
      else EXPECT_GT(max / min, 1.01) << of.name;
    }
}

// Steps too long for any curvature: whoever fits is told, and the features keep penalties.
TEST(OptimisedPenalties, AreLeftWhereTheyAreByAnOptimiserThatDiverges) {
  FitOptions o = fit_options();
  o.optimiser = "f2obo";
  o.optimiser_options = "alpha=1e30";
  Fit fit(o);
  fit.set_groups(FitStream::groups(), true);
  FitStream stream(3);
  bool told = false;
  for (int t = 0; t < 200; ++t) {
    fit.learn(stream.next());
    told = told || !std::isfinite(fit.outer_loss());
    const auto p = fit.penalties();
    ASSERT_TRUE(p && p->min > 0 && std::isfinite(p->max));
  }
  EXPECT_TRUE(told);
}

// An optimiser's iterates are saved with marks that no two of a process share: what is compared is what they lead to.
TEST(OptimisedPenalties, GoOnToTheSameBitsWithEveryOptimiserThereIs) {
  for (const Listing& of : list_optimisers())
    for (const int stop : {3, 50}) {
      FitOptions o = fit_options();
      o.optimiser = of.name;
      Fit whole(o), resumed(o);
      whole.set_groups(FitStream::groups(), true);
      FitStream stream(3);
      for (int t = 0; t < stop; ++t) whole.learn(stream.next());
      Archive from(test::saved(whole));
      resumed.fields(from);
      from.finish();
      resumed.set_groups(FitStream::groups(), true);
      for (int t = 0; t < 60; ++t) {
        const DataRow row = stream.next();
        whole.learn(row);
        resumed.learn(row);
      }
      EXPECT_TRUE(test::saved_model(resumed) == test::saved_model(whole)) << of.name << ", stopped after " << stop;
      EXPECT_EQ(resumed.penalties(), whole.penalties()) << of.name;
    }
}

}  // namespace
}  // namespace obolus
