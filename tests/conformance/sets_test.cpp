// What every registered set passes because it is registered, made from a [domain] section.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/conformance/registered.hpp"

namespace {

using namespace obolus;
using namespace obolus::test;

// Entries in [−3, 3]: inside, on the border and outside of sets of size 1/2; integers give ties.
Vector<double> any_point(Index size) {
  const auto entry = rc::gen::resize(rc::kNominalSize, rc::gen::inRange(-3000, 3001));
  const auto whole = *rc::gen::container<std::vector<int>>(to_size(size), entry);
  Vector<double> v(size);
  for (Index i = 0; i < size; ++i) v[i] = whole[to_size(i)] / 1000.0;
  return v;
}

Vector<double> projected(const ConvexSet& set, Vector<double> v) {
  set.project(v);
  return v;
}

// Sums of at most 8 numbers of size 3, each rounded: 8 · 3 · 8 ε.
constexpr double rounding = 200 * 2.3e-16;

class EverySet : public testing::TestWithParam<std::string> {
 protected:
  static void holds(const std::string& what, const std::function<void(const ConvexSet&, Index)>& property) {
    EXPECT_TRUE(rc::check(what, [&] {
      const Index size = *rc::gen::inRange<Index>(1, 9);
      property(make_set(GetParam(), size), size);
    }));
  }
};

TEST_P(EverySet, AProjectionLiesInTheSetAndProjectsToItself) {
  holds("feasible and idempotent", [](const ConvexSet& set, Index size) {
    const Vector<double> p = projected(set, any_point(size));
    RC_ASSERT(set.contains(p, rounding));
    RC_ASSERT((projected(set, p) - p).norm() <= rounding);
  });
}

TEST_P(EverySet, AProjectionDoesNotExpand) {
  holds("non-expansive", [](const ConvexSet& set, Index size) {
    const Vector<double> a = any_point(size), b = any_point(size);
    RC_ASSERT((projected(set, a) - projected(set, b)).norm() <= (a - b).norm() + rounding);
  });
}

// <v − Proj v, u − Proj v> ≤ 0 for every u of the set: this alone makes Proj v the nearest point.
TEST_P(EverySet, TheAngleAtAProjectionIsObtuse) {
  holds("obtuse", [](const ConvexSet& set, Index size) {
    const Vector<double> v = any_point(size), u = projected(set, any_point(size)), p = projected(set, v);
    RC_ASSERT((v - p).dot(u - p) <= 10 * rounding);  // |v − p| and |u − p| are at most 10
  });
}

TEST_P(EverySet, SupportAndNormBoundEveryPoint) {
  holds("support and norm", [](const ConvexSet& set, Index size) {
    const Vector<double> u = projected(set, any_point(size)), d = any_point(size);
    RC_ASSERT(d.dot(u) <= set.support(d) + rounding);
    RC_ASSERT(u.norm() <= set.max_norm(size) + rounding);
    RC_ASSERT(set.bounded() == std::isfinite(set.max_norm(size)));
  });
}

TEST_P(EverySet, TheNameInAConfigIsItsOwnName) { EXPECT_EQ(make_set(GetParam(), 3).name(), GetParam()); }

TEST_P(EverySet, ANanStaysVisible) {
  Vector<double> v = Vector<double>::Constant(3, 0.1);
  v[1] = std::numeric_limits<double>::quiet_NaN();
  const ConvexSet set = make_set(GetParam(), 3);
  set.project(v);
  EXPECT_TRUE(v.hasNaN());
  EXPECT_FALSE(set.contains(v, 1.0));
}

INSTANTIATE_TEST_SUITE_P(Registered, EverySet, testing::ValuesIn(names(list_sets())),
                         [](const auto& tested) { return tested.param; });

}  // namespace
