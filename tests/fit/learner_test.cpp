#include "fit/learner/learner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "obolus/core/error.hpp"
#include "tests/fit/learner_cases.hpp"

namespace obolus {
namespace {

using test::LearnerCase;
using test::LearnerRows;

void add(fit::Learner<float>& learner, fit::LearnerRow row) { learner.add(std::move(row)); }

void train(fit::Learner<float>& learner, LearnerRows& rows, int count) {
  for (int r = 0; r < count; ++r) add(learner, rows.next());
  learner.train();
}

bool all_finite(const fit::Learner<float>& learner) {
  const auto finite = [](double n) { return std::isfinite(n); };
  return finite(learner.outer_loss()) && finite(learner.curvature()) &&
         std::ranges::all_of(learner.hypergradient(), finite) &&
         std::ranges::all_of(learner.weights().constant(), [](float n) { return std::isfinite(n); });
}

// exp(−K rate l2) is then far below what a float can hold; residuals of classes are at most 1, so that nothing else
// grows either.
TEST(Learner, StaysFiniteWithAThousandStepsARoundAtALargeRate) {
  for (const LearnerCase& c : test::learner_cases()) {
    if (c.classes == 0) continue;
    fit::LearnerOptions o = options_of(c);
    o.steps = 1000;
    fit::Hyperparameters h = hyperparameters_of(c, 0.05);
    h.list[0].place = h.list[0].high = 3;
    auto learner = test::learner_of<float>(c, o, h);
    LearnerRows rows(c, 3);
    for (int t = 0; t < 30; ++t) {
      train(learner, rows, 7);
      ASSERT_TRUE(all_finite(learner)) << c << ", round " << t + 1;
    }
  }
}

TEST(Learner, ForgetsDerivativesThatOverflowed) {
  const LearnerCase c = test::learner_cases().front();
  auto learner = test::learner_of<float>(c, options_of(c), hyperparameters_of(c, 0.05));
  LearnerRows rows(c, 3);
  train(learner, rows, 7);
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    learner.weights().constant()[1] = bad;  // that by the rate
    train(learner, rows, 7);
    EXPECT_FALSE(std::isfinite(learner.hypergradient()[0]));
    for (int t = 0; t < 3; ++t) {
      train(learner, rows, 7);
      EXPECT_TRUE(all_finite(learner));
      EXPECT_NE(learner.hypergradient()[0], 0.0);
    }
  }
}

// The mean of the curvature begins with the first row that is learnt.
TEST(Learner, BeginsTheMeanOfTheCurvatureWithTheFirstRowLearnt) {
  LearnerCase c = test::learner_cases()[1];
  ASSERT_EQ(c.replay, 0);
  auto late = test::learner_of<float>(c, options_of(c), hyperparameters_of(c, 0)),
       once = test::learner_of<float>(c, options_of(c), hyperparameters_of(c, 0));
  LearnerRows rows(c, 3);
  for (int t = 0; t < 3; ++t) {
    fit::LearnerRow row;
    row.role = fit::Role::outer;
    once.see(row);
    late.add(std::move(row));
    late.train();
  }
  for (int r = 0; r < 7; ++r) {
    fit::LearnerRow row = rows.next();
    add(late, row);
    add(once, row);
  }
  late.train();
  once.train();
  EXPECT_EQ(late.curvature(), once.curvature());
}

TEST(Learner, DoesNothingForRowsThatWeighNothing) {
  const LearnerCase c = test::learner_cases().front();
  auto learner = test::learner_of<float>(c, options_of(c), hyperparameters_of(c, 0.05));
  LearnerRows rows(c, 3);
  for (int r = 0; r < 20; ++r) {
    fit::LearnerRow row = rows.next();
    row.weight = 0;
    learner.add(std::move(row));
    EXPECT_EQ(learner.waiting(), 0u);
    learner.train();
  }
  EXPECT_EQ(learner.rounds(), 0);
  EXPECT_EQ(learner.curvature(), 0.0);
}

// ---- Saved state

TEST(SavedLearner, GoesOnToTheSameBits) {
  for (const LearnerCase& c : test::learner_cases()) {
    auto learner = test::learner_of<float>(c, options_of(c), hyperparameters_of(c, 0.05));
    LearnerRows rows(c, 3);
    for (int t = 0; t < 12; ++t) train(learner, rows, 7);
    for (int r = 0; r < 3; ++r) add(learner, rows.next());  // these wait
    Archive to;
    learner.fields(to);
    fit::Learner<float> loaded(options_of(c), hyperparameters_of(c, 0.05), 5);
    Archive from(to.bytes());
    loaded.fields(from);
    from.finish();
    for (int t = 0; t < 5; ++t)
      for (int r = 0; r < 7; ++r) {
        const fit::LearnerRow row = rows.next();
        add(learner, row);
        add(loaded, row);
        if (r == 3) {
          learner.train();
          loaded.train();
        }
      }
    Archive one, other;
    learner.fields(one);
    loaded.fields(other);
    EXPECT_TRUE(one.bytes() == other.bytes()) << c;
  }
}

// What a learner cannot go on with, though each part of it is sound.
TEST(SavedLearner, IsRefusedByALearnerThatTunesSomethingElse) {
  const LearnerCase c = test::learner_cases()[8];
  ASSERT_TRUE(c.class_tuning && c.classes == 5);
  const auto loading = [&](const fit::Hyperparameters& h, int classes) {
    fit::Learner<float> one(options_of(c), h, 5);
    one.grow_features(3);
    one.grow_classes(classes);
    Archive to;
    one.fields(to);
    fit::Learner<float> other(options_of(c), hyperparameters_of(c, 0), 5);
    Archive from(to.bytes());
    try {
      other.fields(from);
    } catch (const DataError&) {
      return "refused";
    }
    return "accepted";
  };
  using fit::Tunable;
  const fit::Hyperparameters sound = hyperparameters_of(c, 0);
  EXPECT_STREQ(loading(sound, 5), "accepted");
  EXPECT_STREQ(loading(sound, 4), "refused");  // five shifts for four classes
  EXPECT_STREQ(loading(sound, 6), "refused");
  const auto damaged = [&](auto&& damage) {
    fit::Hyperparameters h = sound;
    damage(h.list);
    return loading(h, 5);
  };
  const auto with_group = [&](int index) {
    fit::Hyperparameters h = sound;
    fit::Hyperparameter more = h.list[1];
    more.index = index;
    h.put(more);
    return loading(h, 5);
  };
  using List = std::vector<fit::Hyperparameter>;
  EXPECT_STREQ(damaged([](List& l) { l[0].kind = Tunable::replay; }), "refused");
  EXPECT_STREQ(damaged([](List& l) { l[0].kind = static_cast<Tunable>(77); }), "refused");
  EXPECT_STREQ(damaged([](List& l) { l[6].index = 1000; }), "refused");
  EXPECT_STREQ(damaged([](List& l) { l[6].index = -1; }), "refused");
  EXPECT_STREQ(damaged([](List& l) { l[0].tuned = false; }), "refused");
  EXPECT_STREQ(damaged([](List& l) { l.pop_back(); }), "refused");
  EXPECT_STREQ(damaged([](List& l) { l.push_back(l.back()); }), "refused");
  EXPECT_STREQ(damaged([](List& l) { std::swap(l[1].low, l[1].high); }), "refused");
  EXPECT_STREQ(damaged([](List& l) { l[1].place = std::nan(""); }), "refused");
  EXPECT_STREQ(damaged([](List& l) { l[1].prior = 0; }), "refused");
  EXPECT_STREQ(damaged([](List& l) { l[1].drift = -1; }), "refused");
  EXPECT_STREQ(with_group(3), "accepted");  // a fourth group
  EXPECT_STREQ(with_group(4), "refused");
}

TEST(SavedLearner, IsRefusedWithRowsThatLeadOutsideOfItsWeights) {
  const LearnerCase c = test::learner_cases()[2];
  auto learner = test::learner_of<float>(c, options_of(c), hyperparameters_of(c, 0));
  const auto sound = [&](const fit::LearnerRow& row) {
    try {
      learner.require_sound({row}, learner.classes());
    } catch (const DataError&) {
      return false;
    }
    return true;
  };
  const auto row = [](std::vector<fit::Entry> entries, std::vector<std::int32_t> ends, std::int32_t label) {
    return fit::LearnerRow{std::move(entries), std::move(ends), label};
  };
  EXPECT_TRUE(sound(row({{0, 1}, {12, 1}}, {1, 1, 2}, 1)));
  EXPECT_FALSE(sound(row({{-1, 1}}, {}, 0)));
  EXPECT_FALSE(sound(row({{13, 1}}, {}, 0)));
  EXPECT_FALSE(sound(row({{0, 1}}, {2}, 0)));
  EXPECT_FALSE(sound(row({{0, 1}}, {-1, 1}, 0)));
  EXPECT_FALSE(sound(row({{0, 1}, {1, 1}}, {2, 1}, 0)));
  EXPECT_FALSE(sound(row({}, {}, 2)));
  EXPECT_FALSE(sound(row({}, {}, -1)));
}

}  // namespace
}  // namespace obolus
