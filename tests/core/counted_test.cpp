#include "obolus/core/counted.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "obolus/check/plain.hpp"
#include "tests/lazy_ridge.hpp"
#include "tests/sound_problem.hpp"

namespace {

using namespace obolus;
using V = In<double>;
using W = Out<double>;
using test::SoundProblem;

// Counts what really reaches it: plain gradients only, so that every primitive is the default one.
class Tally {
 public:
  using Scalar = double;
  OracleCounts raw;
  Dims dims() const { return sound_.dims(); }
  double outer_value(V x, V y) {
    ++raw.values;
    return sound_.outer_value(x, y);
  }
  double inner_value(V x, V y) {
    ++raw.values;
    return sound_.inner_value(x, y);
  }
  void outer_gradient_x(V x, V y, W d) {
    ++raw.f_x;
    sound_.outer_gradient_x(x, y, d);
  }
  void outer_gradient_y(V x, V y, W d) {
    ++raw.f_y;
    sound_.outer_gradient_y(x, y, d);
  }
  void inner_gradient_x(V x, V y, W d) {
    ++raw.g_x;
    sound_.inner_gradient_x(x, y, d);
  }
  void inner_gradient_y(V x, V y, W d) {
    ++raw.g_y;
    sound_.inner_gradient_y(x, y, d);
  }
  void inner_hvp_yy(V x, V y, V v, W d) {
    ++raw.hvp_yy;
    sound_.inner_hvp_yy(x, y, v, d);
  }
  void inner_hvp_xy(V x, V y, V v, W d) {
    ++raw.hvp_xy;
    sound_.inner_hvp_xy(x, y, v, d);
  }
  void resample(SampleSizes sizes, Rng& rng) { sound_.resample(sizes, rng); }
  void expectation() { sound_.expectation(); }

 protected:
  SoundProblem<double> sound_;
};

// With differences: g_x(y) − g_x(z) stands for two gradients. g_y(y) − g_y(z) comes beside a g_y(z) that is asked
// anyway, so it stands for one more.
class TallyDifferences : public Tally {
 public:
  void inner_gradient_x_difference(V x, V z, V delta, W d) {
    raw.g_x += 2;
    sound_.inner_gradient_x_difference(x, z, delta, d);
  }
  void inner_gradient_y_difference(V x, V z, V delta, W d) {
    raw.g_y += 1;
    sound_.inner_gradient_y_difference(x, z, delta, d);
  }
};

struct Iterates {
  Vector<double> x = Vector<double>::Constant(2, 0.3);
  Vector<double> y = Vector<double>::LinSpaced(3, -1.0, 1.0), z = Vector<double>::LinSpaced(3, 0.5, 0.8), w = 2.0 * y;
  Vector<double> d = Vector<double>::Zero(2);
};

constexpr Penalty penalty{1.0, 8.0};
constexpr DualStep dual{0.1, 0.0125, 8.0};
constexpr CentralStep central{0.0125, 8.0};

template <class P>
using Space = InnerSpace<Counted<P>>;
template <class P>
struct Named {
  std::string name;
  std::function<void(Space<P>&, Counted<P>&, Iterates&)> run;
};

template <class P>
std::vector<Named<P>> primitives() {
  using S = Space<P>&;
  using C = Counted<P>&;
  using I = Iterates&;
  return {
      {"copy", [](S s, C p, I i) { s.copy(p, i.y, i.w); }},
      {"axpy", [](S s, C p, I i) { s.axpy(p, 2.0, i.y, i.w); }},
      {"all_finite", [](S s, C p, I i) { (void)s.all_finite(p, i.y); }},
      {"to_dense", [](S s, C p, I i) { s.to_dense(p, i.y, i.w); }},
      {"from_dense", [](S s, C p, I i) { s.from_dense(p, i.y, i.w); }},
      {"descend", [](S s, C p, I i) { s.descend(p, i.x, i.z, 0.1); }},
      {"descend_penalised", [](S s, C p, I i) { s.descend_penalised(p, i.x, i.y, 0.01, penalty); }},
      {"descend_pair", [](S s, C p, I i) { s.descend_pair(p, i.x, i.y, i.z, 0.01, penalty, 0.1); }},
      {"descend_dual", [](S s, C p, I i) { s.descend_dual(p, i.x, i.z, i.w, dual); }},
      {"descend_central", [](S s, C p, I i) { s.descend_central(p, i.x, i.z, i.w, central); }},
      {"descend, several", [](S s, C p, I i) { s.descend(p, i.x, i.z, 0.1, 5); }},
      {"descend_penalised, several", [](S s, C p, I i) { s.descend_penalised(p, i.x, i.y, 0.01, penalty, 4); }},
      {"descend_pair, several", [](S s, C p, I i) { s.descend_pair(p, i.x, i.y, i.z, 0.01, penalty, 0.1, 3); }},
      {"descend_dual, several", [](S s, C p, I i) { s.descend_dual(p, i.x, i.z, i.w, dual, 6); }},
      {"descend_central, several", [](S s, C p, I i) { s.descend_central(p, i.x, i.z, i.w, central, 7); }},
      {"descend_until", [](S s, C p, I i) { s.descend_until(p, i.x, i.z, 0.1, {1e-3, 1000}); }},
      {"descend_until, capped", [](S s, C p, I i) { s.descend_until(p, i.x, i.z, 0.1, {0.0, 7}); }},
      {"descend_until, nothing to do", [](S s, C p, I i) { s.descend_until(p, i.x, i.z, 0.1, {1e9, 7}); }},
      {"descend_penalised_until",
       [](S s, C p, I i) { s.descend_penalised_until(p, i.x, i.y, 0.01, penalty, {1e-3, 1000}); }},
      {"descend_dual_until", [](S s, C p, I i) { s.descend_dual_until(p, i.x, i.z, i.w, dual, {1e-3, 1000}); }},
      {"gradient_norm", [](S s, C p, I i) { (void)s.gradient_norm(p, i.x, i.z); }},
      {"penalised_gradient_norm", [](S s, C p, I i) { (void)s.penalised_gradient_norm(p, i.x, i.y, penalty); }},
      {"penalty_direction", [](S s, C p, I i) { s.penalty_direction(p, i.x, i.y, i.z, 8.0, i.d); }},
      {"dual_direction", [](S s, C p, I i) { s.dual_direction(p, i.x, i.z, i.w, 8.0, i.d); }},
      {"central_direction", [](S s, C p, I i) { s.central_direction(p, i.x, i.z, i.w, 8.0, i.d); }},
      {"descend_system", [](S s, C p, I i) { s.descend_system(p, i.x, i.y, i.w, {0.1, 0.2}); }},
      {"implicit_direction", [](S s, C p, I i) { s.implicit_direction(p, i.x, i.y, i.w, i.d); }},
      {"bound", [](S s, C p, I i) { s.bound(p, i.w, 0.1); }},
  };
}

template <class P>
void declared_costs_are_the_raw_calls() {
  for (const Named<P>& primitive : primitives<P>()) {
    P tally;
    Counted<P> counted(tally);
    Space<P> space(counted);
    Iterates iterates;
    primitive.run(space, counted, iterates);
    EXPECT_EQ(counted.counts(), tally.raw) << primitive.name;
    if (primitive.name.starts_with("descend")) {
      EXPECT_GT(tally.raw.g_y, 0) << primitive.name;
    }
  }
}

TEST(Counted, DeclaredCostsAreTheRawCallsOfEveryPrimitive) { declared_costs_are_the_raw_calls<Tally>(); }

TEST(Counted, ADifferenceIsChargedAsTheGradientsItStandsFor) { declared_costs_are_the_raw_calls<TallyDifferences>(); }

TEST(Counted, PlainCallsAreCountedByKind) {
  Tally tally;
  Counted<Tally> p(tally);
  const Iterates i;
  Vector<double> in_x(2), in_y(3);
  p.outer_value(i.x, i.y);
  p.inner_value(i.x, i.y);
  p.outer_gradient_x(i.x, i.y, in_x);
  for (int n = 0; n < 2; ++n) p.outer_gradient_y(i.x, i.y, in_y);
  for (int n = 0; n < 3; ++n) p.inner_gradient_x(i.x, i.y, in_x);
  for (int n = 0; n < 4; ++n) p.inner_gradient_y(i.x, i.y, in_y);
  for (int n = 0; n < 5; ++n) p.inner_hvp_yy(i.x, i.y, i.z, in_y);
  for (int n = 0; n < 6; ++n) p.inner_hvp_xy(i.x, i.y, i.z, in_x);
  EXPECT_EQ(p.counts(), (OracleCounts{.f_x = 1, .f_y = 2, .g_x = 3, .g_y = 4, .hvp_yy = 5, .hvp_xy = 6, .values = 2}));
  EXPECT_EQ(p.counts(), tally.raw);
  EXPECT_EQ(p.counts().grad_f(), 3);
  EXPECT_EQ(p.counts().grad_g(), 7);
}

// Lazy primitives never call a gradient, and cost what their definitions cost.
TEST(Counted, FusedPrimitivesAreChargedLikeTheirDefinitions) {
  using Lazy = test::LazyRidge<double>;
  Lazy lazy(5, 2, 2, 3);
  Counted<Lazy> fused(lazy);
  Plain<Lazy> stripped(lazy);
  Counted<Plain<Lazy>> defined(stripped);
  const Vector<double> x = Vector<double>::Ones(5), start = Vector<double>::LinSpaced(10, -1.0, 1.0);
  Vector<double> d(5);
  const auto walk = [&](auto& p) {
    InnerSpace<std::remove_reference_t<decltype(p)>> space(p);
    auto y = space.make(p, start), z = space.make(p, start), w = space.make(p, start);
    space.descend(p, x, z, 0.1);
    space.descend_penalised(p, x, y, 0.01, penalty);
    space.descend_pair(p, x, y, z, 0.01, penalty, 0.1);
    space.descend_dual(p, x, z, w, dual);
    space.descend_central(p, x, z, w, central, 2);
    (void)space.gradient_norm(p, x, z);
    (void)space.penalised_gradient_norm(p, x, y, penalty);
    space.penalty_direction(p, x, y, z, 8.0, d);
    space.dual_direction(p, x, z, w, 8.0, d);
    space.central_direction(p, x, z, w, 8.0, d);
    return p.counts();
  };
  const OracleCounts expected{.f_x = 4, .f_y = 8, .g_x = 6, .g_y = 12};
  EXPECT_EQ(walk(fused), expected);
  EXPECT_EQ(walk(defined), expected);
}

TEST(Counted, OffersWhatItsProblemOffersAndNoMore) {
  static_assert(HvpOracle<Counted<Tally>> && StochasticOracle<Counted<Tally>>);
  static_assert(!ClosedFormOracle<Counted<test::LazyRidge<double>>>, "no optimiser may ask for y*");
  static_assert(!HvpOracle<Counted<Plain<Tally>>> && !StochasticOracle<Counted<Plain<Tally>>>);
  static_assert(OwnsInnerStorage<Counted<test::LazyRidge<double>>>);
  Tally tally;
  Counted<Tally> p(tally);
  EXPECT_EQ(p.dims(), tally.dims());
  EXPECT_EQ(&p.problem(), &tally);
}

TEST(Counted, CountsSurviveAnArchive) {
  OracleCounts counts{.f_x = 1, .f_y = 2, .g_x = 3, .g_y = 4, .hvp_yy = 5, .hvp_xy = 6, .values = 7};
  OracleCounts restored;
  Archive saved;
  saved("counts", counts);
  Archive loading(saved.bytes());
  loading("counts", restored);
  loading.finish();
  EXPECT_EQ(restored, counts);
}

}  // namespace
