#include "obolus/core/capabilities.hpp"

#include <gtest/gtest.h>

#include "obolus/any/erased.hpp"
#include "obolus/check/plain.hpp"
#include "obolus/core/finite_difference.hpp"
#include "obolus/problems/quadratic.hpp"
#include "tests/lazy_ridge.hpp"
#include "tests/sound_problem.hpp"

namespace {

using namespace obolus;
using Sound = test::SoundProblem<double>;

TEST(Capabilities, AreThoseOfTheType) {
  Sound sound;
  EXPECT_EQ(capabilities_of(sound), (Capabilities{.hvp = true, .stochastic = true, .difference = true}));
  test::LazyRidge<float> lazy(2, 2, 1, 1);
  EXPECT_EQ(capabilities_of(lazy), (Capabilities{.hvp = true, .closed_form = true, .difference = true}));
  Plain<Sound> plain(sound);
  EXPECT_EQ(capabilities_of(plain), (Capabilities{.difference = true}));
  Quadratic<double> all({}, 1);
  EXPECT_EQ(capabilities_of(all), (Capabilities{true, true, true, true}));
}

TEST(Capabilities, AreAskedOfATypeThatSpeaksForMany) {
  Erased<Sound> erased(std::in_place);
  AnyOracle<double>& any = erased;
  static_assert(ClosedFormOracle<AnyOracle<double>>, "by its type it could do everything");
  EXPECT_FALSE(capabilities_of(any).closed_form);
  EXPECT_TRUE(capabilities_of(any).stochastic);
}

TEST(Capabilities, DifferencesAddProductsAndNothingElse) {
  Sound sound;
  Plain<Sound> plain(sound);
  FiniteDifferenceHvp<Plain<Sound>> with(plain);
  EXPECT_EQ(capabilities_of(with), (Capabilities{.hvp = true, .difference = true}));
  bool exact = true;
  with_products(plain, [&](auto&, bool own) { exact = own; });
  EXPECT_FALSE(exact);
  with_products(sound, [&](auto& p, bool own) { exact = own && static_cast<void*>(&p) == &sound; });
  EXPECT_TRUE(exact);
}

}  // namespace
