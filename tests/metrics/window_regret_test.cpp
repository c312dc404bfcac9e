#include "obolus/metrics/window_regret.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <vector>

#include "obolus/core/error.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "obolus/problems/quadratic.hpp"
#include "obolus/problems/quadratic_file.hpp"
#include "obolus/run/run.hpp"

namespace {

using namespace obolus;
using Real = Vector<double>;

constexpr double gamma = 0.3;
const ConvexSet box = ConvexSet::box(-1.0, 1.0);

// Three rounds in turn, with nothing in common.
std::vector<QuadraticRound<double>> rounds() {
  std::vector<QuadraticRound<double>> list;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Rng rng(seed);
    QuadraticRound<double>& q = list.emplace_back();
    Matrix<double> root(3, 3);
    q.B.resize(3, 2);
    q.b.resize(3);
    q.c.resize(3);
    q.e.resize(2);
    rng.fill_normal(root);
    rng.fill_normal(q.B);
    rng.fill_normal(q.b);
    rng.fill_normal(q.c);
    rng.fill_normal(q.e);
    q.A = root * root.transpose() + Matrix<double>::Identity(3, 3);
    q.s = 0.3;
    q.r = 0.2;
  }
  return list;
}

// Some path of x in the box, close enough to its sides for the projection to matter.
Real point(Round t) {
  const double s = static_cast<double>(t);
  return Real{{std::sin(1.7 * s), std::cos(0.9 * s)}};
}

// Slowly, from the formulas: ∇F = r(x − e) + B'A⁻¹ (w(y* − c) + s cos y*).
Real gradient_of_F(Round t, const Real& x) {
  const auto all = rounds();
  const QuadraticRound<double>& q = all[static_cast<std::size_t>((t - 1) % 3)];
  const Eigen::LLT<Matrix<double>> factor(q.A);
  const Real y = factor.solve(q.B * x + q.b);
  const Real f_y = q.w * (y - q.c) + q.s * y.array().cos().matrix();
  return q.r * (x - q.e) + q.B.transpose() * factor.solve(f_y);
}

struct Expected {
  double current = 0.0, trailing = 0.0;
};

Expected slow(Round T, Round w, double decay) {
  Expected sums;
  double W = 0.0;
  for (Round i = 0; i < w; ++i) W += std::pow(decay, static_cast<double>(i));
  const auto squared_mapping = [](const Real& x, const Real& d) {
    const Real projected = (x - gamma * d).cwiseMax(-1.0).cwiseMin(1.0);
    return ((x - projected) / gamma).squaredNorm();
  };
  for (Round t = 1; t <= T; ++t) {
    Real current = Real::Zero(2), trailing = Real::Zero(2);
    for (Round i = 0; i < w && t - i >= 1; ++i) {  // F_s = 0 for s ≤ 0, but W stays
      const double weight = std::pow(decay, static_cast<double>(i)) / W;
      current += weight * gradient_of_F(t - i, point(t));
      trailing += weight * gradient_of_F(t - i, point(t - i));
    }
    sums.current += squared_mapping(point(t), current);
    sums.trailing += squared_mapping(point(t), trailing);
  }
  return sums;
}

// The same problem without its closed form: y* by reference solves, which start where the last one ended.
struct Solved : QuadraticFile<double> {
  using QuadraticFile<double>::QuadraticFile;
  [[nodiscard]] Capabilities capabilities() const { return {.hvp = true, .closed_form = false}; }
};

template <class P>
WindowRegret<P> meter_of(P& problem, std::int64_t w, double decay) {
  return WindowRegret<P>(problem, box, gamma, w, decay, {});
}

template <class P>
void measure(P& problem, WindowRegret<P>& meter, Round first, Round last) {
  const Real y = Real::Zero(3);
  for (Round t = first; t <= last; ++t) {
    problem.reveal(t);
    meter.add(problem, t, point(t), y, gradient_of_F(t, point(t)), true);
  }
}

TEST(WindowRegret, AgreesWithItsDefinition) {
  QuadraticFile<double> problem(rounds(), {});
  for (const std::int64_t w : {1, 2, 4, 7})
    for (const double decay : {1.0, 0.9, 0.5}) {
      auto meter = meter_of(problem, w, decay);
      measure(problem, meter, 1, 12);
      const Expected expected = slow(12, w, decay);
      EXPECT_NEAR(meter.sums().current / expected.current, 1.0, 1e-11) << w << ", " << decay;  // CG stops at 1e-14
      EXPECT_NEAR(meter.sums().trailing / expected.trailing, 1.0, 1e-13) << w << ", " << decay;
      EXPECT_EQ(meter.sums().left_out, 0);
    }
}

TEST(WindowRegret, OnAStillStreamPastFunctionsAddNothingNew) {
  QuadraticFile<double> problem({rounds().front()}, {});
  auto meter = meter_of(problem, 4, 1.0);
  const Real x = point(1), y = Real::Zero(3), gradient = gradient_of_F(1, x);
  for (Round t = 1; t <= 3; ++t) meter.add(problem, t, x, y, gradient, true);
  const auto [current, trailing] = meter.add(problem, 4, x, y, gradient, true);
  Real scratch(2);
  const double plain = gradient_mapping_squared<double>(box, x, gradient, gamma, scratch);
  EXPECT_NEAR(current / plain, 1.0, 1e-12);
  EXPECT_NEAR(trailing / plain, 1.0, 1e-14);
}

TEST(WindowRegret, LeavesTheRoundItWasGivenCurrent) {
  QuadraticFile<double> problem(rounds(), {});
  auto meter = meter_of(problem, 5, 1.0);
  measure(problem, meter, 1, 8);
  Real expected(3), got(3);
  problem.inner_solution(point(1), got);
  problem.reveal(8);
  problem.inner_solution(point(1), expected);
  EXPECT_EQ(got, expected);
}

TEST(WindowRegret, ResumesBitForBitAlsoWhereItRestsOnReferenceSolves) {
  Solved problem(rounds(), {});
  auto whole = meter_of(problem, 4, 0.9), part = meter_of(problem, 4, 0.9), resumed = meter_of(problem, 4, 0.9);
  measure(problem, whole, 1, 12);
  measure(problem, part, 1, 6);
  Archive saved;
  part.fields(saved);
  Archive loaded(saved.bytes());
  resumed.fields(loaded);
  loaded.finish();
  measure(problem, resumed, 7, 12);
  EXPECT_EQ(resumed.sums().current, whole.sums().current);
  EXPECT_EQ(resumed.sums().trailing, whole.sums().trailing);
  EXPECT_NEAR(whole.sums().current / slow(12, 4, 0.9).current, 1.0, 1e-9);
}

// Round 3 has no usable ∇F: the first sum loses round 3, the second also round 4, whose window holds it.
TEST(WindowRegret, ARoundWithoutAUsableGradientIsLeftOut) {
  QuadraticFile<double> problem(rounds(), {});
  auto meter = meter_of(problem, 2, 1.0);
  const Real y = Real::Zero(3);
  std::vector<bool> current, trailing;
  for (Round t = 1; t <= 5; ++t) {
    problem.reveal(t);
    const auto terms = meter.add(problem, t, point(t), y, gradient_of_F(t, point(t)), t != 3);
    current.push_back(std::isfinite(terms.current));
    trailing.push_back(std::isfinite(terms.trailing));
  }
  EXPECT_EQ(current, (std::vector<bool>{true, true, false, true, true}));
  EXPECT_EQ(trailing, (std::vector<bool>{true, true, false, false, true}));
  EXPECT_EQ(meter.sums().left_out, 2);
  EXPECT_TRUE(std::isfinite(meter.sums().current) && std::isfinite(meter.sums().trailing));
}

// A run's rows with a window, w = 0 for none.
std::vector<Row> rows_of(std::int64_t w) {
  Quadratic<double> problem({.dim_x = 3, .dim_y = 4, .drift = Drift::abrupt, .period = 3, .sine = 0.4}, 1);
  const F2obo optimiser({.alpha = 0.1, .gamma = 0.05, .tau = 0.5}, box);
  Session<F2obo, Quadratic<double>> session(optimiser, problem, Real::Constant(3, 0.5), Real::Zero(4));
  RoundMeter<Quadratic<double>> meter(problem, box, gamma, {.window = w});
  std::vector<Row> rows;
  run(problem, session, meter, Rng(1), 1, 15, 0.0, [&](const Row& row, const auto&) {
    rows.push_back(row);
    return true;
  });
  return rows;
}

TEST(WindowRegret, BesideItTheRunAndItsPlainRegretStayTheSame) {
  const std::vector<Row> plain = rows_of(0), windowed = rows_of(6);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(windowed[i].regret, plain[i].regret);
    EXPECT_EQ(windowed[i].f, plain[i].f);
    EXPECT_TRUE(std::isnan(plain[i].window_regret) && std::isnan(plain[i].trailing_regret));
    EXPECT_TRUE(std::isfinite(windowed[i].window_regret) && std::isfinite(windowed[i].trailing_regret));
  }
  EXPECT_NE(windowed.back().window_regret, windowed.back().trailing_regret);
}

TEST(WindowRegret, OfAWindowOfOneRoundIsTheRegret) {
  for (const Row& row : rows_of(1)) {
    EXPECT_EQ(row.window_regret, row.regret);
    EXPECT_EQ(row.trailing_regret, row.regret);
  }
}

TEST(WindowRegret, NeedsTheHypergradientOfEveryRound) {
  Quadratic<double> problem({}, 1);
  using Meter = RoundMeter<Quadratic<double>>;
  EXPECT_THROW(Meter(problem, box, gamma, {.regret = false, .window = 3}), ConfigError);
  EXPECT_THROW(Meter(problem, box, gamma, {.every = 2, .reference = {.steps = 5}, .window = 3}), ConfigError);
}

}  // namespace
