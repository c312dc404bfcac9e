#include "trace/thinning.hpp"

#include <gtest/gtest.h>

namespace {

using namespace obolus;

constexpr auto linear = static_cast<Thinning::Axes>(RoundAxis::linear);
constexpr auto logarithmic = static_cast<Thinning::Axes>(RoundAxis::logarithmic);

struct Kept {
  Thinning thinning;
  std::vector<Thinning::Axes> axes;
  std::vector<double> t;

  explicit Kept(Round rounds) {
    for (Round r = 1; r <= rounds; ++r) {
      axes.push_back(thinning.next(r));
      t.push_back(static_cast<double>(r));
    }
  }
  [[nodiscard]] std::vector<double> of(Thinning::Axes axis) const {
    std::vector<double> rounds;
    for (std::size_t i = 0; i < t.size(); ++i)
      if ((axes[i] & axis) != 0) rounds.push_back(t[i]);
    return rounds;
  }
};

TEST(Thinning, KeepsAllForALinearAxisAndSomeOfEveryRatioForALogarithmicOne) {
  const Kept kept(200'000);
  EXPECT_EQ(kept.of(linear).size(), 200'000u);
  const std::vector<double> t = kept.of(logarithmic);
  EXPECT_LE(t.size(), 2000u);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(t[i], static_cast<double>(i + 1));
  // e^(2/45): from the start of one bin to the end of the next.
  for (std::size_t i = 1; i < t.size(); ++i) ASSERT_TRUE(t[i] < 60 || t[i] / t[i - 1] < 1.0455) << t[i];
}

TEST(Thinning, IsMadeCoarserForTheAxisThatKeepsMore) {
  Kept kept(1000);
  kept.thinning.coarsen(kept.axes, kept.t);
  const std::vector<double> t = kept.of(linear);
  ASSERT_EQ(t.size(), 500u);
  for (std::size_t i = 0; i < t.size(); ++i) EXPECT_EQ(t[i], static_cast<double>(2 * i + 1));
  const std::size_t before = kept.of(logarithmic).size();
  while (kept.of(linear).size() >= before) kept.thinning.coarsen(kept.axes, kept.t);
  kept.thinning.coarsen(kept.axes, kept.t);
  EXPECT_LT(kept.of(logarithmic).size(), before);
  EXPECT_EQ(kept.of(logarithmic).front(), 1);
  EXPECT_EQ(kept.thinning.size(), std::max(kept.of(linear).size(), kept.of(logarithmic).size()));
}

// Four times for the linear axis in either case.
TEST(Thinning, KeepsTheSameWhenItIsMadeCoarserEarly) {
  Kept kept(3000);
  for (int i = 0; i < 4; ++i) kept.thinning.coarsen(kept.axes, kept.t);
  Thinning thinning;
  std::vector<double> t;
  std::vector<Thinning::Axes> axes;
  while (t.size() < 3000) {
    t.push_back(static_cast<double>(t.size() + 1));
    axes.push_back(thinning.next(static_cast<Round>(t.back())));
    if (t.size() % 600 == 500) thinning.coarsen(axes, t);
  }
  for (std::size_t i = 0; i < t.size(); ++i) EXPECT_EQ(axes[i] & linear, kept.axes[i] & linear) << t[i];
}

}  // namespace
