#include "obolus/optimisers/wobo.hpp"

#include <gtest/gtest.h>

#include <map>

#include "obolus/any/session.hpp"
#include "obolus/optimisers/fsobo.hpp"
#include "tests/optimisers/slow_products.hpp"

namespace {

using namespace obolus;
using namespace obolus::test;

class SlowWobo {
  struct Iterates {
    Real y, v;
  };
  SlowProducts p_;
  WoboOptions o_;
  SlowSet set_;
  Round t_ = 0;
  std::map<Round, Iterates> of_;  // by round; of_[0] is the start

 public:
  Real x, d;
  std::int64_t outer_steps = 0;
  double closest = std::numeric_limits<double>::infinity();  // smallest |length − limit|/limit of a decision

  SlowWobo(Quadratic<double>& p, const WoboOptions& o, const SlowSet& set, const Real& x1, const Real& y1)
      : p_(p), o_(o), set_(set), of_{{0, {y1, Real::Zero(y1.size())}}}, x(set.nearest(x1)) {}

  [[nodiscard]] const Real& y() const { return of_.at(t_).y; }
  [[nodiscard]] std::int64_t functions() const { return std::min<Round>(t_, o_.window); }

  void round() {
    ++t_;
    of_[t_] = of_[t_ - 1];
    outer_steps = 0;
    while (true) {
      const Real from = x;
      outer_step();
      if (!o_.tolerance || ++outer_steps == o_.max_outer) break;
      const double length = (from - x).norm() / o_.gamma.scale;
      const double limit = *o_.tolerance / static_cast<double>(o_.window);
      closest = std::min(closest, std::abs(length - limit) / limit);
      if (length <= limit) break;
    }
    outer_steps = std::max<std::int64_t>(outer_steps, 1);
  }

 private:
  void outer_step() {
    d = Real::Zero(x.size());
    for (Round s = t_ - functions() + 1; s <= t_; ++s) {
      auto& [y, v] = of_[s];
      p_.reveal(s);
      for (int k = 0; k < o_.inner_steps.scale; ++k) y = y - o_.alpha.scale * p_.g_y(x, y);
      if (o_.system_solver == SystemSolver::cg) v = p_.solution(x, y);
      else
        for (int q = 0; q < o_.system_steps.scale; ++q) v = v - o_.v_step->scale * (p_.g_yy(x, y) * v - p_.f_y(x, y));
      d += p_.hypergradient(x, y, v);
    }
    d /= static_cast<double>(o_.normalise == Normalise::window ? o_.window : functions());
    x = set_.nearest(x - o_.gamma.scale * d);
  }
};

WoboOptions options(std::int64_t window, SystemSolver solver) {
  WoboOptions o;
  o.alpha = 0.2;
  o.gamma = 0.05;
  o.inner_steps = 2.0;
  o.window = window;
  o.system_solver = solver;
  o.system_steps = solver == SystemSolver::cg ? exact_steps : 3.0;
  o.v_step = 0.15;
  return o;
}

using On = Quadratic<double>;

// The number of outer steps of the last round.
std::int64_t compare(const QuadraticOptions& stream, const WoboOptions& o, const SlowSet& set) {
  On ours(stream, 7), theirs(stream, 7);
  const Real x1 = first_x(ours.dims()), y1 = first_y(ours.dims());
  Session<Wobo, On> session(Wobo(o, set.set), ours, x1, y1);
  SlowWobo reference(theirs, o, set, x1, y1);
  Vector<double> y(ours.dims().y);
  for (Round t = 1; t <= compared_rounds && !testing::Test::HasFailure(); ++t) {
    SCOPED_TRACE("round " + std::to_string(t));
    ours.reveal(t);
    const Step step = session.step(Rng(1));
    reference.round();
    if (reference.closest < 1e-9) break;  // rounding decides when to stop
    EXPECT_EQ(step.status, Status::ok);
    EXPECT_EQ(step.steps_y, 2 * reference.functions() * reference.outer_steps);
    session.read_y(y);
    expect_near<double>(y, reference.y(), product_tolerance, "y");
    expect_near<double>(session.direction(), reference.d, product_tolerance, "d");
    expect_near<double>(session.x(), reference.x, product_tolerance, "x");
  }
  return reference.outer_steps;
}

TEST(Wobo, FollowsTheSlowReference) {
  for (const auto& [name, stream] : quadratic_streams())
    for (const SlowSet& set : slow_sets(stream.dim_x))
      for (const auto& [solver, solver_name] : EnumNames<SystemSolver>::values)
        for (const std::int64_t window : {1, 2, 4})
          for (const auto& [normalise, divided] : EnumNames<Normalise>::values) {
            SCOPED_TRACE(name + ", " + set.name + ", " + std::string(solver_name) + ", w = " + std::to_string(window) +
                         ", " + std::string(divided));
            WoboOptions o = options(window, solver);
            o.normalise = normalise;
            compare(stream, o, set);
            if (HasFailure()) return;
          }
}

TEST(Wobo, RepeatsOuterStepsAsTheSlowReferenceDoes) {
  std::int64_t most = 0;
  for (const auto& [name, stream] : quadratic_streams())
    for (const SlowSet& set : slow_sets(stream.dim_x)) {
      SCOPED_TRACE(name + ", " + set.name);
      WoboOptions o = options(3, SystemSolver::gd);
      o.tolerance = 0.3;
      most = std::max(most, compare(stream, o, set));
      o.tolerance = 1e-9;
      o.max_outer = 4;
      EXPECT_LE(compare(stream, o, set), 4);
      if (HasFailure()) return;
    }
  EXPECT_GT(most, 5);
}

// On the whole space |x⁺ − x|/γ is |d|, the last of which is shown. With F 1-strongly convex a step of the first round
// leaves 1 − γ/3 of |d|: 1000 of them leave e^−16.
TEST(Wobo, LeavesAShortDirectionOrSaysThatItWasCapped) {
  WoboOptions o = options(3, SystemSolver::cg);
  o.inner_steps = 60.0;
  o.tolerance = 0.01;
  QuadraticOptions stream = small_quadratic(Drift::abrupt, 0.0);
  stream.ridge = 1.0;
  On p(stream, 7);
  Session<Wobo, On> session(Wobo(o, ConvexSet::all()), p, first_x(p.dims()), first_y(p.dims()));
  for (Round t = 1; t <= 9; ++t) {
    p.reveal(t);
    EXPECT_FALSE(session.step(Rng(1)).capped);
    EXPECT_LE(session.direction().norm(), 0.01 / 3 * (1 + 1e-12));
  }
  o.max_outer = 2;
  Session<Wobo, On> capped(Wobo(o, ConvexSet::all()), p, first_x(p.dims()), first_y(p.dims()));
  p.reveal(1);
  const Step step = capped.step(Rng(1));
  EXPECT_TRUE(step.capped);
  EXPECT_EQ(step.steps_y, 2 * 60);
}

TEST(Wobo, WithAWindowOfOneAndSingleStepsIsFsobo) {
  const QuadraticOptions stream = small_quadratic(Drift::abrupt, 0.7);
  On first(stream, 7), second(stream, 7);
  WoboOptions o = options(1, SystemSolver::gd);
  o.inner_steps = o.system_steps = 1.0;
  FsoboOptions f;
  f.alpha = o.alpha;
  f.gamma = o.gamma;
  f.v_step = o.v_step;
  const Real x1 = first_x(first.dims()), y1 = first_y(first.dims());
  Session<Wobo, On> wobo(Wobo(o, ConvexSet::l2_ball(0.4)), first, x1, y1);
  Session<Fsobo, On> fsobo(Fsobo(f, ConvexSet::l2_ball(0.4)), second, x1, y1);
  for (Round t = 1; t <= 20; ++t) {
    first.reveal(t);
    second.reveal(t);
    wobo.step(Rng(1));
    fsobo.step(Rng(1));
    ASSERT_EQ(wobo.x(), fsobo.x()) << "round " << t;
  }
}

TEST(Wobo, CostsTheSameForEveryFunctionOfTheWindow) {
  WoboOptions o = options(3, SystemSolver::gd);
  On p(small_quadratic(Drift::abrupt, 0.0), 7);
  Session<Wobo, On> session(Wobo(o, ConvexSet::all()), p, first_x(p.dims()), first_y(p.dims()));
  std::int64_t seen = 0;
  for (Round t = 1; t <= 6; ++t) {
    p.reveal(t);
    session.step(Rng(1));
    seen += std::min<Round>(t, 3);
    const OracleCounts& counts = session.counts();
    EXPECT_EQ(counts.g_y, 2 * seen);
    EXPECT_EQ(counts.f_y, seen);
    EXPECT_EQ(counts.f_x, seen);
    EXPECT_EQ(counts.hvp_yy, 3 * seen);
    EXPECT_EQ(counts.hvp_xy, seen);
  }
}

TEST(Wobo, RefusesAWindowThatNoMemoryHolds) {
  WoboOptions o;
  o.window = 1'000'000;
  On p(small_quadratic(Drift::none, 0.0), 7);
  const Real x = Real::Zero(4), y = Real::Zero(10'000);
  EXPECT_THROW((void)Wobo(o, ConvexSet::all()).init(p, x, y), ConfigError);
}

}  // namespace
