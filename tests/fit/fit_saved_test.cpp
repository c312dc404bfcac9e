// What Fit saves: it goes on to the same bits, and no damage to it does worse than a DataError.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "obolus/core/error.hpp"
#include "obolus/fit/fit.hpp"
#include "tests/fit/fit_stream.hpp"

namespace obolus {
namespace {

using test::fit_options;
using test::FitStream;
using test::saved;
using test::saved_model;

struct Case {
  const char* name;
  FitOptions options;
  bool columns = true;
};

std::vector<Case> cases() {
  std::vector<Case> all(8);
  for (Case& c : all) c.options = fit_options();
  all[0].name = "classes that appear";
  all[1].name = "delay, an L2 a group, replay";
  all[1].options.delay = 5;
  all[1].options.tune = "rate,l2-per-group,replay,temperature";
  all[2].name = "classes shifted and scaled, some rows held out";
  all[2].options.classes = "a,b,c";
  all[2].options.hold_out = 3;
  all[2].options.tune = "rate,l2-per-group,class-shift,class-scale";
  all[2].options.judge = FitJudge::balanced;
  all[3].name = "numbers";
  all[3].options.task = FitTask::numbers;
  all[3].options.decay = true;
  all[4].name = "hashed";
  all[4].options.hash_bits = 3;
  all[4].columns = false;
  all[5].name = "an L2 a feature by an optimiser";
  all[5].options.optimiser = "f2obo";
  all[5].options.hold_out = 3;
  all[6].name = "one L2 for all";
  all[6].options.tune = "rate,l2,replay,temperature";
  all[7].name = "numbers whose labels are delayed";
  all[7].options.task = FitTask::numbers;
  all[7].options.delay = 5;
  all[7].options.tune = "rate,replay,recent";
  return all;
}

Fit made(const Case& c) {
  Fit fit(c.options);
  fit.set_groups(FitStream::groups(), c.columns);
  return fit;
}

// As a program does that has not met the columns yet.
Fit loaded(const Case& c, const std::vector<std::byte>& bytes) {
  Fit fit(c.options);
  Archive a(bytes);
  fit.fields(a);
  a.finish();
  fit.set_groups(FitStream::groups(), c.columns);
  return fit;
}

// Iterates of an optimiser are saved with marks that no two of a process share; what they lead to is in the model.
bool same(const Case& c, Fit& first, Fit& second) {
  const bool marked = c.options.optimiser != "first-order";
  return marked ? saved_model(first) == saved_model(second) : saved(first) == saved(second);
}

void expect_same(const Prediction& got, const Prediction& expected) {
  EXPECT_EQ(got.best, expected.best);
  EXPECT_EQ(got.probabilities, expected.probabilities);
  EXPECT_EQ(got.number, expected.number);
  EXPECT_EQ(got.truth, expected.truth);
  EXPECT_EQ(got.truth_probability, expected.truth_probability);
}

TEST(SavedFit, GoesOnToTheSameBitsWhereverItStops) {
  for (const Case& c : cases())
    for (const int stop : {0, 1, 2, 3, 7, 30, 61}) {
      SCOPED_TRACE(std::string(c.name) + ", stopped after " + std::to_string(stop));
      Fit whole = made(c);
      FitStream stream(5, c.options.task);
      for (int t = 0; t < stop; ++t) whole.learn(stream.next());
      Fit resumed = loaded(c, saved(whole));
      for (int t = 0; t < 50; ++t) {
        const DataRow row = stream.next();
        const Prediction expected = whole.learn(row);
        expect_same(resumed.learn(row), expected);
      }
      EXPECT_TRUE(same(c, resumed, whole)) << c.name << ", stopped after " << stop;
      whole.finish();
      resumed.finish();
      EXPECT_TRUE(same(c, resumed, whole)) << c.name << ", stopped after " << stop;
    }
}

TEST(SavedFit, IsCopiedAndBothGoOnToTheSameBits) {
  for (const Case& c : cases())
    for (const int stop : {0, 1, 3, 7, 30}) {
      SCOPED_TRACE(std::string(c.name) + ", copied after " + std::to_string(stop));
      Fit fit = made(c);
      fit.set_label_name("kind");
      FitStream stream(5, c.options.task);
      for (int t = 0; t < stop; ++t) fit.learn(stream.next());
      Fit copy = copy_of(fit);
      EXPECT_EQ(copy.label_name(), "kind");
      for (int t = 0; t < 50; ++t) {
        const DataRow row = stream.next();
        const Prediction expected = fit.predict(row);
        expect_same(copy.predict(row), expected);
        const Prediction learnt = fit.learn(row);
        expect_same(copy.learn(row), learnt);
      }
      EXPECT_TRUE(same(c, copy, fit));
    }
}

TEST(SavedFit, IsCopiedWithItsRowsToJudgeByAndItsPath) {
  const Case c = cases()[6];
  FitStream stream(5);
  std::vector<DataRow> judges;
  for (int t = 0; t < 10; ++t) judges.push_back(stream.next());
  Fit fit = made(c);
  fit.set_validation(judges);
  fit.set_groups(FitStream::groups(), c.columns);
  fit.follow({{0, {0.5, 1e-4, 1, 1}}, {20, {0.1, 1e-3, 1, 1}}});
  for (int t = 0; t < 30; ++t) fit.learn(stream.next());
  Fit copy = copy_of(fit);
  for (int t = 0; t < 100; ++t) {
    const DataRow row = stream.next();
    const Prediction expected = fit.learn(row);
    expect_same(copy.learn(row), expected);
  }
  EXPECT_TRUE(saved(copy) == saved(fit));
}

TEST(SavedFit, PredictsTheSameFromTheModelAlone) {
  for (Case& c : cases()) {
    c.options.blend = FitBlend::none;  // a model file has no last label (blend_test.cpp)
    Fit fit = made(c);
    FitStream stream(5, c.options.task);
    for (int t = 0; t < 70; ++t) fit.learn(stream.next());
    fit.finish();
    Fit model(c.options);
    Archive a(saved_model(fit));
    model.model_fields(a);
    a.finish();
    model.set_groups(FitStream::groups(), c.columns);
    EXPECT_EQ(model.classes(), fit.classes());
    EXPECT_EQ(model.features(), fit.features());
    EXPECT_EQ(model.rows(), fit.rows());
    EXPECT_EQ(model.constants(), fit.constants());
    // A dozen floats are added up, at worst with every weight rounded once more on the way to the file: 12 · 6e-8 of
    // the largest term, a constant or a weight times a value of up to about 5. Whose hashed weights are is not known;
    // they are below 1 here.
    double size = 5;
    for (const double constant : fit.constants()) size = std::max(size, std::abs(constant));
    for (const Fit::Weight& w : fit.top_weights(1)) size = std::max(size, 5 * std::abs(w.value));
    const double rounding = 12 * 6e-8 * size;
    for (int t = 0; t < 20; ++t) {
      const DataRow row = stream.next();
      const Prediction got = model.predict(row), expected = fit.predict(row);
      ASSERT_EQ(got.probabilities.size(), expected.probabilities.size());
      for (std::size_t k = 0; k < got.probabilities.size(); ++k)
        EXPECT_NEAR(got.probabilities[k], expected.probabilities[k], rounding);
      EXPECT_NEAR(got.number, expected.number, rounding);
      EXPECT_EQ(got.truth, -1);
      EXPECT_EQ(got.truth_probability, 0.0);
    }
    EXPECT_LT(saved_model(fit).size(), saved(fit).size());
  }
}

TEST(SavedFit, IsRefusedByAFitOfOtherOptions) {
  const std::vector<Case> all = cases();
  for (const Case& from : all) {
    Fit fit = made(from);
    FitStream stream(5, from.options.task);
    for (int t = 0; t < 20; ++t) fit.learn(stream.next());
    const auto bytes = saved(fit);
    for (const Case& to : all) {
      // By how many bits features are hashed is saved with them, and one L2 for all may become one of many.
      const bool alike = to.options.hash_bits > 0 || from.options.hash_bits > 0 || (&from == &all[6] && &to == &all[1]);
      if (&from == &to || alike) continue;
      EXPECT_THROW((void)loaded(to, bytes), DataError) << from.name << " as " << to.name;
    }
  }
}

// Rows to judge by are not saved: whoever loads has them already, with the features and classes that they had then.
TEST(SavedFit, IsRefusedWhereItsRowsToJudgeByWereOthers) {
  const Case c = cases()[0];
  FitStream stream(5);
  std::vector<DataRow> judges, few{test::data_row("a", {{1, 77, 1.0F}})};
  for (int t = 0; t < 10; ++t) judges.push_back(stream.next());
  const auto judged_by = [&](const std::vector<DataRow>& rows) {
    Fit fit = made(c);
    fit.set_validation(rows);
    fit.set_groups(FitStream::groups(), c.columns);
    return fit;
  };
  const auto load = [](Fit& fit, const std::vector<std::byte>& bytes) {
    Archive a(bytes);
    fit.fields(a);
    a.finish();
    fit.set_groups(FitStream::groups(), true);
  };
  Fit whole = judged_by(judges), without = judged_by(few);
  for (int t = 0; t < 30; ++t) whole.learn(stream.next());
  without.learn(few[0]);
  Fit resumed = judged_by(judges), other = judged_by(judges);
  load(resumed, saved(whole));
  for (int t = 0; t < 20; ++t) {
    const DataRow row = stream.next();
    whole.learn(row);
    resumed.learn(row);
  }
  EXPECT_TRUE(saved(resumed) == saved(whole));
  EXPECT_THROW(load(other, saved(without)), DataError);
}

// ---- Damage

// Loads what may be damaged, and works with it if it was not refused. No exception but DataError comes out, and
// sanitizers have nothing to say: this test is for them above all.
class Damage {
 public:
  explicit Damage(const Case& c) : c_(c), stream_(6, c.options.task) {
    Fit fit = made(c);
    for (int t = 0; t < 23; ++t) fit.learn(stream_.next());
    bytes_ = saved(fit);
    model_ = saved_model(fit);
    for (int t = 0; t < 9; ++t) rows_.push_back(stream_.next());
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  [[nodiscard]] const std::vector<std::byte>& model() const { return model_; }

  // Whether it was accepted.
  bool survives(const std::vector<std::byte>& bytes) const {
    try {
      Fit fit = loaded(c_, bytes);
      for (const DataRow& row : rows_) fit.learn(row);
      fit.finish();
      (void)fit.hyperparameters();
      (void)fit.top_weights(3);
      (void)saved(fit);
    } catch (const DataError&) {
      return false;
    }
    return true;
  }
  bool model_survives(const std::vector<std::byte>& bytes) const {
    try {
      Fit fit(c_.options);
      Archive a(bytes);
      fit.model_fields(a);
      a.finish();
      fit.set_groups(FitStream::groups(), c_.columns);
      for (const DataRow& row : rows_) fit.predict(row);
    } catch (const DataError&) {
      return false;
    }
    return true;
  }

 private:
  Case c_;
  FitStream stream_;
  std::vector<std::byte> bytes_, model_;
  std::vector<DataRow> rows_;
};

TEST(DamagedFit, IsRefusedWhereverItEnds) {
  for (const Case& c : cases()) {
    const Damage d(c);
    ASSERT_TRUE(d.survives(d.bytes()) && d.model_survives(d.model())) << c.name;
    for (std::size_t size = 0; size < d.bytes().size(); size += 1 + size % 3)
      ASSERT_FALSE(d.survives({d.bytes().begin(), d.bytes().begin() + static_cast<std::ptrdiff_t>(size)}))
          << c.name << ' ' << size;
    for (std::size_t size = 0; size < d.model().size(); size += 1 + size % 3)
      ASSERT_FALSE(d.model_survives({d.model().begin(), d.model().begin() + static_cast<std::ptrdiff_t>(size)}))
          << c.name << ' ' << size;
    std::vector<std::byte> longer = d.bytes();
    longer.push_back({});
    EXPECT_FALSE(d.survives(longer));
  }
}

TEST(DamagedFit, DoesNoWorseThanBeingRefusedWhereBitsFlip) {
  int accepted = 0;
  for (const Case& c : cases()) {
    const Damage d(c);
    Rng rng(17);
    for (int i = 0; i < 800; ++i) {
      for (const bool model : {false, true}) {
        std::vector<std::byte> bytes = model ? d.model() : d.bytes();
        for (std::uint64_t flips = 1 + rng.below(2); flips > 0; --flips)
          bytes[rng.below(bytes.size())] ^= std::byte{1} << static_cast<int>(rng.below(8));
        accepted += model ? d.model_survives(bytes) : d.survives(bytes);
      }
    }
  }
  EXPECT_GT(accepted, 100);  // digits of weights, say
}

// As large as they get, below zero, and zero.
constexpr std::uint64_t extremes[] = {
    0,      ~std::uint64_t{0}, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0x7FFFFFFF, 0x80000000,
    0xFFFF, 1u << 24,          0x7FF0000000000000, 0x7F8000007F800000};

TEST(DamagedFit, DoesNoWorseThanBeingRefusedWhereNumbersAreExtreme) {
  for (const Case& c : cases()) {
    const Damage d(c);
    for (std::size_t at = 0; at + 8 <= d.bytes().size(); ++at) {
      if (at % 4 != 0 && at > d.bytes().size() / 4) continue;
      std::vector<std::byte> bytes = d.bytes();
      const std::size_t which = (at * 7 + at / 8) % std::size(extremes);
      std::memcpy(bytes.data() + at, &extremes[which], at % 3 == 0 ? 4 : 8);
      (void)d.survives(bytes);
    }
  }
}

// Every extreme at every place that may be a count of rounds, rows or features. (A round near 2^63 overflowed in the
// schedules of an optimiser.)
TEST(DamagedFit, DoesNoWorseThanBeingRefusedWhereCountsAreExtreme) {
  for (const Case& c : cases()) {
    const Damage d(c);
    int counts = 0;
    for (std::size_t at = 0; at + 8 <= d.bytes().size(); ++at) {
      std::uint64_t count = 0;
      std::memcpy(&count, d.bytes().data() + at, 8);
      if (count < 1 || count > 64) continue;
      ++counts;
      std::vector<std::byte> bytes = d.bytes();
      for (const std::uint64_t extreme : extremes) {
        std::memcpy(bytes.data() + at, &extreme, 8);
        (void)d.survives(bytes);
      }
    }
    EXPECT_GT(counts, 10) << c.name;
  }
}

}  // namespace
}  // namespace obolus
