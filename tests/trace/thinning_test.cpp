#include "trace/thinning.hpp"

#include <gtest/gtest.h>

namespace {

using namespace obolus;

TEST(Thinning, HasOneRowPerBlockAndBinsOfEqualRatio) {
  const Thinning thinning;
  EXPECT_EQ(thinning.interval(RoundAxis::linear, 12345, 1), 12345u);
  for (Round t = 1; t < 45; ++t)
    EXPECT_NE(thinning.interval(RoundAxis::logarithmic, 0, t), thinning.interval(RoundAxis::logarithmic, 0, t + 1));
  // A bin is a factor of e^(1/45) = 1.0225.
  EXPECT_EQ(
      thinning.interval(RoundAxis::logarithmic, 0, 102'250) - thinning.interval(RoundAxis::logarithmic, 0, 100'000),
      1u);
  EXPECT_LT(thinning.interval(RoundAxis::logarithmic, 0, std::numeric_limits<Round>::max()), 2000u);
}

TEST(Thinning, JoinsNeighboursOfOneAxis) {
  Thinning thinning;
  const std::size_t bin = thinning.interval(RoundAxis::logarithmic, 0, 1000);
  thinning.coarsen(RoundAxis::linear);
  EXPECT_EQ(thinning.interval(RoundAxis::linear, 7, 1), 3u);
  EXPECT_EQ(thinning.interval(RoundAxis::logarithmic, 0, 1000), bin);
  thinning.coarsen(RoundAxis::logarithmic);
  EXPECT_EQ(thinning.interval(RoundAxis::logarithmic, 0, 1000), bin / 2);
}

}  // namespace
