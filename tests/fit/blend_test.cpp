// Numbers predicted by the model, the last label and the mean label together.
#include "fit/model/blend.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "obolus/core/rng.hpp"
#include "tests/fit/fit_stream.hpp"

namespace obolus {
namespace {

using fit::Blend;
using test::data_row;
using test::fit_options;
using test::FitStream;

struct Seen {
  Blend::Guess guess;
  double label, weight;
};

// The same minimum from all rows, by steps along each edge of the triangle until nothing moves.
Blend::Shares slow_shares(const std::vector<Seen>& rows) {
  double mean = 0, variance = 0;
  for (const Seen& r : rows) mean += r.label / static_cast<double>(rows.size());
  for (const Seen& r : rows) variance += (r.label - mean) * (r.label - mean) / static_cast<double>(rows.size());
  const auto cost = [&](double u, double v) {
    double sum = variance * (u * u + v * v), faded = 1;
    for (std::size_t i = rows.size(); i-- > 0; faded *= 0.999) {
      const auto& [g, label, weight] = rows[i];
      const double error = label - (1 - u - v) * g.model - u * g.last - v * g.mean;
      if (g.known) sum += faded * weight * error * error;
    }
    return sum;
  };
  double u = 0, v = 0, best = cost(0, 0);
  for (double step = 0.5; step > 1e-7;) {
    bool moved = false;
    for (const auto& [du, dv] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, -1}, {-1, 1}}) {
      const double nu = u + du * step, nv = v + dv * step;
      if (nu < 0 || nv < 0 || nu + nv > 1) continue;
      if (const double c = cost(nu, nv); c < best) {
        best = c;
        u = nu;
        v = nv;
        moved = true;
      }
    }
    if (!moved) step /= 2;
  }
  return {u, v};
}

// The model's guesses are `skill` right, the labels keep `memory` of the one before.
std::vector<Seen> run(Blend& blend, int rows, double skill, double memory, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Seen> seen;
  double label = 3;
  for (int t = 0; t < rows; ++t) {
    const double next = 3 + memory * (label - 3) + std::sqrt(1 - memory * memory) * rng.normal();
    const Blend::Guess guess = blend.guess(3 + skill * (next - 3) + (1 - skill) * rng.normal());
    seen.push_back({guess, next, t % 3 == 0 ? 2.0 : 1.0});
    blend.see(guess, next, seen.back().weight);
    label = next;
  }
  return seen;
}

TEST(Blend, MinimisesTheSquaredErrorsOfTheRowsSoFar) {
  int inside = 0, on_a_side = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const double skill : {0.0, 0.5, 0.9})
      for (const double memory : {0.0, 0.6, 0.95}) {
        Blend blend;
        const auto seen = run(blend, 60, skill, memory, seed);
        const Blend::Shares got = blend.shares(), expected = slow_shares(seen);
        EXPECT_NEAR(got.last, expected.last, 1e-4) << skill << ' ' << memory << ' ' << seed;
        EXPECT_NEAR(got.mean, expected.mean, 1e-4) << skill << ' ' << memory << ' ' << seed;
        (got.last > 0 && got.mean > 0 && got.last + got.mean < 1 ? inside : on_a_side) += 1;
      }
  EXPECT_GT(inside, 5);
  EXPECT_GT(on_a_side, 5);
}

TEST(Blend, TrustsWhatIsRight) {
  Blend by_model, by_last, by_mean;
  run(by_model, 2000, 0.98, 0.5, 1);
  run(by_last, 2000, 0.0, 0.99, 1);
  run(by_mean, 2000, 0.0, 0.0, 1);
  EXPECT_LT(by_model.shares().last + by_model.shares().mean, 0.05);
  EXPECT_GT(by_last.shares().last, 0.9);
  EXPECT_GT(by_mean.shares().mean, 0.7);
}

TEST(Blend, StaysBetweenTheThreeWhateverTheyAre) {
  Rng rng(7);
  const double sizes[] = {0, 1e-30, 1, 1e10, 1e38, -1e38};
  for (int repeat = 0; repeat < 20; ++repeat) {
    Blend blend;
    for (int t = 0; t < 50; ++t) {
      const Blend::Guess g = blend.guess(sizes[rng.below(6)] * rng.normal());
      const double number = blend.number(g), margin = 1e-9 * std::max({std::abs(g.model), std::abs(g.last), 1e-30});
      ASSERT_GE(number, (g.known ? std::min({g.model, g.last, g.mean}) : g.model) - margin);
      ASSERT_LE(number, (g.known ? std::max({g.model, g.last, g.mean}) : g.model) + margin);
      blend.see(g, sizes[rng.below(6)] * rng.normal(), 1);
    }
  }
}

TEST(Blend, SurvivesAModelThatIsNotFinite) {
  Blend blend;
  run(blend, 100, 0.5, 0.5, 1);
  const Blend::Shares before = blend.shares();
  blend.see(blend.guess(std::numeric_limits<double>::quiet_NaN()), 3, 1);
  EXPECT_NEAR(blend.shares().last, before.last, 0.01);
  blend.see(blend.guess(3), 1e9, 0);  // weighs nothing
  EXPECT_EQ(blend.guess(0).last, 3);
}

// Against the model's own numbers, blended by hand: a row's label is used when it comes, with what was at hand when
// the row was predicted.
TEST(Blend, OfAFitUsesLabelsAsTheyCome) {
  for (const std::int64_t delay : {0, 1, 7}) {
    FitOptions o = fit_options(FitTask::numbers);
    o.delay = delay;
    Fit blended(o);
    o.blend = FitBlend::none;
    Fit alone(o);
    for (Fit* fit : {&blended, &alone}) fit->set_groups(FitStream::groups(), true);
    FitStream stream(3, FitTask::numbers);
    Blend by_hand;
    std::deque<Seen> waiting;
    bool differed = false;
    for (int t = 0; t < 200; ++t) {
      const DataRow row = stream.next();
      const double model = alone.learn(row).number, got = blended.learn(row).number;
      const Blend::Guess guess = by_hand.guess(model);
      EXPECT_DOUBLE_EQ(got, by_hand.number(guess)) << "delay " << delay << " row " << t;
      differed = differed || got != model;
      waiting.push_back({guess, static_cast<double>(std::stof(row.label)), row.weight});
      if (static_cast<std::int64_t>(waiting.size()) <= delay) continue;
      by_hand.see(waiting.front().guess, waiting.front().label, waiting.front().weight);
      waiting.pop_front();
    }
    EXPECT_TRUE(differed);
    EXPECT_FALSE(alone.shares().has_value());
  }
}

TEST(Blend, OfASavedModelKnowsNoLastLabel) {
  Fit fit(fit_options(FitTask::numbers));
  Rng rng(5);
  double label = 0;
  for (int t = 0; t < 500; ++t) {
    label = 0.95 * label + 0.3 * rng.normal();
    fit.learn(data_row(std::to_string(label), {{0, 0, static_cast<float>(rng.normal())}}));
  }
  fit.finish();
  ASSERT_GT(fit.shares()->last_label, 0.5);
  Fit model(fit.options());
  Archive a(test::saved_model(fit));
  model.model_fields(a);
  EXPECT_EQ(model.shares()->last_label, 0);
  EXPECT_NEAR(model.shares()->model + model.shares()->mean_label, 1, 1e-12);
  EXPECT_NEAR(model.shares()->mean_label, fit.shares()->mean_label / (1 - fit.shares()->last_label), 1e-12);
}

}  // namespace
}  // namespace obolus
