#include "obolus/metrics/growth.hpp"

#include <gtest/gtest.h>

namespace {

using namespace obolus;
using Points = std::vector<std::pair<double, double>>;

// Two-sided 95 % points of any table of Student's distribution, to their printed digits.
TEST(StudentT, agrees_with_the_tables) {
  EXPECT_NEAR(student_t(0.95, 1), 12.7062, 5e-5);
  EXPECT_NEAR(student_t(0.95, 2), 4.30265, 5e-6);
  EXPECT_NEAR(student_t(0.95, 3), 3.18245, 5e-6);
  EXPECT_NEAR(student_t(0.95, 5), 2.57058, 5e-6);
  EXPECT_NEAR(student_t(0.95, 10), 2.22814, 5e-6);
  EXPECT_NEAR(student_t(0.95, 30), 2.04227, 5e-6);
  EXPECT_NEAR(student_t(0.95, 120), 1.97993, 5e-6);
  EXPECT_NEAR(student_t(0.95, 1e6), 1.95997, 5e-6);
}

// Closed forms: one degree, t = tan(πp/2); two, t = p √(2/(1 − p²)).
TEST(StudentT, agrees_with_the_closed_forms_for_one_and_two_degrees) {
  for (const double p : {0.5, 0.9, 0.95, 0.99}) {
    const double one = std::tan(std::acos(-1.0) * p / 2), two = p * std::sqrt(2 / (1 - p * p));
    EXPECT_NEAR(student_t(p, 1), one, 1e-11 * one);
    EXPECT_NEAR(student_t(p, 2), two, 1e-11 * two);
  }
}

TEST(GrowthFit, finds_the_exponent_of_a_power_exactly) {
  Points points;
  for (const double T : {250.0, 500.0, 1000.0, 2000.0}) points.emplace_back(T, 3.7 * std::pow(T, 0.6));
  const auto fit = growth(points);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->exponent, 0.6, 1e-13);  // rounding of a few logarithms over a spread of ln 8
  EXPECT_NEAR(fit->half_width, 0, 1e-12);
  EXPECT_EQ(fit->points, 4u);
}

// By hand: x = −1, 0, 1 and y = 0, 0, 3 (shifted): slope 3/2, residuals ½, −1, ½, so s² = 3/2 with one degree,
// and the half-width is t(1) √(3/2 / 2).
TEST(GrowthFit, has_the_interval_of_the_textbook) {
  const double e = std::exp(1.0);
  const auto fit = growth(Points{{1, 1}, {e, 1}, {e * e, e * e * e}});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->exponent, 1.5, 1e-14);
  EXPECT_NEAR(fit->half_width, 12.706204736 * std::sqrt(0.75), 1e-8);
  EXPECT_NEAR(fit->low(), 1.5 - fit->half_width, 1e-14);
  EXPECT_NEAR(fit->high(), 1.5 + fit->half_width, 1e-14);
}

TEST(GrowthFit, is_silent_where_nothing_can_be_said) {
  EXPECT_FALSE(growth(Points{{1, 1}, {2, 2}}));
  EXPECT_FALSE(growth(Points{{7, 1}, {7, 2}, {7, 3}}));
  EXPECT_FALSE(growth(Points{{1, 1}, {2, 0}, {3, 3}}));
  EXPECT_FALSE(growth(Points{{1, 1}, {2, std::numeric_limits<double>::infinity()}, {3, 3}}));
}

}  // namespace
