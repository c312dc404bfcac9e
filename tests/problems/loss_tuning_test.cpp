#include "obolus/problems/loss_tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/problems/slow_network.hpp"

namespace obolus {
namespace {

using test::slow::Reals;

LossTuningOptions small() {
  LossTuningOptions o;
  o.channels = Numbers({3.0, 5.0});
  o.hidden = Numbers(4.0);
  o.batch = 6;
  o.validation_batch = 5;
  return o;
}

Reals reals(const Vector<double>& v) { return Reals(v.begin(), v.end()); }
Vector<double> numbers(Index size, std::uint64_t which, double scale) {
  Vector<double> v(size);
  Rng(which).fill_normal(v);
  return scale * v;
}

// The round's pictures as the slow network takes them.
struct Slow {
  test::slow::Network net;
  test::slow::Batch inner, outer;
  Reals u;

  Slow(LossTuning<double>& p, const LossTuningOptions& o, Round t)
      : net{static_cast<std::size_t>(o.side),
            static_cast<std::size_t>(o.side),
            {3, 5},
            {4},
            static_cast<std::size_t>(o.classes)},
        u(p.pools().class_weight(t)) {
    RoundPictures now;
    p.pools().of_round(t, now);
    Reals one(static_cast<std::size_t>(o.side * o.side));
    for (std::size_t i = 0; i < now.picture.size(); ++i) {
      p.pools().write(p.pools().data().train, now.picture[i], t, one.data());
      test::slow::Batch& to = static_cast<Index>(i) < now.inner ? inner : outer;
      to.pictures.insert(to.pictures.end(), one.begin(), one.end());
      to.labels.push_back(static_cast<std::size_t>(now.label[i]));
    }
  }
};

double distance(const Vector<double>& a, const Reals& b) {
  return (a - Eigen::Map<const Vector<double>>(b.data(), a.size())).lpNorm<Eigen::Infinity>() /
         Eigen::Map<const Vector<double>>(b.data(), a.size()).lpNorm<Eigen::Infinity>();
}

// Everything it can be asked, at two points in turn: what one call leaves behind must not serve another.
TEST(LossTuning, EveryAnswerIsTheDefinitionsWhateverWasAskedBefore) {
  const LossTuningOptions o = small();
  LossTuning<double> p(o, 3);
  const Dims dims = p.dims();
  const Vector<double> v = numbers(dims.y, 9, 1.0);
  for (const Round t : {1, 4}) {
    p.reveal(t);
    const Slow slow(p, o, t);
    for (const std::uint64_t which : {11u, 12u}) {
      const Vector<double> y = numbers(dims.y, which, 0.4), x = numbers(dims.x, which + 50, 0.3).array() + 1.0;
      const Reals theta = reals(y), at = reals(x), w = reals(v);
      Vector<double> d(dims.y), e(dims.x);
      const auto hvp = [&] {
        p.inner_hvp_yy(x, y, v, d);
        EXPECT_LT(distance(d, test::slow::inner_hvp_yy(slow.net, slow.inner, at, theta, w)), 1e-11);
      };
      const auto inner = [&] {
        p.inner_gradient_y(x, y, d);
        EXPECT_LT(distance(d, test::slow::inner_gradient_y(slow.net, slow.inner, at, theta)), 1e-11);
      };
      hvp();
      inner();
      p.inner_hvp_xy(x, y, v, e);
      EXPECT_LT(distance(e, test::slow::inner_hvp_xy(slow.net, slow.inner, at, theta, w)), 1e-11);
      p.outer_gradient_y(x, y, d);
      EXPECT_LT(distance(d, test::slow::outer_gradient_y(slow.net, slow.outer, slow.u, theta)), 1e-11);
      hvp();
      const Vector<double> other = x.array() + 0.1;
      EXPECT_NEAR(p.inner_value(other, y), test::slow::inner_value(slow.net, slow.inner, reals(other), theta), 1e-12);
      p.inner_gradient_x(other, y, e);
      EXPECT_LT(distance(e, test::slow::inner_gradient_x(slow.net, slow.inner, reals(other), theta)), 1e-11);
      hvp();
      inner();
      EXPECT_NEAR(p.outer_value(x, y), test::slow::outer_value(slow.net, slow.outer, slow.u, theta), 1e-12);
      p.outer_gradient_x(x, y, e);
      EXPECT_EQ(e, Vector<double>::Zero(dims.x));
    }
  }
}

// With a_j = 1/(1 + e^−x_j) the derivatives in x_j are those in a_j times a_j (1 − a_j).
TEST(LossTuning, SigmoidScalesEnterTheLossAndItsDerivativesByTheChainRule) {
  LossTuningOptions o = small();
  o.scale = ClassScale::sigmoid;
  LossTuning<double> p(o, 3);
  const Dims dims = p.dims();
  const Slow slow(p, o, 1);
  const Index classes = p.pools().classes();
  const Vector<double> v = numbers(dims.y, 9, 1.0), y = numbers(dims.y, 11, 0.4), x = numbers(dims.x, 61, 1.5);
  Vector<double> at = x, chain = Vector<double>::Ones(dims.x), d(dims.y), e(dims.x);
  for (Index j = 0; j < classes; ++j) {
    at[j] = 1.0 / (1.0 + std::exp(-x[j]));
    chain[j] = at[j] * (1.0 - at[j]);
  }
  const Reals theta = reals(y), a = reals(at), w = reals(v);
  const auto chained = [&](Reals of) {
    for (std::size_t i = 0; i < of.size(); ++i) of[i] *= chain[static_cast<Index>(i)];
    return of;
  };
  EXPECT_NEAR(p.inner_value(x, y), test::slow::inner_value(slow.net, slow.inner, a, theta), 1e-12);
  p.inner_gradient_y(x, y, d);
  EXPECT_LT(distance(d, test::slow::inner_gradient_y(slow.net, slow.inner, a, theta)), 1e-11);
  p.inner_hvp_yy(x, y, v, d);
  EXPECT_LT(distance(d, test::slow::inner_hvp_yy(slow.net, slow.inner, a, theta, w)), 1e-11);
  p.inner_gradient_x(x, y, e);
  EXPECT_LT(distance(e, chained(test::slow::inner_gradient_x(slow.net, slow.inner, a, theta))), 1e-11);
  p.inner_hvp_xy(x, y, v, e);
  EXPECT_LT(distance(e, chained(test::slow::inner_hvp_xy(slow.net, slow.inner, a, theta, w))), 1e-11);
  Evaluation out;
  p.evaluate(x, y, out);
  EXPECT_NEAR(out.find("scale_most").value(), at.head(classes).maxCoeff(), 1e-15);
}

TEST(LossTuning, AWeightedMeanDividesByTheWeightsOfTheRoundsPictures) {
  LossTuningOptions o = small();
  o.validation_law = ValidationLaw::imbalanced;
  o.proportions = 0.5;
  o.weights = ClassWeights::weighted_mean;
  LossTuning<double> p(o, 3);
  const Slow slow(p, o, 1);
  const Vector<double> x = Vector<double>::Ones(p.dims().x), y = numbers(p.dims().y, 11, 0.4);
  double weights = 0.0;
  for (const std::size_t label : slow.outer.labels) weights += slow.u[label];
  const double factor = static_cast<double>(slow.outer.labels.size()) / weights;
  EXPECT_GT(std::abs(factor - 1.0), 0.1);
  EXPECT_NEAR(p.outer_value(x, y), factor * test::slow::outer_value(slow.net, slow.outer, slow.u, reals(y)), 1e-12);
  Vector<double> d(p.dims().y);
  p.outer_gradient_y(x, y, d);
  Reals expected = test::slow::outer_gradient_y(slow.net, slow.outer, slow.u, reals(y));
  for (double& each : expected) each *= factor;
  EXPECT_LT(distance(d, expected), 1e-11);
}

// With a batch of all pictures the round's are the phase's, and so are their statistics.
TEST(LossTuning, EvaluatesTheLossOfThePhaseIfAskedTo) {
  LossTuningOptions o = small();
  o.phase_loss = true;
  const Vector<double> y = numbers(LossTuning<double>(o, 3).dims().y, 11, 0.4);
  const auto losses = [&](std::int64_t batch) {
    o.batch = batch;
    LossTuning<double> p(o, 3);
    const Vector<double> x = numbers(p.dims().x, 61, 1.5);
    Evaluation out;
    p.evaluate(x, y, out);
    return std::pair(out.find("train_loss").value(), out.find("phase_loss").value());
  };
  const auto [whole, same] = losses(0);
  EXPECT_NEAR(whole, same, 1e-12);
  const auto [few, phase] = losses(5);
  EXPECT_GT(std::abs(few - phase), 1e-3);
}

// With the first picture alone every accuracy is 0 or 1.
TEST(LossTuning, TestsOnTheFirstPicturesIfAskedTo) {
  LossTuningOptions o = small();
  o.test_pictures = 1;
  LossTuning<double> p(o, 3);
  const Vector<double> x = Vector<double>::Ones(p.dims().x), y = numbers(p.dims().y, 11, 0.4);
  Evaluation out;
  p.evaluate(x, y, out);
  const double accuracy = out.find("test_accuracy").value();
  EXPECT_TRUE(accuracy == 0.0 || accuracy == 1.0) << accuracy;
  EXPECT_EQ(out.find("test_balanced").value(), accuracy);
  o.test_pictures = 100'000;
  EXPECT_THROW(LossTuning<double>(o, 3), ConfigError);
}

TEST(LossTuning, TheStartIsThePapersNetworkWithANeutralLoss) {
  LossTuningOptions o = small();
  o.hidden = 0.0;
  LossTuning<double> p(o, 3), same(o, 3), another(o, 4);
  Vector<double> x(p.dims().x), y(p.dims().y), y_same = y, y_another = y;
  p.start(x, y);
  same.start(x, y_same);
  another.start(x, y_another);
  EXPECT_EQ(y, y_same);
  EXPECT_NE(y, y_another);
  EXPECT_EQ(x.head(3), Vector<double>::Ones(3));
  EXPECT_EQ(x.tail(3), Vector<double>::Zero(3));
  const Index first = 27, later = 135;  // weights of blocks of 3 and 5 channels
  EXPECT_EQ(y.segment(first, 9), (Vector<double>(9) << 0, 0, 0, 1, 1, 1, 0, 0, 0).finished());
  EXPECT_NEAR(y.segment(first + 9, later).squaredNorm() / double(later), 2.0 / 45, 0.02);
  EXPECT_EQ(y.tail(3 * 20 + 3), Vector<double>::Zero(63));  // the head reads 2 × 2 pixels of 5 channels
  EXPECT_NEAR(p.inner_value(x, y), std::log(3.0), 1e-12);   // all classes alike
}

TEST(LossTuning, PlainTrainingLearnsTheGeneratedPictures) {
  LossTuningOptions o;
  LossTuning<float> p(o, 3);
  Vector<float> x(p.dims().x), y(p.dims().y), d(p.dims().y);
  p.start(x, y);
  for (Round t = 1; t <= 60; ++t) {
    p.reveal(t);
    p.inner_gradient_y(x, y, d);
    y -= 0.1f * d;
  }
  Evaluation e;
  p.evaluate(x, y, e);
  EXPECT_GT(e.find("test_balanced").value(), 0.9);
  EXPECT_GT(e.find("test_balanced_own").value(), 0.9);
}

TEST(LossTuning, AnyNumberOfThreadsGivesTheSameBits) {
  LossTuningOptions o = small();
  o.batch = 40;
  LossTuning<float> one(o, 3), two(o, 3);
  two.set_threads(2);
  Vector<float> x(one.dims().x), y(one.dims().y), v(one.dims().y), a = y, b = y;
  one.start(x, y);
  v.setOnes();
  y.array() += 0.01f;
  one.inner_hvp_yy(x, y, v, a);
  two.inner_hvp_yy(x, y, v, b);
  EXPECT_EQ(a, b);
}

TEST(LossTuning, WhatIsNotANumberIsAskedAgainAndShown) {
  LossTuning<double> p(small(), 3);
  Vector<double> x(p.dims().x), y(p.dims().y), d(p.dims().y);
  p.start(x, y);
  y[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(p.inner_value(x, y)));
  p.inner_gradient_y(x, y, d);
  EXPECT_FALSE(d.allFinite());
}

}  // namespace
}  // namespace obolus
