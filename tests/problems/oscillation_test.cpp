#include "obolus/problems/oscillation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "obolus/check/oracle.hpp"
#include "obolus/check/primitives.hpp"
#include "obolus/core/error.hpp"
#include "tests/check/findings.hpp"
#include "tests/problems/brute_force.hpp"

namespace {

using namespace obolus;
using test::passes;
using test::solution_at;
using test::value_of_F;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr OscillationVariant variants[] = {OscillationVariant::paper, OscillationVariant::interior};

Vector<double> scalar(double v) { return Vector<double>::Constant(1, v); }

template <class S>
void passes_every_check(const OscillationOptions& options) {
  Oscillation<S> p(options, 0);
  const CheckOptions where{.rounds = {1, 2, 3, 4}, .draws = 300};
  EXPECT_TRUE(passes(check_oracle(p, where)));
  EXPECT_TRUE(passes(check_primitives(p, where)));
}

TEST(Oscillation, EveryVariantPassesEveryCheckInBothPrecisions) {
  for (const OscillationVariant variant : variants)
    for (const double noise : {0.0, 0.2})
      for (const double mu : {0.1, 1.0, 20.0}) {
        const OscillationOptions options{.variant = variant, .c = 1.5, .mu = mu, .a = 0.6, .noise = noise};
        SCOPED_TRACE(std::string(name_of(variant)) + ", noise " + std::to_string(noise) + ", mu " + std::to_string(mu));
        passes_every_check<double>(options);
        passes_every_check<float>(options);
      }
}

// §5.2 of the paper, number by number.
TEST(Oscillation, ThePaperVariantIsThePapersExample) {
  Oscillation<double> p({}, 0);
  for (const Round t : {1, 2, 7, 1000000}) {
    const double sign = t % 2 == 0 ? 1.0 : -1.0;
    for (const double x : {-1.0, -0.3, 0.0, 0.8}) {
      p.reveal(t);
      EXPECT_DOUBLE_EQ(p.outer_value(scalar(x), scalar(0.7)), std::exp(-0.49));
      EXPECT_DOUBLE_EQ(p.inner_value(scalar(x), scalar(0.7)), 0.5 * std::pow(0.7 - sign * x, 2));
      EXPECT_EQ(solution_at(p, t, scalar(x))(0), sign * x);
      EXPECT_DOUBLE_EQ(value_of_F(p, t, scalar(x)), std::exp(-x * x));
    }
  }
}

double best_on_grid(Oscillation<double>& p) {
  double best = -1.0;
  for (int i = -4000; i <= 4000; ++i)
    if (value_of_F(p, 1, scalar(i / 4000.0)) < value_of_F(p, 1, scalar(best))) best = i / 4000.0;
  return best;
}

TEST(Oscillation, FIsLeastWhereTheVariantSays) {
  Oscillation<double> paper({}, 0);
  EXPECT_EQ(std::abs(best_on_grid(paper)), 1.0);
  for (const double a : {0.2, 0.5, 0.8}) {
    Oscillation<double> interior({.variant = OscillationVariant::interior, .c = 2.0, .a = a}, 0);
    EXPECT_NEAR(best_on_grid(interior), a, 1.0 / 4000.0);
  }
}

// At x = a, y = y*: the hypergradient f_x − g_xy v vanishes although neither of its terms does.
TEST(Oscillation, AtTheInteriorOptimumTwoForcesBalance) {
  Oscillation<double> p({.variant = OscillationVariant::interior, .c = 2.0, .mu = 3.0, .a = 0.4}, 0);
  for (const Round t : {1, 2}) {
    p.reveal(t);
    Vector<double> y(1), f_x(1), f_y(1), cross(1);
    p.inner_solution(scalar(0.4), y);
    p.outer_gradient_x(scalar(0.4), y, f_x);
    p.outer_gradient_y(scalar(0.4), y, f_y);
    p.inner_hvp_xy(scalar(0.4), y, f_y / 3.0, cross);  // v = f_y/μ
    EXPECT_NEAR(f_x(0) - cross(0), 0.0, 10 * epsilon);
    EXPECT_GT(std::abs(f_x(0)), 0.5);
  }
}

// H_2T = 4(T − 1) and V_T = 0 on [−1, 1], found by trying points and by the closed form.
TEST(Oscillation, VariationsAreTheSupremaOverX) {
  for (const OscillationVariant variant : variants) {
    Oscillation<double> p({.variant = variant, .mu = 3.0}, 0);
    for (const auto& [set, end] : {std::pair{ConvexSet::box(-1.0, 1.0), 1.0}, std::pair{ConvexSet::box(-0.5, 2.0), 2.0},
                                   std::pair{ConvexSet::l2_ball(0.7), 0.7}}) {
      double solution = 0.0, value = 0.0, f_y = 0.0, g_y = 0.0;
      for (int i = -200; i <= 200; ++i) {
        Vector<double> x = scalar(end * i / 200.0), before(1), after(1);
        set.project(x);
        solution = std::max(solution, (solution_at(p, 5, x) - solution_at(p, 4, x)).squaredNorm());
        value = std::max(value, std::abs(value_of_F(p, 5, x) - value_of_F(p, 4, x)));
        p.reveal(4);
        p.outer_gradient_y(x, scalar(0.3), before);
        p.reveal(5);
        p.outer_gradient_y(x, scalar(0.3), after);
        f_y = std::max(f_y, (after - before).squaredNorm());
        p.reveal(4);
        p.inner_gradient_y(x, scalar(0.3), before);
        p.reveal(5);
        p.inner_gradient_y(x, scalar(0.3), after);
        g_y = std::max(g_y, (after - before).squaredNorm());
      }
      const Variation v = p.variation(5, set);
      EXPECT_EQ(v.value.value(), value);
      EXPECT_EQ(v.outer_gradient.value(), f_y);
      EXPECT_DOUBLE_EQ(v.solution.value(), solution);
      EXPECT_NEAR(v.inner_gradient.value(), g_y, 20 * epsilon * g_y);
      EXPECT_EQ(v.outer_gradient_x.value(), 0.0);  // f does not depend on t
      EXPECT_EQ(v.inner_hessian.value(), 0.0);     // g_yy = μ
      EXPECT_EQ(v.inner_cross.value(), 36.0);      // g_xy = ∓μ, with μ = 3
    }
  }
  Oscillation<double> p({}, 0);
  EXPECT_EQ(p.variation(2, ConvexSet::box(-1.0, 1.0)).solution.value(), 4.0);
  EXPECT_EQ(p.variation(2, ConvexSet::all()).solution.value(), std::numeric_limits<double>::infinity());
}

// The constants are the largest slopes: reached on a fine grid of x in X and y, and nowhere exceeded. Slopes in x and
// in y do not depend on the other variable. A grid of step h misses the largest |f_y| by h² |f_yyy|/8 < 1e-6 of it.
TEST(Oscillation, ConstantsAreTheLargestSlopes) {
  for (const OscillationVariant variant : variants) {
    Oscillation<double> p({.variant = variant, .c = 1.7, .mu = 2.0, .a = 0.4}, 0);
    const Constants k = p.constants(ConvexSet::box(-1.0, 1.0));
    double in_x = 0.0, in_y = 0.0, curvature = 0.0, height = 0.0;
    constexpr double h = 1e-3;
    Vector<double> low(1), high(1);
    for (double v = -1.0; v < 1.0; v += h) {
      p.outer_gradient_x(scalar(v), scalar(0), low);
      p.outer_gradient_x(scalar(v + h), scalar(0), high);
      in_x = std::max(in_x, std::abs(low(0)));
      curvature = std::max(curvature, std::abs(high(0) - low(0)) / h);
      p.outer_gradient_y(scalar(0), scalar(v), low);
      p.outer_gradient_y(scalar(0), scalar(v + h), high);
      in_y = std::max(in_y, std::abs(low(0)));
      curvature = std::max(curvature, std::abs(high(0) - low(0)) / h);
      height = std::max(height, std::abs(value_of_F(p, 1, scalar(v))));
    }
    EXPECT_LE(std::hypot(in_x, in_y), k.L_f0);
    EXPECT_GE(std::hypot(in_x, in_y), 0.999 * k.L_f0);
    EXPECT_LE(curvature, k.L_f1 * (1 + 1e-9));  // a quotient of differences is a mean of curvatures, plus rounding
    EXPECT_GE(curvature, 0.999 * k.L_f1);
    EXPECT_LE(height, k.M);
    EXPECT_EQ(k.mu_g, 2.0);
    EXPECT_EQ(k.L_g1, 4.0);  // eigenvalues of μ(1, ∓1)(1, ∓1)' are 0 and 2μ
    EXPECT_EQ(k.L_g2, 0.0);
  }
  const Constants unbounded =
      Oscillation<double>({.variant = OscillationVariant::interior}, 0).constants(ConvexSet::all());
  EXPECT_EQ(unbounded.L_f0, Constants::none);
  EXPECT_EQ(unbounded.M, Constants::none);
}

TEST(Oscillation, SampledGradientsDeviateBySigmaOverTheRootOfTheBatch) {
  Oscillation<double> p({.noise = 0.8}, 0);
  Rng rng(5);
  Vector<double> in_x(1), in_y(1), exact_x(1), exact_y(1);
  const Vector<double> x = scalar(0.4), y = scalar(-0.2);
  p.outer_gradient_x(x, y, exact_x);
  p.outer_gradient_y(x, y, exact_y);
  const test::Mean of_f = test::mean_of(4000, [&] {
    p.resample({.outer = 4, .inner = 16}, rng);
    p.outer_gradient_x(x, y, in_x);
    p.outer_gradient_y(x, y, in_y);
    return (in_x - exact_x).squaredNorm() + (in_y - exact_y).squaredNorm();
  });
  EXPECT_NEAR(of_f.value, 0.64 / 4, of_f.five_errors);
  p.expectation();
  p.inner_gradient_x(x, y, exact_x);
  p.inner_gradient_y(x, y, exact_y);
  const test::Mean of_g = test::mean_of(4000, [&] {
    p.resample({.outer = 4, .inner = 16}, rng);
    p.inner_gradient_x(x, y, in_x);
    p.inner_gradient_y(x, y, in_y);
    return (in_x - exact_x).squaredNorm() + (in_y - exact_y).squaredNorm();
  });
  EXPECT_NEAR(of_g.value, 0.64 / 16, of_g.five_errors);
  EXPECT_EQ(p.constants(ConvexSet::box(-1.0, 1.0)).sigma, 0.8);
}

TEST(Oscillation, BadOptionsAreRefusedByName) {
  const auto refusal = [](const OscillationOptions& options) -> std::string {
    try {
      const Oscillation<double> p(options, 0);
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({}), "accepted");
  EXPECT_NE(refusal({.c = 0.0}).find("problem.c"), std::string::npos);
  EXPECT_NE(refusal({.mu = -1.0}).find("mu"), std::string::npos);
  EXPECT_NE(refusal({.a = 0.0}).find("problem.a"), std::string::npos);
  EXPECT_NE(refusal({.noise = -0.1}).find("noise"), std::string::npos);
}

}  // namespace
