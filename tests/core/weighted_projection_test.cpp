#include "obolus/core/weighted_projection.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "obolus/core/rng.hpp"

namespace {

using namespace obolus;
using Real = Vector<double>;

struct Draw {
  Real x, h;
};
Draw draw(std::uint64_t seed, Index n) {
  Rng rng(seed);
  Draw d{Real(n), Real(n)};
  for (Index i = 0; i < n; ++i) {
    d.x[i] = 3.0 * rng.normal();
    d.h[i] = std::exp(2.0 * rng.normal());
  }
  return d;
}

double distance(const Draw& d, const Real& u) { return (d.h.array() * (u - d.x).array().square()).sum(); }

std::vector<ConvexSet> sets() {
  return {ConvexSet::all(),        ConvexSet::box(-0.4, 0.7), ConvexSet::l2_ball(0.8),
          ConvexSet::l1_ball(0.9), ConvexSet::simplex(),      ConvexSet::nonnegative()};
}

// A convex function is minimal at u over X exactly when it falls towards no point of X. Points tried: projections of
// random ones. In double the gap's rounding is some n ε h|x|² < 1e-11 for h < e^8.
RC_GTEST_PROP(WeightedProjection, NoPointOfTheSetIsNearer, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
  const auto n = *rc::gen::inRange<Index>(1, 7);
  const Draw d = draw(seed, n);
  for (const ConvexSet& set : sets()) {
    Real u = d.x;
    project_weighted<double>(set, u, d.h);
    RC_ASSERT(set.contains(u, 1e-15));
    for (std::uint64_t k = 1; k <= 20; ++k) {
      Real other = draw(seed + k * 7919, n).x;
      set.project(other);
      const Real towards = u + 1e-3 * (other - u);
      RC_ASSERT(distance(d, u) <= distance(d, towards) + 1e-11 * (1 + distance(d, u)));
    }
  }
}

RC_GTEST_PROP(WeightedProjection, EqualWeightsGiveThePlainProjection, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
  const auto n = *rc::gen::inRange<Index>(1, 9);
  const Draw d = draw(seed, n);
  for (const ConvexSet& set : sets()) {
    Real plain = d.x, weighted = d.x;
    set.project(plain);
    project_weighted<double>(set, weighted, Real::Constant(n, 0.3));
    RC_ASSERT((plain - weighted).norm() <= 1e-13 * (1 + d.x.norm()));
  }
}

TEST(WeightedProjection, AHeavyCoordinateStaysNearer) {
  Real x = Real::Constant(2, 2.0);
  Real h(2);
  h << 100.0, 1.0;
  project_weighted<double>(ConvexSet::l2_ball(1.0), x, h);
  EXPECT_GT(x[0], 0.99);
  EXPECT_LT(x[1], 0.05);
}

TEST(WeightedProjection, ANanStaysForTheCallerToFind) {
  for (const ConvexSet& set : sets()) {
    Real x = Real::Constant(3, 2.0);
    x[1] = std::numeric_limits<double>::quiet_NaN();
    project_weighted<double>(set, x, Real::Ones(3));
    EXPECT_TRUE(std::isnan(x[1])) << set.name();
  }
}

TEST(WeightedProjection, FloatsAreFeasibleToo) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Draw d = draw(seed, 6);
    for (const ConvexSet& set : sets()) {
      Vector<float> x = d.x.cast<float>();
      project_weighted<float>(set, x, d.h.cast<float>());
      EXPECT_TRUE(set.contains(x, 1e-7)) << set.name() << ", seed " << seed;
    }
  }
}

TEST(WeightedProjection, OneHugeCoordinateTakesTheWholeSimplex) {
  Real x(2);
  x << 1e17, 0.0;
  project_weighted<double>(ConvexSet::simplex(), x, Real::Ones(2));
  EXPECT_EQ(x[0], 1.0);
  EXPECT_EQ(x[1], 0.0);
}

}  // namespace
