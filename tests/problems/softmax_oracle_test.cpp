#include "obolus/problems/softmax_oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "obolus/check/oracle.hpp"
#include "obolus/check/primitives.hpp"
#include "obolus/core/capabilities.hpp"
#include "tests/check/findings.hpp"

namespace {

using namespace obolus;
using test::passes;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
using Real = long double;
using Reals = std::vector<Real>;

// The definition, slowly: every sum over every entry of a dense matrix, in long double. It has rows and labels from the
// pools and shares nothing else with the problem.
struct Slow {
  struct Document {
    std::vector<Real> a;  // by feature
    std::size_t label;
  };
  std::vector<Document> inner, outer;
  std::size_t features, classes;
  std::vector<std::size_t> group;  // whose x is feature i's
  bool fitted;

  Slow(SoftmaxOracle<double>& p, const RoundRows& now, std::vector<std::size_t> of, bool fits)
      : features(static_cast<std::size_t>(p.pools().features())),
        classes(static_cast<std::size_t>(p.pools().classes())),
        group(std::move(of)),
        fitted(fits) {
    const SparseRows& data = p.pools().data().train;
    for (Index r = 0; r < now.size(); ++r) {
      const auto row = static_cast<std::size_t>(now.row[static_cast<std::size_t>(r)]);
      Document d{std::vector<Real>(features, 0), static_cast<std::size_t>(now.label[static_cast<std::size_t>(r)])};
      for (auto k = static_cast<std::size_t>(data.start[row]); k < static_cast<std::size_t>(data.start[row + 1]); ++k)
        d.a[static_cast<std::size_t>(data.column[k])] += Real(data.value[k]);
      (r < now.inner ? inner : outer).push_back(std::move(d));
    }
  }

  [[nodiscard]] Reals logits(const Document& d, const Reals& y) const {
    Reals l(classes, 0);
    for (std::size_t i = 0; i < features; ++i)
      for (std::size_t c = 0; c < classes; ++c) l[c] += d.a[i] * y[i * classes + c];
    return l;
  }
  [[nodiscard]] static Reals softmax(const Reals& l, Real scale) {
    Reals p;
    Real sum = 0;
    for (const Real v : l) {
      p.push_back(std::exp(scale * v));
      sum += p.back();
    }
    for (Real& v : p) v /= sum;
    return p;
  }
  [[nodiscard]] Real loss(const std::vector<Document>& of, const Reals& y, Real scale) const {
    Real sum = 0;
    for (const Document& d : of) sum -= std::log(softmax(logits(d, y), scale)[d.label]);
    return of.empty() ? 0 : sum / Real(of.size());
  }
  // The best scale in [1e-2, 1e2], by thirds: f is convex in it.
  [[nodiscard]] Real scale(const Reals& y) const {
    if (!fitted) return 1;
    Real low = 1e-2L, high = 1e2L;
    for (int i = 0; i < 120; ++i) {
      const Real a = low + (high - low) / 3, b = high - (high - low) / 3;
      (loss(outer, y, a) < loss(outer, y, b) ? high : low) = loss(outer, y, a) < loss(outer, y, b) ? b : a;
    }
    return (low + high) / 2;
  }
  [[nodiscard]] Real f(const Reals& y) const { return loss(outer, y, scale(y)); }
  [[nodiscard]] Real g(const Reals& x, const Reals& y) const {
    Real value = loss(inner, y, 1);
    for (std::size_t i = 0; i < features; ++i)
      for (std::size_t c = 0; c < classes; ++c) value += x[group[i]] * y[i * classes + c] * y[i * classes + c] / 2;
    return value;
  }
  [[nodiscard]] Reals loss_y(const std::vector<Document>& of, const Reals& y, Real s) const {
    Reals d(features * classes, 0);
    for (const Document& doc : of) {
      Reals p = softmax(logits(doc, y), s);
      p[doc.label] -= 1;
      for (std::size_t i = 0; i < features; ++i)
        for (std::size_t c = 0; c < classes; ++c) d[i * classes + c] += s * doc.a[i] * p[c] / Real(of.size());
    }
    return d;
  }
  [[nodiscard]] Reals f_y(const Reals& y) const { return loss_y(outer, y, scale(y)); }
  [[nodiscard]] Reals g_y(const Reals& x, const Reals& y) const {
    Reals d = loss_y(inner, y, 1);
    for (std::size_t i = 0; i < features; ++i)
      for (std::size_t c = 0; c < classes; ++c) d[i * classes + c] += x[group[i]] * y[i * classes + c];
    return d;
  }
  [[nodiscard]] Reals g_x(std::size_t size, const Reals& y) const {
    Reals d(size, 0);
    for (std::size_t i = 0; i < features; ++i)
      for (std::size_t c = 0; c < classes; ++c) d[group[i]] += y[i * classes + c] * y[i * classes + c] / 2;
    return d;
  }
  // g_yy v: the second derivative of log Σ exp is diag(p) − p p'.
  [[nodiscard]] Reals g_yy(const Reals& x, const Reals& y, const Reals& v) const {
    Reals d(features * classes, 0);
    for (const Document& doc : inner) {
      const Reals p = softmax(logits(doc, y), 1), u = logits(doc, v);
      for (std::size_t c = 0; c < classes; ++c) {
        Real sum = 0;
        for (std::size_t e = 0; e < classes; ++e) sum += ((c == e ? p[c] : 0) - p[c] * p[e]) * u[e];
        for (std::size_t i = 0; i < features; ++i) d[i * classes + c] += doc.a[i] * sum / Real(inner.size());
      }
    }
    for (std::size_t i = 0; i < features; ++i)
      for (std::size_t c = 0; c < classes; ++c) d[i * classes + c] += x[group[i]] * v[i * classes + c];
    return d;
  }
  [[nodiscard]] Reals g_xy(std::size_t size, const Reals& y, const Reals& v) const {
    Reals d(size, 0);
    for (std::size_t i = 0; i < features; ++i)
      for (std::size_t c = 0; c < classes; ++c) d[group[i]] += y[i * classes + c] * v[i * classes + c];
    return d;
  }
};

template <class V>
Reals exact(const V& v) {
  Reals r;
  for (Index i = 0; i < v.size(); ++i) r.push_back(Real(v(i)));
  return r;
}
Reals sum(const Reals& a, const Reals& b, Real weight = 1) {
  Reals s = a;
  for (std::size_t i = 0; i < s.size(); ++i) s[i] += weight * b[i];
  return s;
}
template <class V>
double farthest(const V& got, const Reals& expected) {
  EXPECT_EQ(static_cast<std::size_t>(got.size()), expected.size());
  Real worst = 0;
  for (Index i = 0; i < got.size(); ++i) {
    const Real gap = std::abs(Real(got(i)) - expected[static_cast<std::size_t>(i)]);
    if (!(gap <= worst)) worst = gap;
  }
  return static_cast<double>(worst);
}

SoftmaxOptions with(Sharing sharing, Temperature temperature, std::int64_t batch) {
  SoftmaxOptions o;
  o.documents = 21;
  o.features = 11;
  o.classes = 4;
  o.batch = batch;
  o.sharing = sharing;
  o.groups = 3;
  o.noise = 0.2;
  o.temperature = temperature;
  return o;
}

// Equal numbers of features in every group, the rarest first, in the order of their columns where alike frequent.
std::vector<std::size_t> groups_of(const SoftmaxOptions& o, const SparseRows& data) {
  const auto n = static_cast<std::size_t>(data.columns);
  std::vector<std::size_t> group(n);
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < n; ++i)
    order.emplace_back(std::count(data.column.begin(), data.column.end(), static_cast<std::int32_t>(i)), i);
  std::sort(order.begin(), order.end());
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = order[k].second;
    group[i] = o.sharing == Sharing::feature  ? i
               : o.sharing == Sharing::global ? 0
                                              : k * static_cast<std::size_t>(o.groups) / n;
  }
  return group;
}

template <class S>
struct Case {
  SoftmaxOptions options;
  SoftmaxOracle<S> p;
  SoftmaxOracle<double> twin;
  Vector<S> x, y, v;

  Case(const SoftmaxOptions& o, std::uint64_t seed) : options(o), p(o, seed), twin(o, seed), x(p.dims().x) {
    Rng rng(seed);
    for (S& xi : x) xi = S(rng.uniform(0.0, 0.5));
    y.resize(p.dims().y);
    v.resize(p.dims().y);
    rng.fill_normal(y);
    rng.fill_normal(v);
  }
  // The functions of round t, or a draw of it.
  Slow slow(Round t, bool drawn) {
    RoundRows rows;
    p.reveal(t);
    if (drawn) {
      Rng one(9), two(9);
      p.resample({.outer = 3, .inner = 5}, one);
      if (options.batch == 0) {
        twin.pools().draw(t, {.outer = 3, .inner = 5}, two, rows);
      } else {
        RoundRows round;
        twin.pools().of_round(t, round);
        round.draw({.outer = 3, .inner = 5}, two, rows);
      }
    } else {
      twin.pools().of_round(t, rows);
    }
    return Slow(twin, rows, groups_of(options, twin.pools().data().train), options.temperature == Temperature::fitted);
  }
};

// Sums of at most 200 products of numbers below 4, whose exact value is below 30: rounded as a random walk by √200 ε ·
// 30, ten for the deviation. f's scale is found to some 1e-14 of itself by Newton's method, and to √(1e-19) by thirds,
// where f no longer tells; a gradient at a scale off by 3e-10 is off by 3e-10 of |∂f_y/∂s|, which is below 30 too.
double tolerance(const SoftmaxOptions& o, double unit) {
  const double thirds = o.temperature == Temperature::fitted ? 3e-8 : 0.0;
  return 10.0 * 14.0 * unit * 30.0 + thirds;
}

template <class S>
void agrees_with_the_definition(const SoftmaxOptions& options, std::uint64_t seed, Round t, bool drawn) {
  Case<S> c(options, seed);
  const Slow slow = c.slow(t, drawn);
  const Reals x = exact(c.x), y = exact(c.y), v = exact(c.v);
  const double off = tolerance(options, double(std::numeric_limits<S>::epsilon()));
  Vector<S> in_x(c.x.size()), in_y(c.y.size());
  const auto size = static_cast<std::size_t>(c.x.size());
  EXPECT_NEAR(c.p.outer_value(c.x, c.y), static_cast<double>(slow.f(y)), off);
  EXPECT_NEAR(c.p.inner_value(c.x, c.y), static_cast<double>(slow.g(x, y)), off);
  c.p.outer_gradient_x(c.x, c.y, in_x);
  EXPECT_EQ(in_x, Vector<S>::Zero(c.x.size()));
  c.p.outer_gradient_y(c.x, c.y, in_y);
  EXPECT_LE(farthest(in_y, slow.f_y(y)), off);
  c.p.inner_gradient_y(c.x, c.y, in_y);
  EXPECT_LE(farthest(in_y, slow.g_y(x, y)), off);
  c.p.inner_gradient_x(c.x, c.y, in_x);
  EXPECT_LE(farthest(in_x, slow.g_x(size, y)), 10 * off);  // sums of whole groups
  c.p.inner_hvp_yy(c.x, c.y, c.v, in_y);
  EXPECT_LE(farthest(in_y, slow.g_yy(x, y, v)), off);
  c.p.inner_hvp_xy(c.x, c.y, c.v, in_x);
  EXPECT_LE(farthest(in_x, slow.g_xy(size, y, v)), 10 * off);
}

TEST(SoftmaxOracle, ValuesGradientsAndProductsAreThoseOfTheDefinition) {
  std::uint64_t seed = 1;
  for (const Sharing sharing : {Sharing::feature, Sharing::group, Sharing::global})
    for (const Temperature temperature : {Temperature::none, Temperature::fitted})
      for (const std::int64_t batch : {0, 5})
        for (const bool drawn : {false, true}) {
          SCOPED_TRACE(testing::Message() << name_of(sharing) << ", " << name_of(temperature) << ", batch " << batch
                                          << ", drawn " << drawn);
          agrees_with_the_definition<double>(with(sharing, temperature, batch), seed, 3, drawn);
          agrees_with_the_definition<float>(with(sharing, temperature, batch), seed++, 3, drawn);
        }
}

// z + δ and z of long double lose 1e-19/|δ| of their difference; the oracle keeps all of double however small δ is.
template <class S>
void differences_keep_their_digits(double unit) {
  for (const double size : {1.0, 1e-3, 1e-6, 1e-9}) {
    SCOPED_TRACE(size);
    Case<S> c(with(Sharing::group, Temperature::none, 6), 5);
    const Slow slow = c.slow(2, false);
    const Vector<S> delta = S(size) * c.v;
    const Reals x = exact(c.x), z = exact(c.y), d = exact(delta), moved = sum(z, d);
    Vector<S> in_x(c.x.size()), in_y(c.y.size());
    const double off = size * tolerance(c.options, unit) + tolerance(c.options, 1.1e-19);
    c.p.inner_gradient_y_difference(c.x, c.y, delta, in_y);
    EXPECT_LE(farthest(in_y, sum(slow.g_y(x, moved), slow.g_y(x, z), -1)), off);
    c.p.inner_gradient_x_difference(c.x, c.y, delta, in_x);
    const auto n = static_cast<std::size_t>(c.x.size());
    EXPECT_LE(farthest(in_x, sum(slow.g_x(n, moved), slow.g_x(n, z), -1)), 10 * off);
    if (size > 1e-4) continue;
    Vector<S> one(c.y.size()), two(c.y.size());
    c.p.inner_gradient_y(c.x, c.y + delta, one);
    c.p.inner_gradient_y(c.x, c.y, two);
    const Vector<S> subtracted = one - two;
    const Reals expected = sum(slow.g_y(x, moved), slow.g_y(x, z), -1);
    EXPECT_GT(farthest(subtracted, expected), farthest(in_y, expected)) << "subtracting would do as well";
  }
}
TEST(SoftmaxOracle, DifferencesKeepTheirDigitsHoweverSmall) {
  differences_keep_their_digits<double>(epsilon);
  differences_keep_their_digits<float>(double(std::numeric_limits<float>::epsilon()));
}

// Danskin: where the scale is best, f changes with y as if it were fixed. Central differences with h = 1e-5 leave h²
// and ε/h, both 1e-10, times derivatives below 100.
TEST(SoftmaxOracle, TheGradientAtAFittedScaleIsThatOfTheFittedLoss) {
  Case<double> c(with(Sharing::feature, Temperature::fitted, 8), 7);
  c.p.reveal(3);
  Vector<double> d(c.y.size());
  c.p.outer_gradient_y(c.x, c.y, d);
  const double h = 1e-5;
  for (Index i = 0; i < c.y.size(); ++i) {
    Vector<double> up = c.y, down = c.y;
    up(i) += h;
    down(i) -= h;
    EXPECT_NEAR((c.p.outer_value(c.x, up) - c.p.outer_value(c.x, down)) / (2 * h), d(i), 1e-8) << i;
  }
}

// f no longer asks how large the logits are, only how they lie: within the scales allowed, 1/100 to 100.
TEST(SoftmaxOracle, AFittedLossIgnoresTheSizeOfTheLogits) {
  Case<double> c(with(Sharing::feature, Temperature::fitted, 8), 7),
      plain(with(Sharing::feature, Temperature::none, 8), 7);
  c.p.reveal(3);
  plain.p.reveal(3);
  const double f = c.p.outer_value(c.x, c.y);
  for (const double size : {0.2, 0.7, 3.0, 10.0}) EXPECT_NEAR(c.p.outer_value(c.x, size * c.y), f, 1e-12) << size;
  EXPECT_LT(f, plain.p.outer_value(c.x, c.y));
  // Stationary in s: <f_y(y), y> = s ∂f/∂s = 0 at the best scale.
  Vector<double> d(c.y.size());
  c.p.outer_gradient_y(c.x, c.y, d);
  EXPECT_NEAR(d.dot(c.y), 0.0, 1e-12);  // the slope where Newton stops, to 1e-14 of a scale and a curvature below 10
}

TEST(SoftmaxOracle, AtZeroLogitsEveryScaleIsAsGoodAndOneIsTaken) {
  Case<double> c(with(Sharing::feature, Temperature::fitted, 8), 7);
  c.p.reveal(2);
  EXPECT_NEAR(c.p.outer_value(c.x, Vector<double>::Zero(c.y.size())), std::log(4.0), 4 * epsilon);
}

TEST(SoftmaxOracle, HugeLogitsStayFinite) {
  for (const Temperature temperature : {Temperature::none, Temperature::fitted}) {
    Case<float> c(with(Sharing::feature, temperature, 8), 7);
    const Vector<float> y = 1e6f * c.y;
    Vector<float> d(c.y.size());
    EXPECT_TRUE(std::isfinite(c.p.outer_value(c.x, y)) && std::isfinite(c.p.inner_value(c.x, y)));
    c.p.outer_gradient_y(c.x, y, d);
    EXPECT_TRUE(d.allFinite());
    c.p.inner_gradient_y(c.x, y, d);
    EXPECT_TRUE(d.allFinite());
    c.p.inner_gradient_y_difference(c.x, y, c.v, d);
    EXPECT_TRUE(d.allFinite());
  }
}

TEST(SoftmaxOracle, GroupsAreAlikeFrequentAndAlikeLarge) {
  SoftmaxOptions o = with(Sharing::group, Temperature::none, 0);
  EXPECT_EQ(SoftmaxOracle<double>(o, 1).dims(), (Dims{3, 44}));
  o.groups = 100;
  EXPECT_EQ(SoftmaxOracle<double>(o, 1).dims(), (Dims{11, 44})) << "no more groups than features";
  o.sharing = Sharing::global;
  EXPECT_EQ(SoftmaxOracle<double>(o, 1).dims(), (Dims{1, 44}));
  o.sharing = Sharing::feature;
  EXPECT_EQ(SoftmaxOracle<double>(o, 1).dims(), (Dims{11, 44}));
}

TEST(SoftmaxOracle, ARoundWithoutInnerRowsHasOnlyItsPenalty) {
  SoftmaxOptions o = with(Sharing::feature, Temperature::none, 4);
  o.feed = Feed::judge;
  Case<double> c(o, 3);
  c.p.reveal(1);
  Vector<double> d(c.y.size()), expected(c.y.size());
  c.p.inner_gradient_y(c.x, c.y, d);
  for (Index i = 0; i < 11; ++i) expected.segment(4 * i, 4) = c.x(i) * c.y.segment(4 * i, 4);
  EXPECT_EQ(d, expected);
  c.p.inner_hvp_yy(c.x, c.y, c.y, d);
  EXPECT_EQ(d, expected);
  EXPECT_NEAR(c.p.inner_value(c.x, c.y), 0.5 * expected.dot(c.y), 100 * epsilon);
}

// Whole pools, from which samples are drawn: then the round is the expectation of a draw.
TEST(SoftmaxOracle, PassesThePublicCheckersInBothPrecisions) {
  const CheckOptions where{.rounds = {1, 2, 4},
                           .points = 1,
                           .x = Vector<double>::Constant(1, 0.5),
                           .radius = 0.5,
                           .domain = ConvexSet::box(0.1, 2.0),
                           .draws = 500};
  for (const Feed feed : {Feed::split, Feed::shared, Feed::judge})
    for (const Temperature temperature : {Temperature::none, Temperature::fitted}) {
      SoftmaxOptions o = with(Sharing::global, temperature, 0);
      o.feed = feed;
      SCOPED_TRACE(testing::Message() << name_of(feed) << ", " << name_of(temperature));
      if (temperature == Temperature::none) {  // a scale fitted to a sample is not fitted to the pool
        SoftmaxOracle<double> p(o, 2);
        EXPECT_TRUE(passes(check_oracle(p, where)));
        SoftmaxOracle<float> q(o, 2);
        EXPECT_TRUE(passes(check_oracle(q, where)));
      }
      SoftmaxOracle<double> p(o, 2);
      EXPECT_TRUE(passes(check_primitives(p, where)));
    }
}

}  // namespace
