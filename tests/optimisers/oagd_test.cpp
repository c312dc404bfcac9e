#include "obolus/optimisers/oagd.hpp"

#include <gtest/gtest.h>

#include "obolus/any/session.hpp"
#include "tests/optimisers/slow_products.hpp"

namespace {

using namespace obolus;
using namespace obolus::test;

// The method as its paper has it, and as its authors' code has it.
class SlowOagd {
  SlowProducts p_;
  OagdOptions o_;
  SlowSet set_;
  Round t_ = 0;

 public:
  Real x, y, d;
  std::int64_t steps = 0;

  SlowOagd(Quadratic<double>& p, const OagdOptions& o, const SlowSet& set, const Real& x1, const Real& y1)
      : p_(p), o_(o), set_(set), x(set.nearest(x1)), y(y1) {}

  void round() {
    const Round oldest = std::max<Round>(1, ++t_ - o_.window + 1);
    steps = 0;
    if (o_.inner_on == InnerOn::window) {
      for (Round s = oldest; s <= t_; ++s) descend(s);
    } else {
      while (steps < o_.inner_steps.scale) descend(t_);
    }
    d = Real::Zero(x.size());
    double weights = 0.0;
    for (Round s = t_; s > t_ - o_.window; --s) {
      const double weight = std::pow(o_.decay, static_cast<double>(t_ - s));
      if (s >= 1) d += weight * estimate(s);
      if (s >= 1 || o_.normalise == Normalise::window) weights += weight;
    }
    d /= weights;
    x = set_.nearest(x - o_.gamma.scale * d);
  }

 private:
  void descend(Round s) {
    p_.reveal(s);
    y = y - o_.alpha.scale * p_.g_y(x, y);
    ++steps;
  }
  Real estimate(Round s) {
    p_.reveal(s);
    if (o_.system_solver == ColdSolver::cg) return p_.hypergradient(x, y, p_.solution(x, y));
    // (1/L) Σ_{k≤Q} (I − g_yy/L)^k f_y
    const double L = *o_.L_g1;
    const Matrix<double> factor = Matrix<double>::Identity(y.size(), y.size()) - p_.g_yy(x, y) / L;
    Matrix<double> power = Matrix<double>::Identity(y.size(), y.size()), sum = power;
    for (int k = 1; k <= o_.system_steps.scale; ++k) sum += power = power * factor;
    return p_.hypergradient(x, y, sum * p_.f_y(x, y) / L);
  }
};

OagdOptions options(InnerOn inner_on, Normalise normalise, ColdSolver solver) {
  OagdOptions o;
  o.alpha = 0.2;
  o.gamma = 0.05;
  o.inner_steps = 3.0;
  o.inner_on = inner_on;
  o.window = 4;
  o.decay = 0.9;
  o.normalise = normalise;
  o.system_solver = solver;
  o.system_steps = solver == ColdSolver::cg ? exact_steps : 5.0;
  o.L_g1 = 5.0;
  return o;
}

void compare(const QuadraticOptions& stream, const OagdOptions& o, const SlowSet& set) {
  Quadratic<double> ours(stream, 7), theirs(stream, 7);
  const Real x1 = first_x(ours.dims()), y1 = first_y(ours.dims());
  Session<Oagd, Quadratic<double>> session(Oagd(o, set.set), ours, x1, y1);
  SlowOagd reference(theirs, o, set, x1, y1);
  Vector<double> y(ours.dims().y);
  for (Round t = 1; t <= compared_rounds && !testing::Test::HasFailure(); ++t) {
    SCOPED_TRACE("round " + std::to_string(t));
    ours.reveal(t);
    const Step step = session.step(Rng(1));
    reference.round();
    EXPECT_EQ(step.status, Status::ok);
    EXPECT_EQ(step.steps_y, reference.steps);
    session.read_y(y);
    expect_near<double>(y, reference.y, product_tolerance, "y");
    expect_near<double>(session.direction(), reference.d, product_tolerance, "d");
    expect_near<double>(session.x(), reference.x, product_tolerance, "x");
  }
}

TEST(Oagd, EveryFormFollowsTheSlowReference) {
  for (const auto& [name, stream] : quadratic_streams())
    for (const SlowSet& set : slow_sets(stream.dim_x))
      for (const auto& [inner_on, inner_name] : EnumNames<InnerOn>::values)
        for (const auto& [normalise, divided] : EnumNames<Normalise>::values)
          for (const auto& [solver, solver_name] : EnumNames<ColdSolver>::values) {
            SCOPED_TRACE(name + ", " + set.name + ", " + std::string(inner_name) + ", " + std::string(divided) + ", " +
                         std::string(solver_name));
            compare(stream, options(inner_on, normalise, solver), set);
            if (HasFailure()) return;
          }
}

// Every function of a still stream is the same, so that dividing by the rounds there have been makes the window do
// nothing from the first round on, while the full divisor makes the first direction a fourth of it.
TEST(Oagd, TheFirstDirectionIsWholeWhenOnlyStoredRoundsCount) {
  const QuadraticOptions still = small_quadratic(Drift::none, 0.0);
  const auto first_direction = [&](Normalise normalise, std::int64_t window) {
    OagdOptions o = options(InnerOn::round, normalise, ColdSolver::cg);
    o.window = window;
    o.decay = 1.0;
    Quadratic<double> p(still, 7);
    Session<Oagd, Quadratic<double>> session(Oagd(o, ConvexSet::all()), p, first_x(p.dims()), first_y(p.dims()));
    p.reveal(1);
    session.step(Rng(1));
    return session.direction();
  };
  const Real alone = first_direction(Normalise::window, 1);
  EXPECT_EQ(first_direction(Normalise::stored, 4), alone);
  EXPECT_EQ(first_direction(Normalise::window, 4), alone / 4.0);
}

}  // namespace
