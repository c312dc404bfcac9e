#include "kernels/network/network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "obolus/core/rng.hpp"
#include "tests/kernels/instruction_sets.hpp"
#include "tests/problems/slow_network.hpp"

namespace obolus {
namespace {

using test::slow::Reals;

struct Case {
  const char* name;
  std::size_t height, width;
  std::vector<std::size_t> channels, hidden;
  std::size_t classes, pictures;
};

const Case cases[] = {
    {"one_block", 6, 6, {3}, {}, 3, 5},
    {"widths_that_fill_no_pack", 9, 7, {3, 5}, {}, 4, 6},
    {"hidden_layers", 8, 8, {4}, {6, 5}, 3, 7},
    {"no_block", 5, 5, {}, {9}, 4, 8},
    {"linear", 3, 4, {}, {}, 3, 4},
    {"wide_blocks", 12, 12, {16, 40}, {7}, 5, 4},
    {"halved_to_one_pixel_past_odd_sides", 28, 28, {8, 16, 8, 24}, {}, 10, 3},
    {"many_parts", 6, 6, {2, 3}, {}, 3, 70},
};

template <class S>
std::vector<const kernels::network::Kernels<S>*> all_kernels() {
  std::vector<const kernels::network::Kernels<S>*> all;
  for (const auto set : kernels::instruction_sets()) all.push_back(&kernels::network::table<S>(set));
  return all;
}

NetworkShape shape_of(const Case& c) {
  const auto indices = [](const std::vector<std::size_t>& v) { return std::vector<Index>(v.begin(), v.end()); };
  return {static_cast<Index>(c.height), static_cast<Index>(c.width), indices(c.channels), indices(c.hidden),
          static_cast<Index>(c.classes)};
}

// Weights and data at which no maximum is near a tie: continuous random numbers. Differences of the order of rounding
// between the two computations then change no winner.
struct Fixture {
  test::slow::Network net;
  test::slow::Batch batch;
  Reals theta, x, v;

  explicit Fixture(const Case& c, std::uint64_t seed = 3) : net{c.height, c.width, c.channels, c.hidden, c.classes} {
    Rng rng(seed);
    const auto numbers = [&](std::size_t count, double size) {
      Reals out(count);
      for (double& number : out) number = size * rng.normal();
      return out;
    };
    theta = numbers(test::slow::parameter_count(net), 0.5);
    v = numbers(theta.size(), 1.0);
    x = Reals(2 * c.classes, 0.0);
    for (std::size_t j = 0; j < c.classes; ++j) x[j] = 1.0;
    batch.pictures = numbers(c.pictures * c.height * c.width, 1.0);
    for (std::size_t i = 0; i < c.pictures; ++i) batch.labels.push_back(rng.below(c.classes));
  }
};

template <class S>
std::vector<S> cast(const Reals& numbers) {
  return std::vector<S>(numbers.begin(), numbers.end());
}

// Cross-entropy of the logits: slopes, and their tangents.
template <class S>
void leave_slopes(Network<S>& net, const test::slow::Batch& batch, bool tangents) {
  const auto classes = static_cast<std::size_t>(net.shape().classes), count = batch.labels.size();
  for (std::size_t r = 0; r < count; ++r) {
    const S *z = net.logits() + r * net.row(), *z_t = net.logits_tangent() + r * net.row();
    double sum = 0, mean_t = 0;
    for (std::size_t j = 0; j < classes; ++j) sum += std::exp(double(z[j]));
    for (std::size_t j = 0; j < classes; ++j) mean_t += std::exp(double(z[j])) / sum * double(z_t[j]);
    for (std::size_t j = 0; j < classes; ++j) {
      const double p = std::exp(double(z[j])) / sum, n = static_cast<double>(count);
      if (tangents) net.slope_tangent()[r * net.row() + j] = static_cast<S>(p * (double(z_t[j]) - mean_t) / n);
      else net.slope()[r * net.row() + j] = static_cast<S>((p - (batch.labels[r] == j ? 1.0 : 0.0)) / n);
    }
  }
}

template <class S>
struct Derivatives {
  std::vector<S> gradient, product;
};

template <class S>
Derivatives<S> derivatives(Network<S>& net, const Fixture& f) {
  const std::vector<S> theta = cast<S>(f.theta), v = cast<S>(f.v), pictures = cast<S>(f.batch.pictures);
  const S nan = std::numeric_limits<S>::quiet_NaN();
  Derivatives<S> d{std::vector<S>(theta.size(), nan), std::vector<S>(theta.size(), nan)};
  net.forward(theta.data(), pictures.data(), static_cast<int>(f.batch.labels.size()));
  leave_slopes(net, f.batch, false);
  net.backward(d.gradient.data());
  net.tangent(v.data());
  leave_slopes(net, f.batch, true);
  net.tangent_backward(d.product.data());
  return d;
}

// Largest difference, relative to the largest number.
template <class S>
double distance(const std::vector<S>& a, const Reals& b) {
  double max = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!(std::abs(double(a[i]) - b[i]) <= max)) max = std::abs(double(a[i]) - b[i]);
    size = std::max(size, std::abs(b[i]));
  }
  return max / size;
}

class NetworkTest : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Shapes, NetworkTest, testing::ValuesIn(cases),
                         [](const auto& param) { return std::string(param.param.name); });

// A few thousand operations behind each number, in another order: 1e-11 is 1e5 units of rounding.
TEST_P(NetworkTest, GradientsAndProductsAreThoseOfTheDefinition) {
  const Fixture f(GetParam());
  const Reals gradient = test::slow::inner_gradient_y(f.net, f.batch, f.x, f.theta);
  const Reals product = test::slow::inner_hvp_yy(f.net, f.batch, f.x, f.theta, f.v);
  for (const auto* table : all_kernels<double>()) {
    Network<double> net(shape_of(GetParam()), *table);
    ASSERT_EQ(static_cast<std::size_t>(net.parameters()), f.theta.size());
    const auto d = derivatives(net, f);
    EXPECT_LT(distance(d.gradient, gradient), 1e-11) << table->name;
    EXPECT_LT(distance(d.product, product), 1e-11) << table->name;
  }
}

TEST_P(NetworkTest, FloatsAreNearTheDefinition) {
  const Fixture f(GetParam());
  const Reals gradient = test::slow::inner_gradient_y(f.net, f.batch, f.x, f.theta);
  const Reals product = test::slow::inner_hvp_yy(f.net, f.batch, f.x, f.theta, f.v);
  for (const auto* table : all_kernels<float>()) {
    Network<float> net(shape_of(GetParam()), *table);
    const auto d = derivatives(net, f);
    EXPECT_LT(distance(d.gradient, gradient), 1e-3) << table->name;
    EXPECT_LT(distance(d.product, product), 1e-3) << table->name;
  }
}

TEST_P(NetworkTest, AnyNumberOfThreadsGivesTheSameBits) {
  const Fixture f(GetParam());
  for (const auto* table : all_kernels<float>()) {
    Network<float> one(shape_of(GetParam()), *table), three(shape_of(GetParam()), *table);
    three.set_threads(3);
    const auto a = derivatives(one, f), b = derivatives(three, f);
    EXPECT_EQ(a.gradient, b.gradient) << table->name;
    EXPECT_EQ(a.product, b.product) << table->name;
  }
}

TEST_P(NetworkTest, ANetworkThatSawOtherBatchesForgetsThem) {
  const Fixture f(GetParam());
  Case larger = GetParam();
  larger.pictures *= 3;
  Network<double> fresh(shape_of(GetParam())), used(shape_of(GetParam()));
  derivatives(used, Fixture(larger, 8));
  const auto a = derivatives(fresh, f), b = derivatives(used, f);
  EXPECT_EQ(a.gradient, b.gradient);
  EXPECT_EQ(a.product, b.product);
}

TEST_P(NetworkTest, PredictionsUseTheStatisticsOfTheLastForwardPass) {
  const Fixture f(GetParam()), other(GetParam(), 4);
  const auto statistics = test::slow::statistics(f.net, f.batch, f.theta);
  const Reals logits = test::slow::logits(f.net, other.batch, f.theta, statistics);
  Network<double> net(shape_of(GetParam()));
  const int count = static_cast<int>(f.batch.labels.size());
  net.forward(f.theta.data(), f.batch.pictures.data(), count);
  net.predict(f.theta.data(), other.batch.pictures.data(), count);
  std::vector<double> own;
  for (int r = 0; r < count; ++r)
    own.insert(own.end(), net.logits() + std::size_t(r) * net.row(),
               net.logits() + std::size_t(r) * net.row() + net.shape().classes);
  EXPECT_LT(distance(own, logits), 1e-11);
}

// In one pass, E[p²] − E[p]², a float would lose all digits here: the variance is a millionth of the squared mean.
TEST(Network, VariancesThatAreSmallBesideTheMeanAreRight) {
  const Case c{"", 4, 4, {2}, {}, 2, 32};
  Fixture f(c);
  for (std::size_t o = 0; o < 2; ++o) f.theta[18 + o] = 1000.0;  // biases
  const Reals gradient = test::slow::inner_gradient_y(f.net, f.batch, f.x, f.theta);
  for (const auto* table : all_kernels<float>()) {
    Network<float> net(shape_of(c), *table);
    EXPECT_LT(distance(derivatives(net, f).gradient, gradient), 2e-3) << table->name;
  }
}

TEST(Network, AVarianceBeyondTheNumbersIsNotHidden) {
  const Case c{"", 6, 6, {3, 2}, {}, 3, 4};
  Fixture f(c);
  for (double& number : f.theta) number *= 1e20;
  Network<float> net(shape_of(c));
  const std::vector<float> theta = cast<float>(f.theta), pictures = cast<float>(f.batch.pictures);
  net.forward(theta.data(), pictures.data(), 4);
  EXPECT_TRUE(std::isnan(net.logits()[0]));
}

TEST(Network, WhatIsNotANumberIsNotHidden) {
  const Case c{"", 6, 6, {3, 2}, {}, 3, 4};
  Fixture f(c);
  f.theta[0] = std::numeric_limits<double>::quiet_NaN();
  for (const auto* table : all_kernels<double>()) {
    Network<double> net(shape_of(c), *table);
    net.forward(f.theta.data(), f.batch.pictures.data(), 4);
    EXPECT_TRUE(std::isnan(net.logits()[0])) << table->name;
  }
}

TEST(Network, ThePapersNetworkHasItsNumberOfWeights) {
  EXPECT_EQ((NetworkShape{28, 28, {64, 64, 64, 64}, {}, 10}.parameters()), 112'586);
}

}  // namespace
}  // namespace obolus
