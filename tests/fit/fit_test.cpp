#include "obolus/fit/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "tests/data/rows_text.hpp"
#include "tests/fit/fit_stream.hpp"

namespace obolus {
namespace {

using test::data_row;
using test::fit_options;
using test::FitStream;
using test::saved;

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

// ---- Classes

TEST(FitClasses, AreNoneAtFirst) {
  Fit fit(fit_options());
  const Prediction& p = fit.learn(data_row("a", {{0, 5, 1.0F}}));
  EXPECT_EQ(p.best, -1);
  EXPECT_TRUE(p.probabilities.empty());
  EXPECT_EQ(p.truth, 0);
  EXPECT_EQ(p.truth_probability, 0.5);  // one row in the two that there would have been
}

TEST(FitClasses, AppearAsTheyCome) {
  Fit fit(fit_options());
  fit.learn(data_row("a", {{0, 5, 1.0F}}));
  EXPECT_EQ(fit.predict(data_row("", {{0, 5, 1.0F}})).probabilities, std::vector<double>{1.0});
  const Prediction& second = fit.learn(data_row("b", {{0, 6, 1.0F}}));
  EXPECT_EQ(second.probabilities, std::vector<double>{1.0});
  EXPECT_EQ(second.truth, 1);
  EXPECT_DOUBLE_EQ(second.truth_probability, 1.0 / 3);
  EXPECT_GT(fit.predict(data_row("", {{0, 5, 1.0F}})).probabilities[0], 0.5);  // both rows are learnt already
  EXPECT_GT(fit.predict(data_row("", {{0, 6, 1.0F}})).probabilities[1], 0.5);
  for (int i = 0; i < 30; ++i) fit.learn(data_row(i % 2 == 0 ? "a" : "b", {{0, i % 2 == 0 ? 5u : 6u, 1.0F}}));
  fit.learn(data_row("c", {{0, 7, 1.0F}}));
  EXPECT_EQ(fit.classes(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(fit.predict(data_row("", {})).probabilities.size(), 3u);
}

// What the label says counts for the judgement only; the model knows the class once the row is learnt.
TEST(FitClasses, AreNotKnownBeforeADelayedLabelComes) {
  FitOptions o = fit_options();
  o.delay = 3;
  Fit fit(o);
  for (int i = 0; i < 20; ++i) fit.learn(data_row(i % 2 == 0 ? "a" : "b", {{0, 5, 1.0F}}));
  EXPECT_EQ(fit.learn(data_row("c", {{0, 5, 1.0F}})).truth, 2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(fit.learn(data_row("a", {{0, 5, 1.0F}})).probabilities.size(), 2u);
  EXPECT_EQ(fit.learn(data_row("a", {{0, 5, 1.0F}})).probabilities.size(), 3u);
}

// Two classes have one logit l between them, three have one each: −l/2, l/2 and 0, so that the first two keep their
// odds e^l, and the third stands between them.
TEST(FitClasses, KeepTheirOddsWhenTwoBecomeThree) {
  FitOptions o = fit_options();
  o.tune = "none";
  Fit fit(o);
  for (int i = 0; i < 40; ++i) fit.learn(data_row(i % 2 == 0 ? "a" : "b", {{0, i % 2 == 0 ? 5u : 6u, 1.0F}}));
  const DataRow asked = data_row("", {{0, 5, 1.0F}});
  const std::vector<double> two = fit.predict(asked).probabilities;
  EXPECT_GT(two[0], 0.6);
  DataRow third = data_row("c", {{0, 7, 1.0F}});
  third.weight = 0;  // it makes its class known
  fit.learn(third);
  const std::vector<double> three = fit.predict(asked).probabilities;
  EXPECT_NEAR(std::log(three[0] / three[1]), std::log(two[0] / two[1]), 1e-6);  // logits are floats of about 1
  EXPECT_NEAR(std::log(three[0] / three[2]), std::log(two[0] / two[1]) / 2, 1e-6);
  for (int i = 0; i < 90; ++i)
    fit.learn(data_row(i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c", {{0, i % 3 == 0 ? 5u : i % 3 == 1 ? 6u : 7u, 1.0F}}));
  EXPECT_EQ(fit.predict(data_row("", {{0, 7, 1.0F}})).best, 2);
  EXPECT_EQ(fit.predict(asked).best, 0);
}

TEST(FitClasses, ThatAreFixedRefuseOthers) {
  FitOptions o = fit_options();
  o.classes = "ham,spam";
  Fit fit(o);
  EXPECT_EQ(fit.predict(data_row("", {})).probabilities, (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(refusal([&] { fit.learn(data_row("Spam", {})); }),
            "label: got 'Spam', expected one of the classes ham, spam (did you mean 'spam'?)");
  fit.learn(data_row("spam", {}));
  EXPECT_EQ(fit.classes(), (std::vector<std::string>{"ham", "spam"}));
}

TEST(FitClasses, AreTheSameWhereTheyAreTheSameNumber) {
  Fit fit(fit_options());
  for (const char* label : {"1", "+1", "1.0", "1e0", "-1", "-1.0", "one"}) fit.learn(data_row(label, {}));
  EXPECT_EQ(fit.classes(), (std::vector<std::string>{"1", "-1", "one"}));
}

TEST(FitTaskOfLabels, IsNumbersWhereAllAreAndSomeAreNotWhole) {
  const auto task = [](std::vector<std::string> labels) { return fit_task(labels); };
  EXPECT_EQ(task({"1", "2", "+1"}), FitTask::classes);
  EXPECT_EQ(task({"1.5", "2", "+1"}), FitTask::numbers);
  EXPECT_EQ(task({"1.5", "2", "two"}), FitTask::classes);
  EXPECT_EQ(task({"1.5", "inf"}), FitTask::classes);
  std::vector<std::string> many;
  for (int i = 0; i < 100; ++i) {
    many.push_back(std::to_string(i));
    many.push_back("+" + std::to_string(i));
  }
  EXPECT_EQ(fit_task(many), FitTask::classes);
  many.emplace_back("100");
  EXPECT_EQ(fit_task(many), FitTask::numbers);
}

// ---- Numbers

TEST(FitNumbers, ComeNearToALinearFunction) {
  Fit fit(fit_options(FitTask::numbers));
  fit.set_groups(FitStream::groups(), true);
  FitStream stream(3, FitTask::numbers);
  double squares = 0, mean_squares = 0;
  for (int t = 0; t < 1500; ++t) {
    const Prediction& p = fit.learn(stream.next());
    EXPECT_EQ(p.truth, 0);
    if (t < 500) continue;
    squares += (p.number - p.truth_number) * (p.number - p.truth_number);
    mean_squares += p.truth_number * p.truth_number;
  }
  // The labels' noise has variance 0.09; what else there is has 2.5. A model that learnt nothing is at 1.
  EXPECT_LT(squares / mean_squares, 0.15);
}

TEST(FitNumbers, RefuseWhatIsNoFiniteNumber) {
  Fit fit(fit_options(FitTask::numbers));
  for (const char* label : {"one", "1x", "inf", "nan", "1e39", "+", "1 "})
    EXPECT_EQ(refusal([&] { fit.learn(data_row(label, {{0, 1, 1.0F}})); }),
              "label: got '" + std::string(label) + "', expected a finite number");
  EXPECT_EQ(refusal([&] { fit.learn(data_row("+2.5", {{0, 1, 1.0F}})); }), "accepted");
}

// ---- Rows

TEST(FitRows, WithoutALabelArePredictedOnly) {
  Fit fit(fit_options());
  fit.set_groups(FitStream::groups(), true);
  FitStream stream(1);
  for (int t = 0; t < 21; ++t) fit.learn(stream.next());
  const auto before = saved(fit);
  DataRow row = stream.next();
  row.label.clear();
  row.features.push_back({1, row_key("word", "unheard of"), 1.0F});
  const Prediction p = fit.learn(row);
  EXPECT_EQ(p.truth, -1);
  EXPECT_NEAR(std::accumulate(p.probabilities.begin(), p.probabilities.end(), 0.0), 1.0, 1e-15);
  EXPECT_EQ(p.probabilities, fit.predict(row).probabilities);
  EXPECT_TRUE(saved(fit) == before);
  EXPECT_EQ(fit.rows(), 21);
}

TEST(FitRows, ThatAreRefusedLeaveNothingBehind) {
  for (const FitTask task : {FitTask::classes, FitTask::numbers}) {
    FitOptions o = fit_options(task);
    o.classes = task == FitTask::classes ? "a,b,c" : "";
    Fit fit(o);
    fit.set_groups(FitStream::groups(), true);
    FitStream stream(1, task);
    for (int t = 0; t < 21; ++t) fit.learn(stream.next());
    const auto before = saved(fit);
    constexpr float infinite = std::numeric_limits<float>::infinity();
    const RowFeature unheard{1, row_key("word", "unheard of"), 1.0F};
    EXPECT_THROW(fit.learn(data_row("neither", {unheard, {0, 0, 1.0F}})), DataError);
    EXPECT_THROW(fit.learn(data_row(task == FitTask::classes ? "a" : "1", {unheard, {0, 0, infinite}})), DataError);
    EXPECT_THROW(fit.predict(data_row("", {unheard, {0, 0, std::nanf("")}})), DataError);
    for (const double weight : {-1.0, 1e300, std::nan("")})
      EXPECT_THROW(fit.learn(data_row(task == FitTask::classes ? "a" : "1", {unheard}, weight)), DataError);
    fit.predict(data_row("", {unheard}));
    EXPECT_TRUE(saved(fit) == before);
  }
}

// Labels come `delay` rows late: a row is predicted by what a model without delay knows that many rows earlier.
// Nothing but labels is learnt here, features being taken as they are.
TEST(FitRows, WaitForTheirLabelsAsLongAsTheDelay) {
  FitOptions o = fit_options();
  o.classes = "a,b,c";
  o.scale = FitScale::none;
  Fit plain(o);
  o.delay = 7;
  Fit late(o);
  FitStream stream(1), again(1);
  std::vector<DataRow> rows;
  for (int t = 0; t < 60; ++t) {
    rows.push_back(stream.next());
    const Prediction p = late.learn(rows.back());
    if (t >= 7) {
      EXPECT_EQ(plain.predict(rows.back()).probabilities, p.probabilities) << t;
      plain.learn(rows[to_size(t - 7)]);
    }
    EXPECT_EQ(late.rounds(), plain.rounds());
    EXPECT_EQ(late.rows(), t + 1);
  }
  for (std::size_t t = 53; t < 60; ++t) plain.learn(rows[t]);
  plain.finish();
  late.finish();
  EXPECT_EQ(late.rounds(), 15);
  EXPECT_EQ(late.predict(rows[0]).probabilities, plain.predict(rows[0]).probabilities);
}

TEST(FitRows, ThatAreHeldOutTrainNothing) {
  FitOptions o = fit_options();
  o.hold_out = 3;
  o.classes = "a,b";
  Fit fit(o);
  for (std::uint64_t t = 0; t < 60; ++t) fit.learn(data_row(t % 2 == 0 ? "a" : "b", {{0, 100 + t, 1.0F}}));
  fit.finish();
  std::vector<bool> has_weight(60);
  for (const Fit::Weight& w : fit.top_weights(1000)) has_weight[w.key - 100] = true;
  for (std::size_t t = 0; t < 60; ++t) EXPECT_EQ(has_weight[t], (t + 1) % 3 != 0) << t;
}

TEST(FitRows, OfWeightZeroAreJudgedAndNotLearnt) {
  FitOptions o = fit_options();
  o.classes = "a,b";
  o.scale = FitScale::none;
  Fit with(o), without(o);
  FitStream stream(4);
  for (int t = 0; t < 100; ++t) {
    DataRow row = stream.next();
    if (row.label == "c") continue;
    DataRow nothing = row;
    nothing.weight = 0;
    nothing.label = row.label == "a" ? "b" : "a";
    nothing.features.push_back({1, row_key("word", "unheard of"), 1.0F});
    EXPECT_EQ(with.learn(nothing).truth, nothing.label == "a" ? 0 : 1);
    EXPECT_EQ(with.learn(row).probabilities, without.learn(row).probabilities) << t;
  }
  EXPECT_EQ(with.rounds(), without.rounds());
  EXPECT_EQ(with.rows(), 2 * without.rows());
}

TEST(FitRows, ThatAreAllTheSameLeadToTheirLabel) {
  Fit fit(fit_options());
  fit.set_groups(FitStream::groups(), true);
  fit.learn(data_row("b", {}));
  for (int t = 0; t < 400; ++t)
    fit.learn(data_row("a", {{0, 0, 2.0F}, {1, row_key("word", "1"), 1.0F}, {2, 2, -1.0F}}));
  const Prediction& p = fit.predict(data_row("", {{0, 0, 2.0F}, {1, row_key("word", "1"), 1.0F}, {2, 2, -1.0F}}));
  EXPECT_EQ(p.best, 1);
  EXPECT_GT(p.probabilities[1], 0.99);
  EXPECT_TRUE(std::isfinite(fit.outer_loss()));
}

TEST(FitRows, MayBeEmptyOrZero) {
  for (const FitTask task : {FitTask::classes, FitTask::numbers}) {
    Fit fit(fit_options(task));
    for (int t = 0; t < 50; ++t)
      fit.learn(data_row(t % 4 == 0 ? "1" : "2",
                         t % 3 == 0 ? std::vector<RowFeature>{{0, 4, 0.0F}} : std::vector<RowFeature>{}));
    const Prediction& p = fit.predict(data_row("", {}));
    EXPECT_TRUE(std::isfinite(fit.outer_loss()));
    EXPECT_EQ(fit.features(), 0);
    if (task == FitTask::numbers) {
      EXPECT_NEAR(p.number, 1.75, 0.3);
    } else {
      EXPECT_EQ(p.best, 1);
      EXPECT_NEAR(p.probabilities[1], 0.75, 0.15);
    }
  }
}

// Values that square to infinity in float, among ordinary ones; raw, scaled and as columns.
TEST(FitRows, MayHaveHugeAndTinyValues) {
  for (const FitScale scale : {FitScale::automatic, FitScale::none})
    for (const bool columns : {false, true})
      for (const float size : {1e30F, 1e37F, 1e-30F, 1e-44F}) {
        const bool diverges = scale == FitScale::none && size > 1;  // as it was asked to
        FitOptions o = fit_options();
        o.scale = scale;
        Fit fit(o);
        fit.set_groups(FitStream::groups(), columns);
        FitStream stream(8);
        for (int t = 0; t < 200; ++t) {
          DataRow row = stream.next();
          if (t % 10 == 3) row.features[0].value *= size;
          const Prediction& p = fit.learn(row);
          if (diverges) continue;
          for (const double q : p.probabilities)
            ASSERT_TRUE(q >= 0 && q <= 1) << size << ' ' << columns << " row " << t;
          ASSERT_TRUE(std::isfinite(fit.outer_loss())) << size << ' ' << columns << " row " << t;
        }
      }
}

// ρ = exp(−K rate l2) is 0 in double for the largest l2 here, and 1/ρ infinite in float for the others: such weights
// are simply gone.
TEST(FitRows, MayBeForgottenAtOnce) {
  for (const double l2 : {1.0, 4.0, 8.0, 40.0}) {
    FitOptions o = fit_options();
    o.l2 = l2;
    o.learning_rate = 2;
    o.tune = "rate,replay";
    Fit fit(o);
    FitStream stream(8);
    for (int t = 0; t < 200; ++t) {
      const Prediction& p = fit.learn(stream.next());
      for (const double q : p.probabilities) ASSERT_TRUE(q >= 0 && q <= 1) << l2 << " row " << t;
      ASSERT_TRUE(std::isfinite(fit.outer_loss())) << l2 << " row " << t;
    }
  }
}

// ---- Features

const char* const table =
    "width,colour,height,kind\n1,red,5,a\n2,blue,4,b\n3,red,1,a\n0.5,green,2,b\n2.5,red,3,a\n1.5,blue,0,b\n2,red,4,"
    "a\n1,green,1,b\n";
const char* const permuted =
    "kind,extra,height,width,colour\na,1,5,1,red\nb,1,4,2,blue\na,1,1,3,red\nb,2,2,0.5,green\na,2,3,2.5,red\nb,2,0,1.5,"
    "blue\na,3,4,2,red\nb,3,1,1,green\n";

RowOptions kinds() {
  RowOptions o;
  o.format = "csv";
  o.label = "kind";
  return o;
}

TEST(FitFeatures, AreFoundByNameWhereColumnsStandInAnotherOrder) {
  auto reader = test::reader_of(table, kinds());
  const std::vector<DataRow> rows = test::all_rows(*reader);
  Fit fit(fit_options());
  fit.set_groups(reader->groups(), true);
  for (int epoch = 0; epoch < 5; ++epoch)
    for (const DataRow& row : rows) fit.learn(row);
  fit.finish();
  std::vector<double> expected;
  for (const DataRow& row : rows) expected.push_back(fit.predict(row).probabilities[0]);
  // Three floats of about 1 are added up in another order; a probability moves by a quarter of that at most.
  const auto expect_same = [&](Fit& by, const std::vector<DataRow>& all) {
    ASSERT_EQ(all.size(), expected.size());
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(by.predict(all[i]).probabilities[0], expected[i], 1e-6);
  };

  RowOptions other = kinds();
  other.ignore = {"extra"};
  for (const RowOptions& options : {other, kinds()}) {  // a column that nobody knows says nothing
    auto second = test::reader_of(permuted, options);
    const std::vector<DataRow> moved = test::all_rows(*second);
    Fit loaded(fit_options());
    Archive a(test::saved_model(fit));
    loaded.model_fields(a);
    a.finish();
    loaded.set_groups(second->groups(), true);
    expect_same(loaded, moved);
    // The same model goes on with another reader, and back.
    fit.set_groups(second->groups(), true);
    expect_same(fit, moved);
    fit.set_groups(reader->groups(), true);
    expect_same(fit, rows);
  }
}

TEST(FitFeatures, OfNobodysGroupAreJustFeatures) {
  Fit fit(fit_options());
  fit.set_groups({}, true);
  for (int t = 0; t < 20; ++t)
    fit.learn(data_row(t % 2 == 0 ? "a" : "b", {{0, 0, t % 2 == 0 ? 1.0F : -1.0F}, {7, 7, 1.0F}}));
  EXPECT_EQ(fit.predict(data_row("", {{0, 0, 1.0F}})).best, 0);
}

TEST(FitFeatures, ShareRowsOfWeightsWhenTheyAreHashed) {
  FitOptions o = fit_options();
  o.hash_bits = 4;
  Fit fit(o);
  Rng rng(3);
  for (int t = 0; t < 200; ++t)
    fit.learn(data_row(t % 2 == 0 ? "a" : "b", {{0, t % 2 == 0 ? 1u : 2u, 1.0F}, {0, 1000 + rng.below(100), 1.0F}}));
  EXPECT_EQ(fit.features(), 16);
  EXPECT_EQ(fit.predict(data_row("", {{0, 1, 1.0F}})).best, 0);
  EXPECT_EQ(fit.predict(data_row("", {{0, 2, 1.0F}})).best, 1);
  const std::vector<Fit::Weight> max = fit.top_weights(5);
  ASSERT_EQ(max.size(), 5u);
  for (const Fit::Weight& w : max) EXPECT_LT(w.key, 16u);  // by slot: whose they are is not known
}

// Groups decay at rates of their own: a slot that was in one for its weights and in another for its decay would grow
// by the difference.
TEST(FitFeatures, ThatShareARowOfWeightsShareItsGroup) {
  FitOptions o = fit_options();
  o.hash_bits = 1;
  o.tune = "rate,l2-per-group";
  Fit fit(o);
  fit.set_groups(std::vector<std::string>{"one", "other"}, false);
  for (int t = 0; t < 40; ++t) fit.learn(data_row(t % 2 == 0 ? "a" : "b", {{0, 1, t % 2 == 0 ? 1.0F : -1.0F}}));
  const auto before = saved(fit);
  const double expected = fit.predict(data_row("", {{0, 1, 1.0F}})).probabilities[0];
  EXPECT_EQ(fit.predict(data_row("", {{1, 1, 1.0F}})).probabilities[0], expected);
  EXPECT_TRUE(saved(fit) == before);
  Rng rng(2);
  for (int t = 0; t < 2000; ++t) {
    const bool is_a = rng.below(2) == 0;
    fit.learn(data_row(is_a ? "a" : "b", {{rng.below(2) == 0 ? 1u : 0u, rng.below(6), is_a ? 1.0F : -1.0F}}));
    ASSERT_TRUE(std::isfinite(fit.outer_loss()) && fit.outer_loss() < 5) << t;
  }
}

// 60 rows in 15 rounds of 8 steps, each of some thirty roundings of 6e-8 a number: 2e-4 of logits of about 1, and a
// quarter of that.
TEST(FitFeatures, ThatRepeatInARowAddUp) {
  FitOptions o = fit_options();
  o.scale = FitScale::none;
  o.classes = "a,b";
  // so that no step is longer than 2/L, and nothing grows
  o.tune = "none";
  o.learning_rate = 1;
  Fit once(o), twice(o);
  Rng rng(3);
  for (int t = 0; t < 60; ++t) {
    const auto value = static_cast<float>(rng.normal());
    const char* label = value + 0.5 * rng.normal() > 0 ? "a" : "b";
    const double p = once.learn(data_row(label, {{0, 1, value}, {0, 2, 1.0F}})).probabilities[0];
    EXPECT_NEAR(twice.learn(data_row(label, {{0, 1, value / 2}, {0, 2, 1.0F}, {0, 1, value / 2}})).probabilities[0], p,
                1e-4);
  }
}

TEST(FitFeatures, HaveAnL2ForEachGroupOrShareTheLast) {
  FitOptions o = fit_options();
  o.tune = "rate,l2-per-group";
  Fit fit(o);
  std::vector<std::string> names;
  for (int g = 0; g < 20; ++g) {
    names.push_back("g" + std::to_string(g));
    fit.set_groups(names, false);
    for (int t = 0; t < 8; ++t)
      fit.learn(
          data_row(t % 2 == 0 ? "a" : "b",
                   {{static_cast<std::uint32_t>(g), static_cast<std::uint64_t>(10 * g + t % 2), 1.0F}, {0, 5, 1.0F}}));
  }
  const auto is_l2 = [](const FitHyperparameter& h) { return h.name.starts_with("l2 of "); };
  EXPECT_EQ(std::ranges::count_if(fit.hyperparameters(), is_l2), 16);
  EXPECT_EQ(fit.predict(data_row("", {{19, 190, 1.0F}})).best, 0);
  EXPECT_EQ(fit.predict(data_row("", {{3, 31, 1.0F}})).best, 1);
}

TEST(FitOptionsTuned, AreRefusedWhereTheyDoNotGoTogether) {
  const auto made = [](auto&& change) {
    FitOptions o = fit_options();
    change(o);
    return refusal([&] { Fit fit(o); });
  };
  EXPECT_EQ(made([](FitOptions&) {}), "accepted");
  EXPECT_EQ(made([](FitOptions& o) { o.task = FitTask::automatic; }),
            "fit.task: got auto, expected classes or numbers here");
  EXPECT_EQ(made([](FitOptions& o) { o.tune = "rate,none"; }),
            "tune: got none beside other words, expected one or the other");
  EXPECT_EQ(made([](FitOptions& o) { o.tune = "l2,l2-per-group"; }),
            "tune: got l2-per-group beside another l2, expected one of the two");
  EXPECT_TRUE(made([](FitOptions& o) { o.tune = "rat"; }).starts_with("tune: got 'rat', expected words of rate, l2"));
  EXPECT_EQ(made([](FitOptions& o) { o.l2 = 0; }), "l2: got 0, expected a number > 0 to start from, since it is tuned");
  EXPECT_EQ(made([](FitOptions& o) {
              o.l2 = 0;
              o.tune = "rate";
            }),
            "accepted");
  EXPECT_TRUE(made([](FitOptions& o) {
                o.tune = "class-shift";
              }).starts_with("tune: class-shift and class-scale need to know the classes"));
  EXPECT_EQ(made([](FitOptions& o) {
              o.tune = "class-shift";
              o.classes = "a,b";
            }),
            "accepted");
  EXPECT_TRUE(made([](FitOptions& o) { o.classes = "a,,b"; }).starts_with("classes: got an empty name"));
  EXPECT_TRUE(made([](FitOptions& o) { o.classes = "1,b,1.0"; }).starts_with("classes: got '1' twice"));
}

// Every word of `tune` can be used with every other, and leads to finite numbers.
TEST(FitOptionsTuned, WorkTogether) {
  FitStream stream(9);
  std::vector<DataRow> rows;
  for (int t = 0; t < 120; ++t) rows.push_back(stream.next());
  for (int set = 0; set < 64; ++set) {
    FitOptions o = fit_options();
    o.classes = "a,b,c";
    o.tune.clear();
    const char* const words[] = {
        "rate", set % 3 == 0 ? "l2" : "l2-per-group", "replay", "temperature", "class-shift", "class-scale"};
    for (int i = 0; i < 6; ++i)
      if ((set >> i & 1) == 1) o.tune += (o.tune.empty() ? "" : ",") + std::string(words[i]);
    if (o.tune.empty()) o.tune = "none";
    Fit fit(o);
    fit.set_groups(FitStream::groups(), true);
    for (const DataRow& row : rows) fit.learn(row);
    EXPECT_TRUE(std::isfinite(fit.outer_loss())) << o.tune;
    for (const FitHyperparameter& h : fit.hyperparameters())
      EXPECT_TRUE(std::isfinite(h.value)) << o.tune << ": " << h.name;
  }
}

}  // namespace
}  // namespace obolus
