#include "obolus/run/profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "run/profile_json.hpp"

namespace {

using namespace obolus;

// (n + 1) numbers 0, 1/n, …, 1, shuffled.
Vector<float> shuffled_steps(Index n) {
  Vector<float> x(n + 1);
  for (Index i = 0; i <= n; ++i) x[i] = float((i * 7919) % (n + 1)) / float(n);
  return x;
}

TEST(Profile, of_few_numbers_is_the_numbers) {
  const Vector<double> x = Vector<double>::LinSpaced(32, -1, 3);
  const Profile p = profile_of(7, x);
  EXPECT_EQ(p.t, 7);
  EXPECT_TRUE(p.whole());
  EXPECT_TRUE(std::equal(p.numbers.begin(), p.numbers.end(), x.begin(), x.end()));
}

TEST(Profile, of_many_has_the_quantiles_of_the_sorted_numbers) {
  const Profile p = profile_of(1, shuffled_steps(1000));
  EXPECT_FALSE(p.whole());
  ASSERT_EQ(p.numbers.size(), Profile::levels.size());
  for (std::size_t i = 0; i < p.numbers.size(); ++i)
    EXPECT_NEAR(p.numbers[i], Profile::levels[i], 1e-7);  // half a float's step at 1
}

TEST(Profile, quantiles_between_two_numbers_are_between_them_in_proportion) {
  Vector<double> x = Vector<double>::Zero(34);  // place of the level 0.95: 31.35, between 31 and 32
  std::iota(x.begin(), x.end(), 0.0);
  std::reverse(x.begin(), x.end());
  EXPECT_NEAR(profile_of(1, x).numbers[5], 31.35, 1e-12);
  EXPECT_NEAR(profile_of(1, x).numbers[3], 16.5, 1e-12);
}

TEST(Profile, rounds_are_all_at_first_and_then_sixteen_to_thirty_two_an_octave) {
  for (Round t = 1; t <= 32; ++t) EXPECT_TRUE(profiled(t)) << t;
  for (Round octave = 32; octave <= Round{1} << 40; octave *= 2) {
    EXPECT_TRUE(profiled(octave + octave / 16));
    EXPECT_FALSE(profiled(octave + 1));
  }
  int between = 0;
  for (Round t = 4096; t < 8192; ++t) between += profiled(t);
  EXPECT_EQ(between, 16);
}

TEST(Distribution, counts_every_finite_number_once) {
  Vector<float> x = shuffled_steps(130'000);
  x[3] = std::numeric_limits<float>::quiet_NaN();
  x[5] = std::numeric_limits<float>::infinity();
  const Distribution d = distribution_of(x);
  EXPECT_EQ(d.size, 130'001);
  EXPECT_EQ(std::accumulate(d.counts.begin(), d.counts.end(), std::int64_t{0}), 130'001 - 2);
  EXPECT_EQ(d.counts.size(), Distribution::bins);
  EXPECT_TRUE(d.values.empty());
  const auto [min, max] = std::minmax_element(d.counts.begin(), d.counts.end());
  EXPECT_LE(*max - *min, 4);  // equal steps: the same count in every bin, except at the ends and for the two left out
}

TEST(Distribution, of_equal_numbers_is_one_bin_and_of_none_is_none) {
  const Distribution d = distribution_of(Vector<double>(Vector<double>::Constant(5, 0.25)));
  EXPECT_EQ(d.counts.front(), 5);
  EXPECT_EQ(d.min, 0.25);
  EXPECT_EQ(d.max, 0.25);
  EXPECT_EQ(d.values.size(), 5u);
  EXPECT_EQ(distribution_of(Vector<double>()).size, 0);
}

TEST(ProfileJson, reads_back_what_it_wrote) {
  for (const Index n : {3, 400}) {
    const Vector<double> x = Vector<double>::LinSpaced(n, 0.1, 2.7);
    const std::vector<Profile> profiles{profile_of(1, x), profile_of(2, Vector<double>(2 * x))};
    const std::vector<Profile> again = profiles_of(profiles_json(profiles));
    ASSERT_EQ(again.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(again[i].t, profiles[i].t);
      EXPECT_EQ(again[i].size, n);
      EXPECT_EQ(again[i].numbers, profiles[i].numbers);
    }
    const Distribution d = distribution_of(x), back = distribution_of(distribution_json(d));
    EXPECT_EQ(back.counts, d.counts);
    EXPECT_EQ(back.values, d.values);
    EXPECT_EQ(back.max, d.max);
  }
}

}  // namespace
