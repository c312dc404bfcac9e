// FSOBO, OBBO, SOBBO and SOGD on lazy rows against the same methods on dense vectors, round by round.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "obolus/any/erased.hpp"
#include "obolus/any/session.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/optimisers/fsobo.hpp"
#include "obolus/optimisers/obbo.hpp"
#include "obolus/optimisers/sobbo.hpp"
#include "obolus/optimisers/sogd.hpp"
#include "obolus/problems/softmax_l2.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/problems/softmax_pairs.hpp"

namespace {

using namespace obolus;
using test::apart;

// Two classes exchange names every 60 rounds, and labels are wrong besides.
SoftmaxOptions swapping(std::int64_t classes = 5) {
  SoftmaxOptions o;
  o.documents = 80;
  o.features = 60;
  o.classes = classes;
  o.batch = 6;
  o.noise = 0.1;
  o.drift = LabelDrift::swap;
  o.period = 60;
  return o;
}

const ConvexSet box = ConvexSet::box(0.0, 0.1);

// A session's problem before the session, which refers to it.
template <class Optimiser, class P>
struct Side {
  P problem;
  Session<Optimiser, P> session;
  Side(const Optimiser& optimiser, const SoftmaxOptions& o, double x0 = 0.02)
      : problem(o, 3),
        session(optimiser, problem, Vector<double>::Constant(problem.dims().x, x0), first_y(problem.dims().y)) {}

  static Vector<double> first_y(Index size) {
    Vector<double> y(size);
    Rng rng(8);
    rng.fill_normal(y);
    return 0.1 * y;
  }
  Step step(Round t) {
    problem.reveal(t);
    return session.step(Rng(5));
  }
  [[nodiscard]] Vector<double> y() {
    Vector<double> out(problem.dims().y);
    session.read_y(out);
    return out;
  }
  [[nodiscard]] std::vector<std::byte> saved() {
    Archive a;
    a("session", session);
    return a.bytes();
  }
  void load(const std::vector<std::byte>& bytes) {
    Archive a(bytes);
    a("session", session);
    a.finish();
  }
};
template <class Optimiser>
using Lazy = Side<Optimiser, SoftmaxL2<double>>;
template <class Optimiser>
using Dense = Side<Optimiser, SoftmaxOracle<double>>;

struct Seen {
  std::int64_t at_low = 0, inside = 0;  // entries of x, over the rounds
};

// A step rounds an iterate by ε: at most nine steps in each of 300 rounds are √2700 ε as a random walk, 1.2e-14 (seen:
// 3e-14). A thousand times that for what x and the iterates make of each other's errors.
constexpr double tolerance = 1e-11;

// The lazy session is saved in the middle; another one that loads it must go on to the same bits.
template <class Optimiser>
Seen stays_with_the_dense_one(const Optimiser& optimiser, const SoftmaxOptions& o, Round rounds = 300,
                              int threads = 1) {
  Lazy<Optimiser> lazy(optimiser, o);
  Dense<Optimiser> dense(optimiser, o);
  std::unique_ptr<Lazy<Optimiser>> resumed;
  lazy.problem.set_threads(threads);
  Seen seen;
  double largest = 0.0;  // of all d: where f's few rows are all right, a fitted scale lets d vanish but for rounding
  SCOPED_TRACE(Optimiser::info.name);
  for (Round t = 1; t <= rounds; ++t) {
    EXPECT_EQ(lazy.step(t).status, Status::ok);
    EXPECT_EQ(dense.step(t).status, Status::ok);
    if (resumed) resumed->step(t);
    EXPECT_LE(apart(lazy.session.x(), dense.session.x()), tolerance) << "x, round " << t;
    largest = std::max(largest, dense.session.direction().cwiseAbs().maxCoeff());
    EXPECT_LE((lazy.session.direction() - dense.session.direction()).cwiseAbs().maxCoeff(), tolerance * largest)
        << "d, round " << t;
    if (testing::Test::HasFailure()) return seen;
    for (const double x : dense.session.x()) ++(x == 0.0 ? seen.at_low : seen.inside);
    if (t == rounds / 2) {
      resumed = std::make_unique<Lazy<Optimiser>>(optimiser, o);
      resumed->load(lazy.saved());
    }
  }
  EXPECT_LE(apart(lazy.y(), dense.y()), tolerance) << "y";
  EXPECT_EQ(resumed->session.x(), lazy.session.x());
  EXPECT_EQ(resumed->y(), lazy.y());
  EXPECT_EQ(lazy.session.counts(), dense.session.counts());
  return seen;
}

Fsobo fsobo(double gamma = 5e-3) { return Fsobo({.alpha = 0.3, .gamma = gamma, .v_step = 0.2}, box); }
Obbo obbo(double steps = 5.0) { return Obbo({.alpha = 0.3, .gamma = 5e-2, .inner_steps = steps, .window = 3}, box); }
Sobbo sobbo(Samples samples, double gamma = 5e-2) {
  return Sobbo({.alpha = 0.3, .gamma = gamma, .window = 20, .samples = samples, .batch = 7.0}, box);
}
SogdOptions sogd_options(double momentum = 0.9) {
  return {.y_step = 0.3, .v_step = 0.2, .gamma = 5e-3, .momentum = momentum, .samples = RoundSamples::given};
}
Sogd sogd(double momentum = 0.9) { return Sogd(sogd_options(momentum), box); }

TEST(SoftmaxBaselines, FsoboStaysWithTheDenseOneThroughSwapsAndAResume) {
  const Seen seen = stays_with_the_dense_one(fsobo(), swapping());
  EXPECT_GT(seen.at_low, 100);
  EXPECT_GT(seen.inside, 1000);
}
TEST(SoftmaxBaselines, ObboAndSobboStayWithTheDenseOnesThroughSwapsAndAResume) {
  stays_with_the_dense_one(obbo(), swapping());
  const Seen seen = stays_with_the_dense_one(sobbo(Samples::given), swapping());
  EXPECT_GT(seen.at_low, 100);
  EXPECT_GT(seen.inside, 1000);
  stays_with_the_dense_one(sobbo(Samples::round), swapping());
}
TEST(SoftmaxBaselines, SogdStaysWithTheDenseOneThroughSwapsAndAResume) {
  const Seen seen = stays_with_the_dense_one(sogd(), swapping());
  EXPECT_GT(seen.at_low, 100);
  EXPECT_GT(seen.inside, 1000);
  SogdOptions drawn = sogd_options();
  drawn.samples = RoundSamples::round;
  drawn.batch = 7.0;
  stays_with_the_dense_one(Sogd(drawn, box), swapping());
}

// 12 documents of some 30 words each: most of 600 words only shrink.
TEST(SoftmaxBaselines, AVocabularyThatIsMostlyUntouchedStaysWithTheDenseOne) {
  SoftmaxOptions o = swapping();
  o.features = 600;
  stays_with_the_dense_one(fsobo(), o, 150);
  stays_with_the_dense_one(obbo(), o, 150);
  stays_with_the_dense_one(sogd(), o, 150);
}

TEST(SoftmaxBaselines, SogdWithLongAndNoMemoryAndOneMomentumEachStaysWithTheDenseOne) {
  for (const double momentum : {0.2, 0.5, 1.0}) stays_with_the_dense_one(sogd(momentum), swapping(), 150);
  SogdOptions own = sogd_options();
  own.momentum_x = 0.4;
  own.momentum_y = 0.7;
  own.momentum_v = 0.3;
  stays_with_the_dense_one(Sogd(own, box), swapping(), 150);
}

// v starts at 0 and would grow beyond 0.05 soon.
TEST(SoftmaxBaselines, ABoundOnVHoldsAsItDoesDensely) {
  stays_with_the_dense_one(Fsobo({.alpha = 0.3, .gamma = 5e-3, .radius = 0.05}, box), swapping(), 150);
  SogdOptions bounded = sogd_options();
  bounded.radius = 0.05;
  stays_with_the_dense_one(Sogd(bounded, box), swapping(), 150);
}

TEST(SoftmaxBaselines, AnyNumberOfStepsAndOfClassesStaysWithTheDenseOne) {
  for (const double steps : {1.0, 2.0, 8.0, 9.0}) stays_with_the_dense_one(obbo(steps), swapping(), 40);
  for (const std::int64_t classes : {2, 3, 9, 20, 33}) {
    stays_with_the_dense_one(fsobo(), swapping(classes), 40);
    stays_with_the_dense_one(obbo(), swapping(classes), 40);
    stays_with_the_dense_one(sogd(), swapping(classes), 40);
  }
}

TEST(SoftmaxBaselines, SharedWeightsStayWithTheDenseOne) {
  for (const Sharing sharing : {Sharing::group, Sharing::global}) {
    SoftmaxOptions o = swapping();
    o.sharing = sharing;
    o.groups = 7;
    o.feed = Feed::judge;
    o.replay = 5;
    stays_with_the_dense_one(fsobo(1e-3), o, 100);
    stays_with_the_dense_one(sobbo(Samples::given, 1e-3), o, 100);
    stays_with_the_dense_one(sogd(), o, 100);
  }
}

TEST(SoftmaxBaselines, AFittedScaleStaysWithTheDenseOne) {
  SoftmaxOptions o = swapping();
  o.temperature = Temperature::fitted;
  stays_with_the_dense_one(fsobo(1e-3), o, 60);
  stays_with_the_dense_one(obbo(), o, 60);
  stays_with_the_dense_one(sogd(), o, 60);
}

TEST(SoftmaxBaselines, WholePoolsStayWithTheDenseOne) {
  SoftmaxOptions o = swapping();
  o.batch = 0;
  stays_with_the_dense_one(fsobo(), o, 60);
  stays_with_the_dense_one(obbo(), o, 60);
  stays_with_the_dense_one(sogd(), o, 60);
}

// Nothing lazy, and what it had before: draws between the steps, and the truncated series.
TEST(SoftmaxBaselines, SobboWithFreshDrawsOrASeriesStaysWithTheDenseOne) {
  stays_with_the_dense_one(sobbo(Samples::fresh), swapping(), 20);
  stays_with_the_dense_one(
      Sobbo({.alpha = 0.3, .gamma = 1e-3, .estimator = Estimator::neumann, .samples = Samples::given}, box), swapping(),
      60);
}

template <class Optimiser>
void same_bits_on_two_threads(const Optimiser& optimiser) {
  Lazy<Optimiser> one(optimiser, swapping()), two(optimiser, swapping());
  two.problem.set_threads(2);
  for (Round t = 1; t <= 80; ++t) {
    one.step(t);
    two.step(t);
    ASSERT_EQ(one.session.x(), two.session.x()) << "round " << t;
  }
  EXPECT_EQ(one.y(), two.y());
}
TEST(SoftmaxBaselines, TwoThreadsGiveTheSameBits) {
  same_bits_on_two_threads(fsobo());
  same_bits_on_two_threads(sobbo(Samples::given));
  same_bits_on_two_threads(sogd());
}

template <class Optimiser>
void same_bits_erased(const Optimiser& optimiser) {
  Lazy<Optimiser> plain(optimiser, swapping());
  Erased<SoftmaxL2<double>> problem(std::in_place, swapping(), std::uint64_t{3});
  Session<Optimiser, AnyOracle<double>> erased(optimiser, problem, Vector<double>::Constant(problem.dims().x, 0.02),
                                               Lazy<Optimiser>::first_y(problem.dims().y));
  for (Round t = 1; t <= 40; ++t) {
    plain.step(t);
    problem.reveal(t);
    erased.step(Rng(5));
    ASSERT_EQ(erased.x(), plain.session.x()) << "round " << t;
  }
  EXPECT_EQ(erased.counts(), plain.session.counts());
}
TEST(SoftmaxBaselines, TheErasedPathGivesTheSameBits) {
  same_bits_erased(fsobo());
  same_bits_erased(obbo());
  same_bits_erased(sogd());
}

template <class Optimiser>
void allocates_nothing(const Optimiser& optimiser) {
  Lazy<Optimiser> lazy(optimiser, swapping());
  for (Round t = 1; t <= 40; ++t) lazy.step(t);
  const test::AllocationCounter counter;
  for (Round t = 1; t <= 40; ++t) lazy.step(t);
  EXPECT_EQ(counter.count(), 0u);
}
TEST(SoftmaxBaselines, RoundsAllocateNothing) {
  if (!test::AllocationCounter::supported()) GTEST_SKIP() << "allocations cannot be counted here";
  allocates_nothing(fsobo());
  allocates_nothing(sobbo(Samples::given));
  allocates_nothing(sogd());
}

// ---- Archives from before -------------------------------------------------------------------------------------------

// SOGD's archive was that of a dense problem.
TEST(SoftmaxBaselines, AnArchiveOfDenseMomentaGoesOnLazily) {
  for (const std::optional<double> radius : {std::optional<double>(), std::optional<double>(0.05)}) {
    SogdOptions o = sogd_options();
    o.radius = radius;
    const Sogd optimiser(o, box);
    for (const Round cut : {0, 1, 70}) {
      Dense<Sogd> dense(optimiser, swapping());
      Lazy<Sogd> lazy(optimiser, swapping(), 0.05);
      for (Round t = 1; t <= cut; ++t) dense.step(t);
      lazy.load(dense.saved());
      EXPECT_EQ(lazy.saved(), dense.saved()) << "nothing is lost before the next round";
      EXPECT_LE(apart(lazy.y(), dense.y()), tolerance);
      for (Round t = cut + 1; t <= cut + 80; ++t) {
        lazy.step(t);
        dense.step(t);
        ASSERT_LE(apart(lazy.session.x(), dense.session.x()), tolerance) << "cut " << cut << ", round " << t;
      }
      EXPECT_LE(apart(lazy.y(), dense.y()), tolerance);
    }
  }
}

// FSOBO's had a dense v beside a lazy y.
TEST(SoftmaxBaselines, AnArchiveWithADenseVGoesOnLazily) {
  SoftmaxL2<double> p(swapping(), 3);
  const Vector<double> x0 = Vector<double>::Constant(p.dims().x, 0.02), y0 = Vector<double>::Zero(p.dims().y);
  const Fsobo optimiser = fsobo();
  auto whole = optimiser.init(p, x0, y0), later = optimiser.init(p, x0, y0);
  const auto step = [&](auto& state, Round t) {
    p.reveal(t);
    optimiser.step(p, state, Rng(5));
  };
  for (Round t = 1; t <= 70; ++t) step(whole, t);
  Archive old;
  Vector<double> v(p.dims().y);
  p.to_dense(whole.v, v);
  old("t", whole.t);
  old("x", whole.x);
  old("direction", whole.direction);
  old("y", whole.y);
  old("v", v);
  old("outer", whole.outer);
  Archive loading(old.bytes());
  later.fields(loading);
  loading.finish();
  Archive again;
  later.fields(again);
  old("inner_momentum", whole.ball.momentum());  // none
  EXPECT_EQ(again.bytes(), old.bytes()) << "nothing is lost before the next round";
  for (Round t = 71; t <= 150; ++t) {
    step(whole, t);
    step(later, t);
    ASSERT_LE(apart(later.x, whole.x), tolerance) << "round " << t;
  }
  Archive now;
  later.fields(now);
  EXPECT_NE(now.bytes().size(), old.bytes().size()) << "v is a lazy one by now";
}

// ---- Numbers that leave their range ---------------------------------------------------------------------------------

// βx = 5 for words that no document has: their numbers grow by a factor of 4 each round, and their weights are 0.
TEST(SoftmaxBaselines, RowsOfZerosStayZeroHoweverTheirNumbersGrow) {
  SoftmaxOptions o = swapping();
  o.features = 600;
  SoftmaxL2<double> p(o, 3);
  Vector<double> x0 = Vector<double>::Constant(p.dims().x, 0.1);
  for (const std::int32_t feature : p.pools().data().train.column) x0(feature) = 0.0;
  ASSERT_GT((x0.array() > 0.0).count(), 10);
  SogdOptions options = sogd_options();
  options.gamma = 1e-12;
  options.y_step = 50.0;
  Session<Sogd, SoftmaxL2<double>> session(Sogd(options, box), p, x0, Vector<double>::Zero(p.dims().y));
  for (Round t = 1; t <= 700; ++t) {
    p.reveal(t);
    ASSERT_EQ(session.step(Rng(5)).status, Status::ok) << "round " << t;
  }
  Vector<double> y(p.dims().y);
  session.read_y(y);
  for (Index i = 0; i < x0.size(); ++i)
    if (x0(i) > 0.0) {
      ASSERT_EQ(y.segment(i * o.classes, o.classes), Vector<double>::Zero(o.classes)) << "word " << i;
    }
}

template <class Optimiser>
void says_what_is_not_finite(const Optimiser& optimiser) {
  SoftmaxL2<double> p(swapping(), 3);
  Vector<double> y0 = Vector<double>::Ones(p.dims().y);
  y0(7) = std::numeric_limits<double>::quiet_NaN();
  Session<Optimiser, SoftmaxL2<double>> session(optimiser, p, Vector<double>::Constant(p.dims().x, 0.02), y0);
  p.reveal(1);
  EXPECT_EQ(session.step(Rng(5)).status, Status::non_finite_inner);
}
TEST(SoftmaxBaselines, ANaNInYIsReported) {
  says_what_is_not_finite(fsobo());
  says_what_is_not_finite(obbo());
  says_what_is_not_finite(sogd());
}

}  // namespace
