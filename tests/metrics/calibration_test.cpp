#include "obolus/metrics/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "obolus/core/rng.hpp"

namespace {

using namespace obolus;

// Weights are 0, 1 and 2.
std::vector<JudgedClass> random_rows(std::uint64_t count, std::uint64_t classes) {
  const Rng seed(7);
  std::vector<JudgedClass> rows;
  for (std::uint64_t i = 0; i < count; ++i) {
    Rng rng = seed.child("row", i);
    const auto truth = static_cast<std::int32_t>(rng.below(classes));
    const auto best = static_cast<std::int32_t>(rng.below(classes));
    auto row = JudgedClass::of(truth, best, 0.5, static_cast<double>(rng.below(3)));
    row.confidence = 1 / static_cast<double>(classes) * (1 + static_cast<double>(classes - 1) * rng.uniform());
    rows.push_back(row);
  }
  return rows;
}

// The definition: the rows whose probability lies in the bin, one after the other.
Calibration::Bin count(const std::vector<JudgedClass>& rows, std::size_t bin, bool second_class) {
  Calibration::Bin result;
  double probabilities = 0, hits = 0;
  for (const JudgedClass& row : rows) {
    const bool other = second_class && row.predicted == 0;
    const double p = other ? 1 - row.confidence : row.confidence;
    const bool hit = second_class ? row.truth == 1 : row.truth == row.predicted;
    const double low = static_cast<double>(bin) / 10, high = static_cast<double>(bin + 1) / 10;
    if (row.weight == 0 || p < low || (p >= high && !(bin == 9 && p == 1))) continue;
    ++result.rows;
    result.weight += row.weight;
    probabilities += row.weight * p;
    hits += hit ? row.weight : 0;
  }
  if (result.weight > 0) {
    result.probability = probabilities / result.weight;
    result.frequency = hits / result.weight;
  }
  return result;
}

void expect_count(const Calibration& calibration, const std::vector<JudgedClass>& rows, bool second_class) {
  for (std::size_t b = 0; b < Calibration::size; ++b) {
    const Calibration::Bin &got = calibration.bins[b], expected = count(rows, b, second_class);
    EXPECT_EQ(got.rows, expected.rows) << b;
    EXPECT_EQ(got.weight, expected.weight) << b;                     // sums of small whole numbers
    EXPECT_NEAR(got.probability, expected.probability, 1e-13) << b;  // at most 200 roundings of numbers up to 1
    EXPECT_NEAR(got.frequency, expected.frequency, 1e-13) << b;
  }
}

TEST(Calibration, IsThatOfTheLastRowsCountedOneByOne) {
  for (const std::uint64_t classes : {2u, 5u}) {
    const auto rows = random_rows(700, classes);
    WindowedClassMetrics window(200);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      window.add(rows[i]);
      if (i % 137 != 0 && i + 1 < rows.size()) continue;
      const std::vector<JudgedClass> last(rows.begin() + static_cast<std::ptrdiff_t>(i < 200 ? 0 : i - 199),
                                          rows.begin() + static_cast<std::ptrdiff_t>(i + 1));
      ASSERT_EQ(window.filled(), static_cast<std::int64_t>(last.size()));
      expect_count(Calibration::of(window, CalibrationOf::predicted_class), last, false);
      if (classes == 2) expect_count(Calibration::of(window, CalibrationOf::second_class), last, true);
    }
  }
}

TEST(Calibration, HasRoomForCertaintyAndNoneForRowsWithoutAProbability) {
  WindowedClassMetrics window(10);
  window.add(JudgedClass::of(0, JudgedClass::no_class, 0.5));  // before the first class was known
  window.add(JudgedClass::of(0, 0, 0.5));                      // nobody said how probable
  const std::vector<double> certain{0.0, 1.0};
  window.add(JudgedClass::of(1, std::span<const double>(certain)));
  window.add(JudgedClass::of(0, std::span<const double>(certain)));
  const auto calibration = Calibration::of(window, CalibrationOf::second_class);
  for (std::size_t b = 0; b < 9; ++b) EXPECT_EQ(calibration.bins[b].rows, 0);
  EXPECT_EQ(calibration.bins[9].rows, 2);
  EXPECT_EQ(calibration.bins[9].probability, 1.0);
  EXPECT_EQ(calibration.bins[9].frequency, 0.5);
}

TEST(Calibration, OfAWindowThatWasSavedAndLoadedHasTheSameBits) {
  const auto rows = random_rows(90, 3);
  WindowedClassMetrics straight(37), resumed(37);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    straight.add(rows[i]);
    resumed.add(rows[i]);
    Archive out;
    resumed.fields(out);
    WindowedClassMetrics next(37);
    Archive in(out.bytes());
    next.fields(in);
    in.finish();
    resumed = next;
    const auto a = Calibration::of(straight, CalibrationOf::predicted_class);
    const auto b = Calibration::of(resumed, CalibrationOf::predicted_class);
    ASSERT_EQ(std::memcmp(&a, &b, sizeof a), 0) << i;
  }
}

}  // namespace
