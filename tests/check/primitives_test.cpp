#include "obolus/check/primitives.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "obolus/any/erased.hpp"
#include "obolus/core/counted.hpp"
#include "tests/check/findings.hpp"
#include "tests/lazy_ridge.hpp"
#include "tests/sound_problem.hpp"

namespace {

using namespace obolus;
using test::failed;
using test::Names;
using test::passes;
using Sound = test::SoundProblem<double>;
using Lazy = test::LazyRidge<double>;
using V = In<double>;
using W = Out<double>;

const CheckOptions for_lazy{.x = Vector<double>::Ones(6), .radius = 0.5};

template <class P>
CheckReport check_lazy() {
  P p(6, 3, 2, 5);
  return check_primitives(p, for_lazy);
}
template <class P>
Names failed_sound() {
  P p;
  return failed(check_primitives(p));
}

TEST(CheckPrimitives, DefaultsAreTheirOwnDefinition) {
  Sound p;
  const CheckReport report = check_primitives(p);
  EXPECT_TRUE(passes(report));
  for (const Finding& f : report.findings) EXPECT_EQ(f.error, 0.0) << f.what;
}

TEST(CheckPrimitives, LazyStoragePassesInBothPrecisionsWhateverTheSeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Lazy p(6, 3, 2, seed);
    EXPECT_TRUE(passes(check_primitives(p, for_lazy, Rng(seed)))) << "seed " << seed;
    test::LazyRidge<float> single(6, 3, 2, seed);
    EXPECT_TRUE(passes(check_primitives(single, for_lazy, Rng(seed)))) << "seed " << seed;
  }
}

TEST(CheckPrimitives, CountedAndErasedProblemsPass) {
  Lazy p(6, 3, 2, 5);
  Counted<Lazy> counted(p);
  EXPECT_TRUE(passes(check_primitives(counted, for_lazy)));
  Erased<test::LazyRidge<float>> lazy(std::in_place, Index(6), Index(3), Index(2), std::uint64_t(5));
  AnyOracle<float>& any = lazy;
  EXPECT_TRUE(passes(check_primitives(any, for_lazy)));
}

// Every primitive, each with a fault of its own.

struct WrongStep : Sound {
  void descend(V x, Vector<double>& z, double alpha) const {
    Vector<double> g(3);
    inner_gradient_y(x, z, g);
    z -= 1.001 * alpha * g;
  }
};
TEST(CheckPrimitives, FindsAWrongDescend) {
  EXPECT_EQ(failed_sound<WrongStep>(),
            (Names{"descend equals its definition", "descend_pair (z) equals its definition",
                   "descend_system (v) equals its definition", "descend_system (y) equals its definition"}));
}

struct ForgetsF : Sound {
  void descend_penalised(V x, Vector<double>& y, double beta, Penalty penalty) const {
    Vector<double> f(3), g(3);
    outer_gradient_y(x, y, f);
    inner_gradient_y(x, y, g);
    y -= beta * (f + penalty.g * g);  // the weight of f
  }
};
TEST(CheckPrimitives, FindsAForgottenWeight) {
  EXPECT_EQ(failed_sound<ForgetsF>(),
            (Names{"descend_penalised equals its definition", "descend_pair (y) equals its definition"}));
}

struct PairOfOldAndNew : Sound {
  void descend_pair(V x, Vector<double>& y, Vector<double>& z, double beta, Penalty penalty, double alpha) const {
    Vector<double> f(3), g(3);
    inner_gradient_y(x, z, g);
    z -= alpha * g;
    outer_gradient_y(x, y, f);
    y -= beta * (penalty.f * f + penalty.g * g);  // g at z, where g at y is meant
  }
};
TEST(CheckPrimitives, FindsAPairThatMixesItsPoints) {
  EXPECT_EQ(failed_sound<PairOfOldAndNew>(), Names{"descend_pair (y) equals its definition"});
}

struct DualAtTheNewZ : Sound {
  void descend_dual(V x, Vector<double>& z, Vector<double>& w, DualStep s) const {
    Vector<double> f(3), high(3), low(3);
    inner_gradient_y(x, z, low);
    z -= s.alpha * low;
    const Vector<double> y = z + w / s.lambda;
    outer_gradient_y(x, y, f);
    inner_gradient_y(x, y, high);
    w -= s.lambda * (s.beta * f + s.lambda * s.beta * high - s.alpha * low);
  }
};
TEST(CheckPrimitives, FindsADualStepFromTheWrongPoint) {
  EXPECT_EQ(failed_sound<DualAtTheNewZ>(), Names{"descend_dual (w) equals its definition"});
}

// Right for one step, and one step whatever it is asked for.
struct OnlyEverOne : Sound {
  void descend(V x, Vector<double>& z, double alpha, std::int64_t) {
    InnerSpace<Plain<Sound>> space(plain);
    space.descend(plain, x, z, alpha);
  }
  void descend_dual(V x, Vector<double>& z, Vector<double>& w, DualStep s, std::int64_t) {
    InnerSpace<Plain<Sound>> space(plain);
    space.descend_dual(plain, x, z, w, s);
  }
  Plain<Sound> plain{*this};
};
TEST(CheckPrimitives, FindsStepsThatAreNotCounted) {
  EXPECT_EQ(failed_sound<OnlyEverOne>(),
            (Names{"descend equals its definition", "descend_pair (z) equals its definition",
                   "descend_dual (z) equals its definition", "descend_dual (w) equals its definition"}));
}

struct WrongCentre : Sound {
  void descend_central(V x, Vector<double>& c, Vector<double>& w, CentralStep s, std::int64_t n) {
    const Vector<double> before = c;
    InnerSpace<Plain<Sound>> space(plain);
    space.descend_central(plain, x, c, w, s, n);
    w += 1e-6 * (c - before);
  }
  void central_direction(V x, const Vector<double>& c, const Vector<double>& w, double lambda, W d) {
    InnerSpace<Plain<Sound>> space(plain);
    space.dual_direction(plain, x, c, w, lambda, d);  // one-sided
  }
  Plain<Sound> plain{*this};
};
TEST(CheckPrimitives, FindsACentredPairThatIsNot) {
  EXPECT_EQ(failed_sound<WrongCentre>(),
            (Names{"descend_central (w) equals its definition", "central_direction equals its definition"}));
}

struct OneStepMore : Sound {
  LoopResult descend_until(V x, Vector<double>& z, double alpha, Until until) {
    InnerSpace<Plain<Sound>> space(plain);
    LoopResult r = space.descend_until(plain, x, z, alpha, {until.tolerance, until.cap + 1});
    return r;
  }
  LoopResult descend_penalised_until(V x, Vector<double>& y, double beta, Penalty penalty, Until until) {
    InnerSpace<Plain<Sound>> space(plain);
    LoopResult r = space.descend_penalised_until(plain, x, y, beta, penalty, until);
    r.norm *= r.norm;
    return r;
  }
  LoopResult descend_dual_until(V x, const Vector<double>& z, Vector<double>& w, DualStep step, Until until) {
    InnerSpace<Plain<Sound>> space(plain);
    step.beta *= 0.5;
    return space.descend_dual_until(plain, x, z, w, step, until);
  }
  Plain<Sound> plain{*this};
};
TEST(CheckPrimitives, FindsLoopsThatCountMeasureOrStepWrongly) {
  const Names names = failed_sound<OneStepMore>();
  EXPECT_TRUE(names.contains("descend_until takes as many steps as its definition"));
  EXPECT_TRUE(names.contains("descend_penalised_until (norm) equals its definition"));
  EXPECT_FALSE(names.contains("descend_penalised_until equals its definition"));
  EXPECT_TRUE(names.contains("descend_dual_until equals its definition"));
}

struct WrongReadings : Sound {
  double gradient_norm(V x, const Vector<double>& z) const {
    Vector<double> g(3);
    inner_gradient_y(x, z, g);
    return g.lpNorm<1>();
  }
  double penalised_gradient_norm(V x, const Vector<double>& y, Penalty) const { return gradient_norm(x, y); }
  void penalty_direction(V x, const Vector<double>& y, const Vector<double>& z, double lambda, W d) const {
    Vector<double> high(2), low(2);
    outer_gradient_x(x, y, d);
    inner_gradient_x(x, y, high);
    inner_gradient_x(x, z, low);
    d += lambda * (low - high);
  }
  void dual_direction(V x, const Vector<double>& z, const Vector<double>& w, double, W d) const {
    inner_hvp_xy(x, z, w, d);  // without f_x
  }
};
TEST(CheckPrimitives, FindsWrongNormsAndDirections) {
  EXPECT_EQ(failed_sound<WrongReadings>(),
            (Names{"gradient_norm equals its definition", "penalised_gradient_norm equals its definition",
                   "penalty_direction equals its definition", "dual_direction equals its definition"}));
}

struct WrongCopies : Sound {
  void copy(const Vector<double>& from, Vector<double>& to) const { to = 2.0 * from; }
  void axpy(double a, const Vector<double>& from, Vector<double>& to) const { to = a * from; }
  bool all_finite(const Vector<double>&) const { return true; }
};
TEST(CheckPrimitives, FindsWrongStorageCalls) {
  const Names names = failed_sound<WrongCopies>();
  for (const char* what :
       {"copy equals its definition", "axpy equals its definition", "all_finite sees a NaN and an infinity"})
    EXPECT_TRUE(names.contains(what)) << what;
}

// Storage whose copies share their numbers.
struct Shared : Sound {
  using Inner = std::shared_ptr<Vector<double>>;
  Inner make_inner() const { return std::make_shared<Vector<double>>(Vector<double>::Zero(3)); }
  void to_dense(const Inner& inner, W out) const { out = *inner; }
  void from_dense(V in, Inner& inner) const { *inner = in; }
  void copy(const Inner& from, Inner& to) const { to = from; }
};
TEST(CheckPrimitives, FindsACopyThatStaysTiedToItsOriginal) {
  EXPECT_TRUE(failed_sound<Shared>().contains("a copy moves without its original"));
}

// The cached |v_i|² of rows with data is not refreshed: nothing shows until a round in which they have none.
struct StaleCache : Lazy {
  using Lazy::Lazy;
  void descend(V x, Inner& z, double alpha) {
    const Vector<double> cached = z.squared;
    Lazy::descend(x, z, alpha);
    z.squared = cached;
  }
  void descend_pair(V x, Inner& y, Inner& z, double beta, Penalty penalty, double alpha) {
    const Vector<double> cached = z.squared;
    Lazy::descend_pair(x, y, z, beta, penalty, alpha);
    z.squared = cached;
  }
};
TEST(CheckPrimitives, FindsACacheThatIsNotKeptUp) {
  EXPECT_EQ(failed(check_lazy<StaleCache>()), Names{"gradient_norm equals its definition"});
}

// A fused pass that forgets that a sample is drawn.
struct FusedWithoutSamples : Sound {
  void descend_pair(V x, Vector<double>& y, Vector<double>& z, double beta, Penalty penalty, double alpha) const {
    Vector<double> f(3), g(3);
    inner_gradient_y(x, z, g);
    z -= alpha * (g - zeta_);
    outer_gradient_y(x, y, f);
    inner_gradient_y(x, y, g);
    y -= beta * (penalty.f * f + penalty.g * g);
  }
};
TEST(CheckPrimitives, FindsAFusedPassThatIgnoresTheSample) {
  FusedWithoutSamples p;
  const CheckReport report = check_primitives(p);
  EXPECT_EQ(failed(report), Names{"descend_pair (z) equals its definition"});
  EXPECT_NE(report.find("descend_pair (z) equals its definition")->where.find("sampled"), std::string::npos);
}

}  // namespace
