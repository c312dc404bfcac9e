#include "obolus/check/set.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "obolus/core/convex_set.hpp"
#include "tests/check/findings.hpp"

namespace {

using namespace obolus;
using test::failed;
using test::Names;
using test::passes;

std::vector<ConvexSet> all_sets(Index d, double size) {
  Vector<double> lower(d), upper(d);
  for (Index i = 0; i < d; ++i) {
    lower(i) = -size * double(i);
    upper(i) = size * double(i % 3);
  }
  return {ConvexSet::all(),         ConvexSet::box(-size, 2 * size), ConvexSet::box(lower, upper),
          ConvexSet::l2_ball(size), ConvexSet::l1_ball(size),        ConvexSet::simplex(),
          ConvexSet::nonnegative()};
}

RC_GTEST_PROP(CheckSet, EverySetOfTheLibraryPassesInBothPrecisions, (std::uint64_t seed)) {
  const auto d = *rc::gen::inRange<Index>(1, 12);
  const double size = std::pow(10.0, *rc::gen::inRange(-3, 4));
  for (const ConvexSet& set : all_sets(d, size)) {
    RC_TAG(std::string(set.name()));
    RC_ASSERT(passes(check_set<double>(set, d, Rng(seed), 60)));
    RC_ASSERT(passes(check_set<float>(set, d, Rng(seed), 60)));
  }
}

// A set given by two functions.
template <class Project, class Contains>
struct Made {
  Project project_;
  Contains contains_;
  void project(Out<double> x) const { project_(x); }
  bool contains(In<double> x, double tolerance) const { return contains_(x, tolerance); }
};

bool in_unit_ball(In<double> x, double tolerance) { return x.norm() <= 1.0 + tolerance; }
bool on_simplex(In<double> x, double tolerance) {
  return x.minCoeff() >= -tolerance && std::abs(x.sum() - 1.0) <= tolerance + 1e-15 * double(x.size());
}
const auto to_ball = [](Out<double> x) { x /= std::max(1.0, x.norm()); };

TEST(CheckSet, ARightSetOfAUsersOwnPasses) { EXPECT_TRUE(passes(check_set(Made{to_ball, in_unit_ball}, 4))); }

TEST(CheckSet, FindsAProjectionThatLeavesPointsOutside) {
  const auto nothing = [](Out<double>) {};
  EXPECT_EQ(failed(check_set(Made{nothing, in_unit_ball}, 4)), Names{"a projected point is in the set"});
}

TEST(CheckSet, FindsAProjectionThatMovesPointsOfTheSet) {
  const auto halves = [](Out<double> x) {
    to_ball(x);
    x *= 0.5;
  };
  const Names names = failed(check_set(Made{halves, in_unit_ball}, 4));
  EXPECT_TRUE(names.contains("projecting twice is projecting once"));
  EXPECT_TRUE(names.contains("a point of the set stays where it is"));
}

// Feasible, idempotent, and not the nearest point.
TEST(CheckSet, FindsAPointThatIsFeasibleButNotTheNearest) {
  const auto divides = [](Out<double> x) {
    if (on_simplex(x, 0.0)) return;
    x = x.cwiseMax(0.0);
    const double sum = x.sum();
    if (sum > 0.0) x /= sum;
    else x.setConstant(1.0 / double(x.size()));
  };
  const Names names = failed(check_set(Made{divides, on_simplex}, 4));
  EXPECT_TRUE(names.contains("what a projection removes points away from the set"));
  EXPECT_FALSE(names.contains("a projected point is in the set"));
}

TEST(CheckSet, FindsASetThatIsNotConvex) {
  const auto to_sphere = [](Out<double> x) { x /= x.norm(); };
  const auto on_sphere = [](In<double> x, double tolerance) { return std::abs(x.norm() - 1.0) <= tolerance + 1e-15; };
  const Names names = failed(check_set(Made{to_sphere, on_sphere}, 4));
  EXPECT_TRUE(names.contains("a projection does not expand"));
  EXPECT_TRUE(names.contains("what a projection removes points away from the set"));
}

TEST(CheckSet, FindsNotANumber) {
  const auto loses = [](Out<double> x) { x(0) = std::nan(""); };
  EXPECT_TRUE(failed(check_set(Made{loses, in_unit_ball}, 3)).contains("a projected point is in the set"));
  EXPECT_TRUE(failed(check_set(Made{loses, in_unit_ball}, 3)).contains("projecting twice is projecting once"));
}

}  // namespace
