#include "obolus/check/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "obolus/any/erased.hpp"
#include "obolus/problems/oscillation.hpp"
#include "tests/check/findings.hpp"
#include "tests/lazy_ridge.hpp"
#include "tests/sound_problem.hpp"

namespace {

using namespace obolus;
using test::failed;
using test::Names;
using test::passes;
using Sound = test::SoundProblem<double>;
using V = In<double>;
using W = Out<double>;

TEST(CheckOracle, ASoundProblemPassesInBothPrecisions) {
  Sound exact;
  EXPECT_TRUE(passes(check_oracle(exact)));
  test::SoundProblem<float> single;
  EXPECT_TRUE(passes(check_oracle(single)));
}

TEST(CheckOracle, ASoundProblemPassesWhateverTheSeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Sound p;
    EXPECT_TRUE(passes(check_oracle(p, {.draws = 200}, Rng(seed)))) << "seed " << seed;
    test::SoundProblem<float> single;
    EXPECT_TRUE(passes(check_oracle(single, {.draws = 200}, Rng(seed)))) << "seed " << seed;
  }
}

TEST(CheckOracle, AProblemWithStorageOfItsOwnPasses) {
  test::LazyRidge<double> p(6, 3, 2, 5);
  const CheckOptions options{.x = Vector<double>::Ones(6), .radius = 0.5};
  const CheckReport report = check_oracle(p, options);
  EXPECT_TRUE(passes(report));
  EXPECT_NE(report.find("g_y vanishes at y*"), nullptr);
}

// Only gradients: products are differences, and y* is solved for.
struct FirstOrder {
  using Scalar = double;
  Sound sound;
  Dims dims() const { return sound.dims(); }
  double outer_value(V x, V y) { return sound.outer_value(x, y); }
  double inner_value(V x, V y) { return sound.inner_value(x, y); }
  void outer_gradient_x(V x, V y, W d) { sound.outer_gradient_x(x, y, d); }
  void outer_gradient_y(V x, V y, W d) { sound.outer_gradient_y(x, y, d); }
  void inner_gradient_x(V x, V y, W d) { sound.inner_gradient_x(x, y, d); }
  void inner_gradient_y(V x, V y, W d) { sound.inner_gradient_y(x, y, d); }
};

TEST(CheckOracle, AFirstOrderProblemIsCheckedUpToItsHypergradient) {
  FirstOrder p;
  const CheckReport report = check_oracle(p);
  EXPECT_TRUE(passes(report));
  EXPECT_NE(report.find("f_x − g_xy v against differences of F"), nullptr);
  EXPECT_EQ(report.find("g_yy is symmetric"), nullptr);
  EXPECT_EQ(report.find("a round revealed again, in another order, has the same bits"), nullptr);
}

TEST(CheckOracle, TheErasedLayerIsCheckedForWhatItsProblemCanDo) {
  Erased<test::LazyRidge<float>> lazy(std::in_place, Index(6), Index(3), Index(2), std::uint64_t(5));
  AnyOracle<float>& any = lazy;
  const CheckReport report = check_oracle(any, {.x = Vector<double>::Ones(6), .radius = 0.5});
  EXPECT_TRUE(passes(report));
  EXPECT_NE(report.find("g_y vanishes at y*"), nullptr);
  EXPECT_EQ(report.find("a sample holds until the next draw"), nullptr);
  Erased<Sound> sound(std::in_place);
  AnyOracle<double>& other = sound;
  const CheckReport second = check_oracle(other);
  EXPECT_TRUE(passes(second));
  EXPECT_EQ(second.find("g_y vanishes at y*"), nullptr);
  EXPECT_NE(second.find("a sample holds until the next draw"), nullptr);
}

TEST(CheckOracle, ReportsTheCurvatureItSaw) {
  Oscillation<double> p({.mu = 2.5}, 0);
  const CheckReport report = check_oracle(p);
  const Finding* f = report.find("g is strongly convex in y (error: condition number seen)");
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->where.find("curvature from 2.5 to 2.5"), std::string::npos) << f->where;
}

TEST(CheckOracle, LeavesTheProblemOnTheLastRoundWithItsExpectedFunctions) {
  Sound checked;
  Sound fresh;
  (void)check_oracle(checked, {.rounds = {5, 2, 9}});
  fresh.reveal(9);
  const Vector<double> x = Vector<double>::Constant(2, 0.3), y = Vector<double>::Constant(3, -0.2);
  EXPECT_EQ(checked.outer_value(x, y), fresh.outer_value(x, y));
  EXPECT_EQ(checked.inner_value(x, y), fresh.inner_value(x, y));
}

// One thing wrong at a time.

struct WrongSignInFx : Sound {
  void outer_gradient_x(V x, V y, W d) const {
    Sound::outer_gradient_x(x, y, d);
    d = -d;
  }
};
TEST(CheckOracle, FindsAWrongSignInFx) {
  WrongSignInFx p;
  EXPECT_EQ(failed(check_oracle(p)), (Names{"f_x against differences of f", "f_x − g_xy v against differences of F"}));
}

struct MissingTermInFy : Sound {
  void outer_gradient_y(V, V y, W d) const { d = y - c_ + xi_; }
};
TEST(CheckOracle, FindsAMissingTermInFy) {
  MissingTermInFy p;
  EXPECT_EQ(failed(check_oracle(p)), (Names{"f_y against differences of f", "f_x − g_xy v against differences of F"}));
}

struct WrongFactorInGx : Sound {
  void inner_gradient_x(V x, V y, W d) const {
    Sound::inner_gradient_x(x, y, d);
    d *= 0.5;
  }
};
TEST(CheckOracle, FindsAWrongFactorInGx) {
  WrongFactorInGx p;
  EXPECT_EQ(failed(check_oracle(p)), (Names{"g_x against differences of g", "g_xy v against differences of g_x",
                                            "g_x(z + δ) − g_x(z) equals the gradients subtracted"}));
}

// The tolerance on g_y is 4 ε^(2/3) (|g_y| + |g|/0.1), below 1e-8 here: a relative error of 1e-6 in one coordinate
// shows, and the coordinate is named.
struct SlightlyWrongGy : Sound {
  void inner_gradient_y(V x, V y, W d) const {
    Sound::inner_gradient_y(x, y, d);
    d(1) *= 1 + 1e-6;
  }
};
TEST(CheckOracle, FindsAMillionthInOneCoordinateOfGy) {
  SlightlyWrongGy p;
  const CheckReport report = check_oracle(p);
  const Finding* f = report.find("g_y against differences of g");
  ASSERT_NE(f, nullptr);
  EXPECT_FALSE(f->ok);
  EXPECT_NE(f->where.find("coordinate 1"), std::string::npos) << f->where;
}

struct Accumulates : Sound {
  void outer_gradient_y(V x, V y, W d) const {
    Vector<double> own(3);
    Sound::outer_gradient_y(x, y, own);
    d += own;
  }
};
struct LeavesACoordinate : Sound {
  void inner_hvp_yy(V x, V y, V v, W d) const {
    Vector<double> own(3);
    Sound::inner_hvp_yy(x, y, v, own);
    d.head(2) = own.head(2);
  }
};
TEST(CheckOracle, FindsOutputsThatAreNotOverwritten) {
  Accumulates adds;
  const Finding* f = nullptr;
  const CheckReport first = check_oracle(adds);
  f = first.find("every call fills its output with finite numbers");
  EXPECT_FALSE(f->ok);
  EXPECT_EQ(f->where.substr(0, 3), "f_y");
  LeavesACoordinate leaves;
  const CheckReport second = check_oracle(leaves);
  f = second.find("every call fills its output with finite numbers");
  EXPECT_FALSE(f->ok);
  EXPECT_NE(f->where.find("g_yy v"), std::string::npos);
  EXPECT_NE(f->where.find("coordinate 2"), std::string::npos);
}

struct WritesIntoItsInput : Sound {
  void inner_gradient_x(V x, V y, W d) const {
    Sound::inner_gradient_x(x, y, d);
    *const_cast<double*>(y.data()) += 1e-9;
  }
};
struct Forgetful : Sound {
  int calls = 0;
  void outer_gradient_x(V x, V y, W d) {
    Sound::outer_gradient_x(x, y, d);
    d(0) += 1e-13 * ++calls;
  }
};
TEST(CheckOracle, FindsCallsWithSideEffects) {
  WritesIntoItsInput writes;
  EXPECT_TRUE(failed(check_oracle(writes)).contains("every call leaves its inputs alone"));
  Forgetful forgets;
  EXPECT_TRUE(failed(check_oracle(forgets)).contains("every call answers the same twice"));
}

// Asymmetric by 1e-9, which differences of gradients could not see: their tolerance is 4 ε^(2/3) |g_y|/0.1 > 1e-9.
struct SlightlyAsymmetric : Sound {
  void inner_hvp_yy(V x, V y, V v, W d) const {
    Sound::inner_hvp_yy(x, y, v, d);
    d(0) += 1e-9 * v(2);
  }
};
TEST(CheckOracle, FindsAnAsymmetricHessian) {
  SlightlyAsymmetric p;
  const Names names = failed(check_oracle(p));
  EXPECT_TRUE(names.contains("g_yy is symmetric"));
  EXPECT_FALSE(names.contains("g_yy v against differences of g_y"));
}

struct WrongHessian : Sound {
  void inner_hvp_yy(V, V, V v, W d) const { d = 2.0 * v; }  // right at y = 0 only
};
struct WrongCrossSign : Sound {
  void inner_hvp_xy(V x, V y, V v, W d) const {
    Sound::inner_hvp_xy(x, y, v, d);
    d = -d;
  }
};
TEST(CheckOracle, FindsWrongProducts) {
  WrongHessian hessian;
  EXPECT_EQ(failed(check_oracle(hessian)),
            (Names{"g_yy v against differences of g_y", "g_y(z + δ) − g_y(z) does not cancel at a tiny δ",
                   "f_x − g_xy v against differences of F"}));
  WrongCrossSign cross;
  EXPECT_EQ(failed(check_oracle(cross)),
            (Names{"g_xy v against differences of g_x", "g_x(z + δ) − g_x(z) does not cancel at a tiny δ",
                   "f_x − g_xy v against differences of F"}));
}

struct Subtracts : Sound {
  void inner_gradient_y_difference(V x, V z, V delta, W d) const {
    Vector<double> low(3);
    inner_gradient_y(x, z + delta, d);
    inner_gradient_y(x, z, low);
    d -= low;
  }
};
struct Linearises : Sound {
  void inner_gradient_y_difference(V x, V z, V delta, W d) const { inner_hvp_yy(x, z, delta, d); }
};
TEST(CheckOracle, FindsDifferencesThatCancelOrAreOnlyLinear) {
  Subtracts subtracts;
  EXPECT_EQ(failed(check_oracle(subtracts)), Names{"g_y(z + δ) − g_y(z) does not cancel at a tiny δ"});
  Linearises linear;
  EXPECT_EQ(failed(check_oracle(linear)), Names{"g_y(z + δ) − g_y(z) equals the gradients subtracted"});
}

// A first-order problem may have differences too; then products by differences judge them, to ε^(2/3).
struct FirstOrderSubtracts : FirstOrder {
  void inner_gradient_x_difference(V x, V z, V delta, W d) { sound.inner_gradient_x_difference(x, z, delta, d); }
  void inner_gradient_y_difference(V x, V z, V delta, W d) {
    Vector<double> low(3);
    inner_gradient_y(x, z + delta, d);
    inner_gradient_y(x, z, low);
    d -= low;
  }
};
TEST(CheckOracle, FindsDifferencesThatCancelWithoutProducts) {
  FirstOrderSubtracts p;
  EXPECT_EQ(failed(check_oracle(p)), Names{"g_y(z + δ) − g_y(z) does not cancel at a tiny δ"});
}

// g without curvature along (1, 1, 1), or with a negative one: <y, Py>/2 + κ<1, y>²/6 − <y, B sin x>, P = I − 11'/3.
struct Flat : Sound {
  double kappa = 0.0;
  Vector<double> bent(V y) const { return y.array() + (kappa - 1.0) * y.mean(); }
  double inner_value(V x, V y) const { return 0.5 * y.dot(bent(y)) - y.dot(B_ * sine(x)) + zeta_.dot(y); }
  void inner_gradient_y(V x, V y, W d) const { d = bent(y) - B_ * sine(x) + zeta_; }
  void inner_hvp_yy(V, V, V v, W d) const { d = bent(v); }
  void inner_gradient_y_difference(V, V, V delta, W d) const { d = bent(delta); }
};
TEST(CheckOracle, FindsAnInnerProblemThatIsNotStronglyConvex) {
  const std::string convex = "g is strongly convex in y (error: condition number seen)";
  Flat flat;
  const CheckReport report = check_oracle(flat);
  EXPECT_TRUE(failed(report).contains(convex));
  EXPECT_TRUE(failed(report).contains("the inner problem and its linear system can be solved"));
  Flat saddle;
  saddle.kappa = -0.5;
  EXPECT_TRUE(failed(check_oracle(saddle)).contains(convex));
  Flat curved;
  curved.kappa = 0.01;
  EXPECT_TRUE(passes(check_oracle(curved)));
}

struct WrongSolution : Oscillation<double> {
  using Oscillation::Oscillation;
  void inner_solution(V x, W y) const { y = x; }  // right in even rounds only
};
TEST(CheckOracle, FindsAWrongClosedForm) {
  WrongSolution p({}, 0);
  const CheckReport report = check_oracle(p);
  EXPECT_TRUE(failed(report).contains("g_y vanishes at y*"));
  EXPECT_TRUE(failed(report).contains("f_x − g_xy v against differences of F"));
  EXPECT_TRUE(passes(check_oracle(p, {.rounds = {2, 4}})));
}

struct RoundsPileUp : Sound {
  double sum = 0.0;
  void reveal(Round t) {
    Sound::reveal(t);
    sum += double(t);
    c_(0) += 1e-15 * sum;
  }
};
struct KeepsItsSample : Sound {
  void reveal(Round t) {
    const Vector<double> kept = xi_;
    Sound::reveal(t);
    xi_ = kept;
  }
};
TEST(CheckOracle, FindsRoundsThatDependOnTheRoundsBefore) {
  RoundsPileUp piles;
  EXPECT_TRUE(failed(check_oracle(piles)).contains("a round revealed again, in another order, has the same bits"));
  KeepsItsSample keeps;
  EXPECT_EQ(failed(check_oracle(keeps)), Names{"reveal() brings the expected functions back"});
}

// A bias of a tenth of the deviation: 2000 draws have a standard error of 1/45 of it, and five of those are 0.11. Twice
// that.
struct Biased : Sound {
  void resample(SampleSizes sizes, Rng& rng) {
    Sound::resample(sizes, rng);
    zeta_.array() += 0.2;
  }
};
struct OwnGenerator : Sound {
  Rng own{7};
  void resample(SampleSizes sizes, Rng&) { Sound::resample(sizes, own); }
};
struct NeverRestores : Sound {
  bool ready = false;
  void expectation() {
    if (!ready) Sound::expectation();
  }
  void reveal(Round t) {
    ready = false;
    Sound::reveal(t);
    ready = true;
  }
};
struct DrawsAgain : Sound {
  Rng mine{1};
  void resample(SampleSizes sizes, Rng& rng) {
    Sound::resample(sizes, rng);
    sampled = true;
  }
  void expectation() {
    Sound::expectation();
    sampled = false;
  }
  void reveal(Round t) {
    Sound::reveal(t);
    sampled = false;
  }
  void inner_gradient_y(V x, V y, W d) {
    Sound::inner_gradient_y(x, y, d);
    if (sampled) d(0) += 1e-12 * mine.normal();
  }
  bool sampled = false;
};
TEST(CheckOracle, FindsUnfairOrUnsteadySamples) {
  Biased biased;
  EXPECT_EQ(failed(check_oracle(biased)), Names{"the mean of sampled g_y is the expected one"});
  OwnGenerator own;
  EXPECT_EQ(failed(check_oracle(own)), Names{"the same generator gives the same sample"});
  NeverRestores never;
  EXPECT_TRUE(failed(check_oracle(never)).contains("expectation() brings the expected functions back"));
  DrawsAgain again;
  EXPECT_TRUE(failed(check_oracle(again)).contains("a sample holds until the next draw"));
}

// Sampled g has the cross term −y'Ex in its gradients but not in its products.
struct ProductsOfAnotherSample : Sound {
  double sampled = 0.0;
  void resample(SampleSizes sizes, Rng& rng) {
    Sound::resample(sizes, rng);
    sampled = 0.1 * rng.normal();
  }
  void expectation() {
    Sound::expectation();
    sampled = 0.0;
  }
  void reveal(Round t) {
    Sound::reveal(t);
    sampled = 0.0;
  }
  void inner_gradient_x(V x, V y, W d) const {
    Sound::inner_gradient_x(x, y, d);
    d(0) += sampled * y(0);
  }
};
TEST(CheckOracle, FindsProductsThatDoNotBelongToTheSample) {
  ProductsOfAnotherSample p;
  const CheckReport report = check_oracle(p);
  EXPECT_EQ(failed(report),
            (Names{"g_xy v against differences of g_x", "g_x(z + δ) − g_x(z) equals the gradients subtracted"}));
  EXPECT_NE(report.find("g_xy v against differences of g_x")->where.find("sampled"), std::string::npos);
}

struct Lost : Sound {
  double outer_value(V, V) const { return std::numeric_limits<double>::quiet_NaN(); }
  void inner_gradient_y(V, V, W d) const { d.setConstant(std::numeric_limits<double>::quiet_NaN()); }
};
TEST(CheckOracle, NotANumberIsReportedAndEndsNothing) {
  Lost p;
  const Names names = failed(check_oracle(p));
  EXPECT_TRUE(names.contains("f_x against differences of f"));
  EXPECT_TRUE(names.contains("g_y against differences of g"));
  EXPECT_TRUE(names.contains("every call fills its output with finite numbers"));
  EXPECT_TRUE(names.contains("the inner problem and its linear system can be solved"));
}

}  // namespace
