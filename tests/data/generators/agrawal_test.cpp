#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "obolus/core/to_size.hpp"
#include "rows.hpp"

namespace {

using namespace obolus;

// The paper's predicates as disjunctions, in thousands.
bool slow_group_a(int f, double salary, double commission, double age, double elevel, double hvalue, double hyears,
                  double loan) {
  const double s = salary / 1000, t = (salary + commission) / 1000, l = loan / 1000;
  const bool y = age < 40, m = age >= 40 && age < 60, o = age >= 60;
  const auto in = [](double v, double a, double b) { return a <= v && v <= b; };
  const auto if_else = [](bool c, bool a, bool b) { return (c && a) || (!c && b); };
  switch (f) {
    case 1: return y || o;
    case 2: return (y && in(s, 50, 100)) || (m && in(s, 75, 125)) || (o && in(s, 25, 75));
    case 3: return (y && in(elevel, 0, 1)) || (m && in(elevel, 1, 3)) || (o && in(elevel, 2, 4));
    case 4:
      return (y && if_else(in(elevel, 0, 1), in(s, 25, 75), in(s, 50, 100))) ||
             (m && if_else(in(elevel, 1, 3), in(s, 50, 100), in(s, 75, 125))) ||
             (o && if_else(in(elevel, 2, 4), in(s, 50, 100), in(s, 25, 75)));
    case 5:
      return (y && if_else(in(s, 50, 100), in(l, 100, 300), in(l, 200, 400))) ||
             (m && if_else(in(s, 75, 125), in(l, 200, 400), in(l, 300, 500))) ||
             (o && if_else(in(s, 25, 75), in(l, 300, 500), in(l, 100, 300)));
    case 6: return (y && in(t, 50, 100)) || (m && in(t, 75, 125)) || (o && in(t, 25, 75));
    case 7: return 2 * t / 3 > l / 5 + 20;
    case 8: return 2 * t / 3 > 5 * elevel + 20;
    case 9: return 2 * t / 3 > 5 * elevel + l / 5 + 10;
    default: return 2 * t / 3 + (hyears >= 20 ? 0.02 * hvalue / 1000 * (hyears - 20) : 0.0) > 5 * elevel + 10;
  }
}

bool slow_group_a(int f, const std::vector<float>& x) {
  return slow_group_a(f, x[0], x[1], x[2], x[3], x[6], x[7], x[8]);
}

TEST(Agrawal, GroupsFollowTheFunctionOfTheConceptAndAttributesTheirLaws) {
  std::vector<double> rows;
  for (double p = 1000; p < 10000; p += 1000) rows.push_back(p);
  const auto g = make_generator(AgrawalOptions{.stream = {.drift_rows = Numbers(rows)}, .perturbation = 0.0});
  const auto whole = [](float v, float a, float b) { return v >= a && v <= b && v == std::floor(v); };
  for (std::int64_t i = 0; i < 10000; ++i) {
    const GeneratedRow r = row_of(*g, i);
    const auto& x = r.numbers;
    EXPECT_EQ(r.label == 0, slow_group_a(static_cast<int>(i / 1000) + 1, x)) << i;
    EXPECT_TRUE(x[0] >= 20000 && x[0] <= 150000);
    EXPECT_TRUE(x[0] >= 75000 ? x[1] == 0 : x[1] >= 10000 && x[1] <= 75000);
    EXPECT_TRUE(whole(x[2], 20, 80) && whole(x[3], 0, 4) && whole(x[4], 0, 19) && whole(x[5], 0, 8));
    EXPECT_TRUE(x[6] >= 50000 * (9 - x[5]) && x[6] <= 150000 * (9 - x[5]));
    EXPECT_TRUE(whole(x[7], 1, 30) && x[8] >= 0 && x[8] <= 500000);
  }
}

// P(group A) of functions 6 to 10 given salary and commission: all levels; ages for 6; loans in 250 cells for 7 and 9;
// for 10 the chance that a house, uniform on [50, 150]·k thousand, is worth enough.
double slow_part_of_a(int f, double salary, double commission) {
  double sum = 0.0, all = 0.0;
  for (int level = 0; level < 5; ++level) {
    if (f == 6) {
      for (const auto& [age, weight] : {std::pair{30.0, 20.0}, {50.0, 20.0}, {70.0, 21.0}}) {
        all += weight;
        sum += slow_group_a(f, salary, commission, age, level, 0, 1, 0) ? weight : 0.0;
      }
    } else if (f == 10) {
      const double missing = 5 * level + 10 - (salary + commission) / 1500;
      for (int years = 1; years <= 30; ++years)
        for (int k = 1; k <= 9; ++k, all += 1.0)
          sum += years <= 20 ? missing < 0 : std::clamp(1.5 - missing / (0.02 * (years - 20)) / (100 * k), 0.0, 1.0);
    } else {
      const int loans = f == 8 ? 1 : 250;
      for (int l = 0; l < loans; ++l, all += 1.0)
        sum += slow_group_a(f, salary, commission, 30, level, 0, 1, 500000.0 * (l + 0.5) / loans);
    }
  }
  return sum / all;
}

// The midpoint rule over 260 cells of salary and 130 of commission. At most two surfaces, monotone in each axis, bound
// a group: each cuts at most the part Σ 1/cells of all boxes, and half of a box that is cut may be wrong. That is at
// most 1/260 + 1/130 for function 6, half of it and of 1/250 for the others.
double slow_part_of_a(int f) {
  double sum = 0.0;
  for (int a = 0; a < 260; ++a) {
    const double salary = 20000.0 + 500.0 * (a + 0.5);
    if (salary >= 75000.0) sum += slow_part_of_a(f, salary, 0.0) / 260;
    else
      for (int b = 0; b < 130; ++b) sum += slow_part_of_a(f, salary, 10000.0 + 500.0 * (b + 0.5)) / 260 / 130;
  }
  return sum;
}

TEST(Agrawal, GroupsHaveTheirPartsInAllTenFunctions) {
  // Closed forms: ages 20–39 and 60–80 of 61; intervals of 50 of 130 thousand; levels; intervals of 200 of 500
  // thousand.
  const std::array<double, 5> closed{41.0 / 61, 5.0 / 13, (20 * 0.4 + 41 * 0.6) / 61, 5.0 / 13, 0.4};
  constexpr std::int64_t n = 50000;
  for (int f = 1; f <= 10; ++f) {
    const ConceptOptions stream{.concepts = Numbers(static_cast<double>(f))};
    const auto g = make_generator(AgrawalOptions{.stream = stream, .perturbation = 0.0});
    const bool known = f <= 5;
    const double p = known ? closed[to_size(f - 1)] : slow_part_of_a(f);
    EXPECT_NEAR(part_of_class(*g, 0, n), p, hoeffding(n) + (known ? 0.0 : 1.0 / 260 + 1.0 / 130)) << f;
    const auto balanced = make_generator(AgrawalOptions{.stream = stream, .share = 0.5});
    EXPECT_NEAR(part_of_class(*balanced, 0, 5000), 0.5, hoeffding(5000)) << f;
  }
}

TEST(Agrawal, PerturbationMovesNumbersByAtMostItsPartOfTheRangeAndNoLabels) {
  const auto plain = make_generator(AgrawalOptions{.perturbation = 0.0});
  const auto moved = make_generator(AgrawalOptions{.perturbation = 0.1});
  const std::array<double, 9> range{130000, 65000, 60, 0, 0, 0, 0, 29, 500000};
  for (std::int64_t i = 0; i < 2000; ++i) {
    const GeneratedRow a = row_of(*plain, i), b = row_of(*moved, i);
    EXPECT_EQ(a.label, b.label);
    for (std::size_t j = 0; j < 9; ++j) {
      const double max = j == 6 ? 100000.0 * (9.0 - double{a.numbers[5]}) : range[j];
      const double rounding = j == 2 || j == 7 ? 0.5 : 0.05;  // whole years; floats below 2^21 are 1/16 apart
      EXPECT_NEAR(a.numbers[j], b.numbers[j], max == 0.0 ? 0.0 : 0.1 * max + rounding) << j;
      EXPECT_TRUE(j != 1 || a.numbers[1] != 0 || b.numbers[1] == 0);
    }
  }
}

}  // namespace
