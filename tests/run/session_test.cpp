#include "obolus/any/session.hpp"

#include <gtest/gtest.h>

#include "obolus/any/erased.hpp"
#include "obolus/optimisers/af2obo.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "obolus/problems/quadratic.hpp"

namespace {

using namespace obolus;

using Real = Vector<double>;

QuadraticOptions quadratic_options(std::int64_t dim_y = 4) {
  QuadraticOptions o;
  o.dim_x = 3;
  o.dim_y = dim_y;
  return o;
}

template <class S, class P>
Session<F2obo, P> open(P& p, F2oboOptions options = {}, const ConvexSet& set = ConvexSet::all()) {
  const Dims dims = p.dims();
  return Session<F2obo, P>(F2obo(options, set), p, Vector<S>::LinSpaced(dims.x, S(-2), S(2)),
                           Vector<S>::LinSpaced(dims.y, S(-1), S(1)));
}

template <class Session>
std::vector<std::byte> saved(Session& session) {
  Archive archive;
  archive("session", session);
  return archive.bytes();
}

template <class Session>
void load(Session& session, std::vector<std::byte> bytes) {
  Archive archive(std::move(bytes));
  archive("session", session);
  archive.finish();
}

TEST(Session, TheStartIsProjectedAndNothingIsAskedForIt) {
  Quadratic<double> p(quadratic_options(), 1);
  const auto session = open<double>(p, {}, ConvexSet::box(-0.5, 0.25));
  EXPECT_EQ(session.x(), (Real(3) << -0.5, 0.0, 0.25).finished());
  EXPECT_EQ(session.counts(), OracleCounts{});
  EXPECT_EQ(session.direction(), Real::Zero(3));
}

TEST(Session, BothCopiesStartAtTheGivenYUnderEveryWarmStart) {
  for (const WarmStart warm_start : {WarmStart::separate, WarmStart::tied, WarmStart::dual}) {
    Quadratic<double> p(quadratic_options(), 1);
    auto session = open<double>(p, {.warm_start = warm_start});
    Real y(4), z(4);
    session.read_y(y);
    session.read_z(z);
    EXPECT_EQ(y, Real::LinSpaced(4, -1.0, 1.0));
    EXPECT_EQ(z, y);
  }
}

TEST(Session, ReadingTheIteratesChangesNothing) {
  for (const WarmStart warm_start : {WarmStart::separate, WarmStart::dual}) {
    Quadratic<double> p(quadratic_options(), 1), q(quadratic_options(), 1);
    auto watched = open<double>(p, {.warm_start = warm_start}), alone = open<double>(q, {.warm_start = warm_start});
    Real y(4), z(4);
    for (Round t = 1; t <= 10; ++t) {
      p.reveal(t);
      q.reveal(t);
      watched.read_y(y);
      watched.read_z(z);
      watched.step(Rng(1));
      alone.step(Rng(1));
      watched.read_y(y);
      watched.read_y(z);
      EXPECT_EQ(y, z);
    }
    EXPECT_EQ(saved(watched), saved(alone));
  }
}

// ---- Saving --------------------------------------------------------------------------------------------------------

TEST(Session, ASavedStateHoldsEverythingThatChanges) {
  Quadratic<double> p(quadratic_options(), 1), q(quadratic_options(), 1);
  auto first = open<double>(p), second = open<double>(q);
  for (Round t = 1; t <= 5; ++t) {
    p.reveal(t);
    first.step(Rng(1));
  }
  load(second, saved(first));
  EXPECT_EQ(saved(second), saved(first));
  EXPECT_EQ(second.x(), first.x());
  EXPECT_EQ(second.direction(), first.direction());
  EXPECT_EQ(second.counts(), first.counts());
  p.reveal(6);
  q.reveal(6);
  EXPECT_EQ(first.step(Rng(1)).lambda, second.step(Rng(1)).lambda);
  EXPECT_EQ(saved(second), saved(first));
}

TEST(Session, AStateOfAnotherSizeIsRefused) {
  Quadratic<double> p(quadratic_options(4), 1), q(quadratic_options(5), 1);
  auto four = open<double>(p), five = open<double>(q);
  EXPECT_THROW(load(five, saved(four)), DataError);
}

TEST(Session, AStateOfAnotherPrecisionIsRefused) {
  Quadratic<double> p(quadratic_options(), 1);
  Quadratic<float> q(quadratic_options(), 1);
  auto full = open<double>(p);
  auto single = open<float>(q);
  EXPECT_THROW(load(single, saved(full)), DataError);
  EXPECT_THROW(load(full, saved(single)), DataError);
}

// The erased path wraps its inner iterates, so the two layouts must not be confused.
TEST(Session, AnErasedStateIsNotAStaticOne) {
  Quadratic<double> p(quadratic_options(), 1);
  Erased<Quadratic<double>> erased(std::in_place, quadratic_options(), 1);
  AnyOracle<double>& q = erased;
  auto fixed = open<double>(p);
  auto any = open<double>(q);
  EXPECT_THROW(load(fixed, saved(any)), DataError);
  EXPECT_THROW(load(any, saved(fixed)), DataError);
}

TEST(Session, FloatAndDoubleTellTheSameStory) {
  Quadratic<double> p(quadratic_options(), 1);
  Quadratic<float> q(quadratic_options(), 1);
  auto full = open<double>(p);
  auto single = open<float>(q);
  for (Round t = 1; t <= 10; ++t) {
    p.reveal(t);
    q.reveal(t);
    ASSERT_EQ(full.step(Rng(1)).status, Status::ok);
    ASSERT_EQ(single.step(Rng(1)).status, Status::ok);
  }
  // Ten rounds, each with errors of λ_t|B| · 12u = 600u at most in d and γ = 0.01 of that in x, and 4u in x itself.
  EXPECT_LE((full.x() - single.x().cast<double>()).norm(), 10 * (0.01 * 600 + 4) * 6e-8 * full.x().norm());
  EXPECT_EQ(full.counts(), single.counts());
}

}  // namespace
