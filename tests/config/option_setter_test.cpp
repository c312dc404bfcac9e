#include "config/option_setter.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "config/comma_list.hpp"
#include "config/document.hpp"
#include "config/section_reader.hpp"

namespace obolus {
namespace {

enum class Pace : std::uint8_t { slow, fast };

struct Options {
  double alpha = 1;
  std::optional<double> tau = {};
  Schedule gamma = Schedule(2.0);
  std::optional<Schedule> beta = {};
  std::int64_t steps = 3;
  bool warm = false;
  std::string name = "none";
  Pace pace = Pace::slow;

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "", Range::positive());
    v("tau", tau, "");
    v("gamma", gamma, "");
    v("beta", beta, "");
    v("steps", steps, "", Range::at_least(1));
    v("warm", warm, "");
    v("name", name, "");
    v("pace", pace, "");
  }
};

}  // namespace

template <>
struct EnumNames<Pace> {
  static constexpr std::array<std::pair<Pace, std::string_view>, 2> values{
      {{Pace::slow, "slow"}, {Pace::fast, "fast"}}};
};

namespace {

Options with(const std::vector<config::OptionValue>& values) {
  Options o;
  o.describe(config::OptionSetter(values));
  return o;
}

TEST(OptionSetter, SetsNumbersWhereverANumberFits) {
  const Options o = with({{"alpha", 0.5}, {"tau", 0.25}, {"gamma", 4.0}, {"beta", std::int64_t{8}}});
  EXPECT_EQ(o.alpha, 0.5);
  EXPECT_EQ(o.tau, 0.25);
  EXPECT_EQ(o.gamma(7), 4.0);
  ASSERT_TRUE(o.beta.has_value());
  EXPECT_EQ((*o.beta)(7), 8.0);
  EXPECT_EQ(with({{"steps", std::int64_t{9}}}).steps, 9);
}

TEST(OptionSetter, SetsWordsThatTheOptionKnows) {
  EXPECT_EQ(with({{"pace", "fast"}}).pace, Pace::fast);
  EXPECT_EQ(with({{"pace", "faster"}}).pace, Pace::slow);
  EXPECT_EQ(with({{"pace", "fas"}}).pace, Pace::slow);
}

TEST(OptionSetter, LeavesOptionsOfOtherNamesAndTypesAlone) {
  const Options o = with({{"alph", 0.5}, {"steps", 2.5}, {"pace", 1.0}, {"warm", std::int64_t{1}}, {"alpha", "fast"}});
  EXPECT_EQ(o.alpha, 1.0);
  EXPECT_EQ(o.steps, 3);
  EXPECT_EQ(o.pace, Pace::slow);
  EXPECT_FALSE(o.warm);
}

Options read(const std::vector<std::string>& settings) {
  const toml::table root = config::section_of_settings("optimiser", settings, "--options");
  config::SectionReader reader(root, "optimiser");
  Options o;
  o.describe(reader);
  reader.finish();
  return o;
}

std::string refusal(const std::vector<std::string>& settings) {
  try {
    (void)read(settings);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(SectionOfSettings, HasTheTypesOfAConfig) {
  const Options o =
      read({"alpha=0.5", "steps=4", "warm=true", "pace=fast", "name=some text", "gamma={scale=1,power=-1}"});
  EXPECT_EQ(o.alpha, 0.5);
  EXPECT_EQ(o.steps, 4);
  EXPECT_TRUE(o.warm);
  EXPECT_EQ(o.pace, Pace::fast);
  EXPECT_EQ(o.name, "some text");
  EXPECT_EQ(o.gamma(2), 0.5);
}

TEST(SectionOfSettings, NamesTheFlagAndTheOptionInErrors) {
  EXPECT_EQ(refusal({"alpha=-1"}), "--options alpha=-1: optimiser.alpha: got -1, expected a finite number > 0");
  EXPECT_TRUE(refusal({"alhpa=1"}).starts_with("--options alhpa=1: unknown key 'alhpa' in [optimiser]"));
  EXPECT_TRUE(refusal({"pace=fats"}).starts_with("--options pace=fats: optimiser.pace: got"));
  for (const std::string setting : {"alpha", "=1", "", "a\nb=1"})
    EXPECT_EQ(refusal({setting}), "--options: got '" + setting + "', expected key=value");
}

TEST(CommaList, KeepsEmptyWords) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(config::comma_list("a,bc,d"), (Words{"a", "bc", "d"}));
  EXPECT_EQ(config::comma_list(",a,,"), (Words{"", "a", "", ""}));
  EXPECT_EQ(config::comma_list(""), Words{""});
}

}  // namespace
}  // namespace obolus
