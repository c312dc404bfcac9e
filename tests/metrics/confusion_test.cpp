#include "obolus/metrics/confusion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "obolus/core/rng.hpp"

namespace {

using namespace obolus;

// Low numbers are frequent. Weights are 0, 1 and 2, so that sums are exact.
std::vector<JudgedClass> random_rows(std::uint64_t count, std::uint64_t classes) {
  const Rng seed(11);
  std::vector<JudgedClass> rows;
  for (std::uint64_t i = 0; i < count; ++i) {
    Rng rng = seed.child("row", i);
    const auto draw = [&] {
      const double u = rng.uniform();
      return static_cast<std::int32_t>(u * u * static_cast<double>(classes));
    };
    const std::int32_t truth = draw(), best = rng.below(10) == 0 ? JudgedClass::no_class : draw();
    rows.push_back(JudgedClass::of(truth, best, 0.5, static_cast<double>(rng.below(3))));
  }
  return rows;
}

TEST(Confusion, IsThatOfTheLastRowsCountedOneByOne) {
  const auto rows = random_rows(500, 6);
  WindowedClassMetrics window(120);
  for (const JudgedClass& row : rows) window.add(row);
  const auto confusion = Confusion::of(window);
  EXPECT_EQ(confusion.classes, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(confusion.folded, 0);
  for (std::int32_t truth = 0; truth < 6; ++truth) {
    std::vector<double> expected(6);
    double none = 0;
    for (std::size_t i = rows.size() - 120; i < rows.size(); ++i)
      if (rows[i].truth == truth)
        (rows[i].predicted < 0 ? none : expected[to_size(rows[i].predicted)]) += rows[i].weight;
    EXPECT_EQ(confusion.weights[to_size(truth)], expected) << truth;
    EXPECT_EQ(confusion.unpredicted[to_size(truth)], none) << truth;
  }
}

TEST(Confusion, OfManyClassesKeepsTheMostFrequentAndAllOfTheWeight) {
  const auto rows = random_rows(2000, 40);
  WindowedClassMetrics window(1500);
  std::vector<double> as_truth(40);
  double total = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    window.add(rows[i]);
    if (i < 500) continue;
    as_truth[to_size(rows[i].truth)] += rows[i].weight;
    total += rows[i].weight;
  }
  const auto confusion = Confusion::of(window, 8);
  ASSERT_EQ(confusion.classes.size(), 7u);
  EXPECT_EQ(confusion.folded, 33);
  double rarest = total, others = 0, sum = 0;
  for (std::size_t c = 0; c < 40; ++c) {
    const bool kept = std::ranges::binary_search(confusion.classes, static_cast<std::int32_t>(c));
    if (kept) rarest = std::min(rarest, as_truth[c]);
    else others = std::max(others, as_truth[c]);
  }
  EXPECT_GE(rarest, others);
  ASSERT_EQ(confusion.weights.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    ASSERT_EQ(confusion.weights[i].size(), 8u);
    sum += confusion.unpredicted[i];
    for (const double weight : confusion.weights[i]) sum += weight;
  }
  EXPECT_EQ(sum, total);
}

TEST(Confusion, OfNoRowsIsEmptyAndAClassThatWasOnlyPredictedHasAPlace) {
  WindowedClassMetrics window(10);
  EXPECT_TRUE(Confusion::of(window).weights.empty());
  window.add(JudgedClass::of(4, 1, 0.1));
  const auto confusion = Confusion::of(window);
  EXPECT_EQ(confusion.classes, (std::vector<std::int32_t>{1, 4}));
  EXPECT_EQ(confusion.weights, (std::vector<std::vector<double>>{{0, 0}, {1, 0}}));
}

}  // namespace
