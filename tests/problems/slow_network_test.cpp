#include "tests/problems/slow_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "obolus/core/rng.hpp"

namespace {

using namespace obolus::test::slow;
using nlohmann::json;
using obolus::Rng;

Reals normal(Rng& rng, std::size_t count, double size = 1.0, double centre = 0.0) {
  Reals out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(centre + size * rng.normal());
  return out;
}

Reals along(Reals from, double step, const Reals& v) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] += step * v[i];
  return from;
}

Reals axis(std::size_t count, std::size_t i) {
  Reals out(count, 0.0);
  out[i] = 1.0;
  return out;
}

double dot(const Reals& a, const Reals& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double max_abs(const Reals& a) {
  double out = 0.0;
  for (const double one : a) out = std::max(out, std::abs(one));
  return out;
}

// A network with everything its losses ask for.
struct Case {
  std::string name;
  Network net;
  Batch batch;
  Reals x, theta, u, v;

  Case(std::string title, Network network, std::size_t count, std::uint64_t seed)
      : name(std::move(title)), net(std::move(network)) {
    Rng rng(seed);
    batch.pictures = normal(rng, count * net.height * net.width);
    for (std::size_t b = 0; b < count; ++b) batch.labels.push_back(rng.below(net.classes));
    x = normal(rng, 2 * net.classes, 0.3, 1.0);
    theta = normal(rng, parameter_count(net), 0.5);
    u = normal(rng, net.classes, 0.1, 1.0);
    v = normal(rng, theta.size());
  }

  [[nodiscard]] double g(const Reals& at_x, const Reals& at) const { return inner_value(net, batch, at_x, at); }
  [[nodiscard]] double f(const Reals& at) const { return outer_value(net, batch, u, at); }
  [[nodiscard]] Reals g_y(const Reals& at) const { return inner_gradient_y(net, batch, x, at); }
  [[nodiscard]] Reals g_x(const Reals& at) const { return inner_gradient_x(net, batch, x, at); }
};

std::vector<Case> cases() {
  return {{"two blocks and a hidden layer", {8, 8, {3, 4}, {5}, 3}, 5, 1},
          {"odd sides, 7 to 3 to 1", {7, 7, {3, 5}, {4}, 3}, 6, 2},
          {"a picture that is no square", {5, 9, {2, 3}, {}, 4}, 4, 3},
          {"no hidden layer", {6, 6, {4}, {}, 3}, 4, 4},
          {"hidden layers only", {4, 3, {}, {6, 5}, 3}, 5, 5},
          {"a head only", {2, 3, {}, {}, 4}, 5, 6}};
}

// A central difference of φ with step h along a unit vector misses φ' by h²/6 of φ''' and by the rounding of φ over h.
// With h = 1e-5, values of about 1 and some hundred units of 1.1e-16 the latter is 1e-9. The losses bend over distances
// of about the deviations of the normalisation, which are 0.2 and more here: φ''' is at most some hundred times what is
// compared, which makes 2e-9. Hence 1e-8 of the largest entry, taken at least 1; a wrong term is far more. This holds
// where no branch is decided otherwise at the two ends, which is asserted.
constexpr double step = 1e-5, tolerance = 1e-8;

void expect_smooth(const Case& c, const Reals& v) {
  const auto routes = [&](double h) { return inner(c.net, c.batch, c.x, along(c.theta, h, v)).routes; };
  ASSERT_EQ(routes(step), routes(0.0)) << c.name << ": a tie is near; take another seed";
  ASSERT_EQ(routes(-step), routes(0.0)) << c.name << ": a tie is near; take another seed";
}

double difference(const std::function<double(double)>& phi) { return (phi(step) - phi(-step)) / (2.0 * step); }

Reals difference(const std::function<Reals(double)>& phi) {
  const Reals zero = along(phi(step), -1.0, phi(-step));
  return along(Reals(zero.size(), 0.0), 0.5 / step, zero);
}

void expect_close(const Reals& got, const Reals& expected, double relative, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  EXPECT_LE(max_abs(along(got, -1.0, expected)), relative * std::max(1.0, max_abs(expected))) << what;
}

TEST(SlowNetworkTest, GradientsAreThoseOfDifferencesOfValues) {
  for (const Case& c : cases()) {
    const std::size_t parameters = c.theta.size(), scalars = c.x.size();
    Reals g_y, g_x, f_y;
    for (std::size_t i = 0; i < parameters; ++i) {
      const Reals e = axis(parameters, i);
      ASSERT_NO_FATAL_FAILURE(expect_smooth(c, e));
      g_y.push_back(difference([&](double h) { return c.g(c.x, along(c.theta, h, e)); }));
      f_y.push_back(difference([&](double h) { return c.f(along(c.theta, h, e)); }));
    }
    for (std::size_t i = 0; i < scalars; ++i)
      g_x.push_back(difference([&](double h) { return c.g(along(c.x, h, axis(scalars, i)), c.theta); }));
    expect_close(c.g_y(c.theta), g_y, tolerance, c.name + ", g_y");
    expect_close(c.g_x(c.theta), g_x, tolerance, c.name + ", g_x");
    expect_close(outer_gradient_y(c.net, c.batch, c.u, c.theta), f_y, tolerance, c.name + ", f_y");
  }
}

TEST(SlowNetworkTest, SecondDerivativesAreThoseOfDifferencesOfGradients) {
  for (Case& c : cases()) {
    const double length = std::sqrt(dot(c.v, c.v));
    for (double& one : c.v) one /= length;
    ASSERT_NO_FATAL_FAILURE(expect_smooth(c, c.v));
    const Reals yy = difference([&](double h) { return c.g_y(along(c.theta, h, c.v)); });
    const Reals xy = difference([&](double h) { return c.g_x(along(c.theta, h, c.v)); });
    expect_close(inner_hvp_yy(c.net, c.batch, c.x, c.theta, c.v), yy, tolerance, c.name + ", g_yy v");
    expect_close(inner_hvp_xy(c.net, c.batch, c.x, c.theta, c.v), xy, tolerance, c.name + ", g_xy v");
  }
}

TEST(SlowNetworkTest, ValuesAndGradientsWithDualsHaveTheirSlopes) {
  for (const Case& c : cases()) {
    const Numbers<Dual> moving = with_slopes(c.theta, c.v);
    // The same sums in another order: a few thousand roundings of 1.1e-16, and numbers up to 1e2.
    const Dual g = inner_value(c.net, c.batch, with_slopes(c.x), moving);
    const Dual f = outer_value(c.net, c.batch, c.u, moving);
    const double g_slope = dot(c.g_y(c.theta), c.v), f_slope = dot(outer_gradient_y(c.net, c.batch, c.u, c.theta), c.v);
    EXPECT_EQ(g.value, c.g(c.x, c.theta)) << c.name;
    EXPECT_EQ(f.value, c.f(c.theta)) << c.name;
    EXPECT_NEAR(g.slope, g_slope, 1e-11 * std::max(1.0, std::abs(g_slope))) << c.name;
    EXPECT_NEAR(f.slope, f_slope, 1e-11 * std::max(1.0, std::abs(f_slope))) << c.name;
  }
}

TEST(SlowNetworkTest, TheSecondDerivativeIsSymmetric) {
  for (const Case& c : cases()) {
    Rng rng(77);
    const Reals w = normal(rng, c.theta.size());
    const Reals of_v = inner_hvp_yy(c.net, c.batch, c.x, c.theta, c.v);
    const Reals of_w = inner_hvp_yy(c.net, c.batch, c.x, c.theta, w);
    // Rounding alone: both are sums of products of numbers of this size.
    EXPECT_NEAR(dot(w, of_v), dot(c.v, of_w), 1e-11 * max_abs(of_v) * static_cast<double>(w.size())) << c.name;
  }
}

TEST(SlowNetworkTest, CrossProductsAreTransposed) {
  for (const Case& c : cases()) {
    Rng rng(78);
    const Reals r = normal(rng, c.x.size());
    const Reals yx = slopes_of(inner_gradient_y(c.net, c.batch, with_slopes(c.x, r), with_slopes(c.theta)));
    const Reals xy = inner_hvp_xy(c.net, c.batch, c.x, c.theta, c.v);
    EXPECT_NEAR(dot(yx, c.v), dot(xy, r), 1e-11 * std::max(1.0, max_abs(yx)) * static_cast<double>(yx.size()))
        << c.name;
  }
}

TEST(SlowNetworkTest, CountsTheParametersOfEachPart) {
  EXPECT_EQ(parameter_count({7, 7, {3, 5}, {4}, 3}), 3u * 9 + 9 + 5 * 27 + 15 + 4 * 5 + 4 + 3 * 4 + 3);
  EXPECT_EQ(parameter_count({5, 9, {2}, {}, 4}), 2u * 9 + 6 + 4 * (2 * 4 * 2) + 4);
  EXPECT_EQ(parameter_count({4, 3, {}, {6, 5}, 2}), 6u * 12 + 6 + 5 * 6 + 5 + 2 * 5 + 2);
}

// θ of one block of width 1 and of a head to two logits, (±a, 0) of what the block puts out.
Reals one_block(Reals weights, double bias) {
  weights.insert(weights.end(), {bias, 1.0, 0.0, 1.0, -1.0, 0.0, 0.0});
  return weights;
}

TEST(SlowNetworkTest, TheFirstOfEqualMaximaTakesTheDerivative) {
  const Network net{2, 2, {1}, {}, 2};
  const Batch batch{{1, 2, 3, 4, -5, 6, 7, 8}, {0, 1}};
  const Reals constant = one_block(Reals(9, 0.0), 1.0), u = {1.0, 1.0};  // 1 everywhere
  const Walk<double> w = outer(net, batch, u, constant);
  EXPECT_EQ(w.routes, (Sizes{0, 0}));
  for (const std::size_t in_the_border : {0u, 1u, 2u, 3u, 6u}) EXPECT_EQ(w.by_theta[in_the_border], 0.0);
  for (const std::size_t inside : {4u, 5u, 7u, 8u}) EXPECT_NE(w.by_theta[inside], 0.0);

  // The pixel itself: the maximum of the first picture is at (0, 1) and (1, 0), that of the second at the last two.
  const Batch ties{{1, 3, 3, 2, 1, 2, 4, 4}, {0, 1}};
  EXPECT_EQ(outer(net, ties, u, one_block(axis(9, 4), 0.0)).routes, (Sizes{1, 2}));
}

TEST(SlowNetworkTest, NormalisesTheMaximaOverTheBatch) {
  const Batch batch{{-1, -2, 0, -4, 5, 6, 7, 8}, {0, 1}};
  const Walk<double> w = outer({2, 2, {1}, {}, 2}, batch, {1.0, 1.0}, one_block(axis(9, 4), 0.0));
  EXPECT_EQ(w.routes, (Sizes{4, 3}));
  // The maxima are 0 and 8: their mean is 4 and their variance 16. The logits are (±a, ∓a), the labels the worse ones.
  const double a = 4.0 / std::sqrt(16.0 + 1e-5);
  EXPECT_NEAR(w.logits[0], -a, 1e-15);
  EXPECT_NEAR(w.logits[2], a, 1e-15);
  EXPECT_NEAR(w.value, std::log1p(std::exp(2.0 * a)), 1e-14);
}

TEST(SlowNetworkTest, WhereTheMaximumIsZeroNothingIsDerived) {
  const Batch batch{{-9, -7, 0, -5, 5, 6, 7, 8, 1, 3, 2, 1}, {0, 1, 0}};
  const Walk<double> w = outer({2, 2, {1}, {}, 2}, batch, {1.0, 1.0}, one_block(axis(9, 4), 0.0));
  EXPECT_EQ(w.routes, (Sizes{4, 3, 1}));
  // The derivatives by the maxima 8 and 3 follow from those by the bias and by the kernel's centre; the one by the
  // weight to the left, over pixels 7 and 1, is theirs alone.
  const double centre = w.by_theta[4], left = w.by_theta[3], bias = w.by_theta[9];
  const double of_8 = (centre - 3.0 * bias) / 5.0, of_3 = bias - of_8;
  EXPECT_GT(std::abs(of_8), 1e-3);
  EXPECT_GT(std::abs(of_3), 1e-3);
  EXPECT_NEAR(left, 7.0 * of_8 + 1.0 * of_3, 1e-14);
}

TEST(SlowNetworkTest, TheLastOddRowAndColumnReachTheMapsThroughTheirNeighboursOnly) {
  const Network net{3, 3, {1}, {}, 2};
  Batch batch{{1, 2, 9, 3, 4, 9, 9, 9, 9, 1, 1, 9, 5, 1, 9, 9, 9, 9}, {0, 1}};
  const Reals pixel = one_block(axis(9, 4), 0.0), to_the_right = one_block(axis(9, 5), 0.0);
  const auto means = [&](const Reals& theta) { return statistics(net, batch, theta)[0].mean[0]; };
  EXPECT_EQ(means(pixel), 4.5);
  EXPECT_EQ(means(to_the_right), 9.0);
}

TEST(SlowNetworkTest, OwnStatisticsGivenChangeNothing) {
  for (const Case& c : cases()) {
    const Reals own = logits(c.net, c.batch, c.theta);
    EXPECT_EQ(logits(c.net, c.batch, c.theta, statistics(c.net, c.batch, c.theta)), own) << c.name;
  }
}

TEST(SlowNetworkTest, WithGivenStatisticsAPictureDoesNotDependOnTheOthers) {
  for (const Case& c : cases()) {
    const Reals together = logits(c.net, c.batch, c.theta);
    const std::size_t pixels = c.net.height * c.net.width;
    for (std::size_t b = 0; b < c.batch.labels.size(); ++b) {
      const auto first = c.batch.pictures.begin() + static_cast<std::ptrdiff_t>(b * pixels);
      const Batch alone{{first, first + static_cast<std::ptrdiff_t>(pixels)}, {}};
      const Reals z = logits(c.net, alone, c.theta, statistics(c.net, c.batch, c.theta));
      for (std::size_t j = 0; j < c.net.classes; ++j) EXPECT_EQ(z[j], together[b * c.net.classes + j]) << c.name;
    }
  }
}

TEST(SlowNetworkTest, GivesTheNumbersOfPyTorch) {
  std::ifstream file(OBOLUS_NETWORK_FIXTURE);
  const json made = json::parse(file);
  const auto numbers = [&](const char* name) { return made[name].get<Reals>(); };
  const Network net{made["side"], made["side"], made["channels"], made["hidden"], made["classes"]};
  const Batch batch{numbers("pictures"), made["labels"]}, other{numbers("other_pictures"), {}};
  const Reals x = numbers("x"), theta = numbers("theta"), u = numbers("u"), v = numbers("v");
  ASSERT_EQ(parameter_count(net), theta.size());

  // Both round, 1.1e-16 at a time: sums of up to 1e2 terms, of numbers up to 10.
  constexpr double rounding = 1e-13;
  const std::vector<Statistics<double>> own = statistics(net, batch, theta);
  ASSERT_EQ(own.size(), made["statistics"].size());
  for (std::size_t l = 0; l < own.size(); ++l) {
    expect_close(own[l].mean, made["statistics"][l][0], rounding, "mean");
    expect_close(own[l].variance, made["statistics"][l][1], rounding, "variance");
  }
  expect_close(logits(net, batch, theta), numbers("z"), rounding, "logits");
  expect_close(logits(net, other, theta, own), numbers("other_logits"), rounding, "logits with given statistics");
  expect_close({outer_value(net, batch, u, theta)}, numbers("f"), rounding, "f");
  expect_close({inner_value(net, batch, x, theta)}, numbers("g"), rounding, "g");
  expect_close(outer_gradient_y(net, batch, u, theta), numbers("f_y"), rounding, "f_y");
  expect_close(inner_gradient_y(net, batch, x, theta), numbers("g_y"), rounding, "g_y");
  expect_close(inner_gradient_x(net, batch, x, theta), numbers("g_x"), rounding, "g_x");
  expect_close(inner_hvp_yy(net, batch, x, theta, v), numbers("hvp"), rounding, "g_yy v");
  expect_close(inner_hvp_xy(net, batch, x, theta, v), numbers("cross"), rounding, "g_xy v");
}

}  // namespace
