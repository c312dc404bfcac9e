// Schedules as configs have them: read, printed, and read again.
#include <gtest/gtest.h>

#include "config/section_reader.hpp"
#include "config/toml.hpp"

namespace {

using namespace obolus;

struct Options {
  Schedule gamma = 1.0;  // an outer step
  Schedule alpha = 1.0;

  template <class V>
  void describe(V&& v) {
    v("gamma", gamma, "help", Range::outer_step());
    v("alpha", alpha, "help", Range::positive());
  }
};

Options read(const std::string& lines) {
  const toml::table root = toml::parse("[optimiser]\n" + lines, std::string_view("test.toml"));
  config::SectionReader reader(root, "optimiser");
  Options o;
  o.describe(reader);
  reader.finish();
  return o;
}

std::string refusal(const std::string& lines) {
  try {
    (void)read(lines);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(ScheduleText, AFactorMultipliesTheScaleAtEveryRoundOfAt) {
  const Schedule s = read("gamma = { scale = 0.1, at = [180, 220], factor = 0.5 }").gamma;
  EXPECT_EQ(s(179), 0.1);
  EXPECT_EQ(s(180), 0.1 * 0.5);
  EXPECT_EQ(s(220), 0.1 * 0.5 * 0.5);
}

TEST(ScheduleText, ValuesAreTheScaleFromTheRoundsOfAtOn) {
  const Schedule s = read("gamma = { scale = 0.1, at = [180, 220], values = [0.3, 0.2] }").gamma;
  EXPECT_EQ(s(1), 0.1);
  EXPECT_EQ(s(180), 0.3);
  EXPECT_EQ(s(400), 0.2);
}

TEST(ScheduleText, WhatIsPrintedReadsAsTheSameSchedule) {
  for (const std::string text :
       {"0.1", "{ scale = 0.1, power = -0.5, log = true, least = 1e-3, most = 0.3 }",
        "{ scale = 0.1, at = [180, 220], factor = 0.1 }", "{ scale = 0.1, at = [7], values = [0.3], warmup = 5 }",
        "{ scale = 0.001, from = 80, warmup = 10, at = [180, 220], factor = 0.1 }",
        "{ scale = 0.1, cosine = 400, floor = 0.01 }", "{ scale = 0.1, cosine = 400, power = -0.25 }"}) {
    const Schedule s = read("gamma = " + text).gamma;
    const std::string printed = config::schedule_text(s);
    EXPECT_EQ(read("gamma = " + printed).gamma, s) << printed;
  }
}

TEST(ScheduleText, AWarmUpOfInnerStepsIsFineAndARestIsNot) {
  EXPECT_EQ(read("alpha = { scale = 0.5, warmup = 4 }").alpha(1), 0.125);
  EXPECT_NE(refusal("alpha = { scale = 0.1, from = 80 }").find("test.toml:2"), std::string::npos);
  EXPECT_NE(refusal("alpha = { scale = 0.1, from = 80 }").find("before from = 80"), std::string::npos);
  EXPECT_NE(refusal("alpha = { scale = 0.1, cosine = 9 }").find("floor > 0"), std::string::npos);
  EXPECT_EQ(refusal("alpha = { scale = 0.1, cosine = 9, floor = 0.1 }"), "accepted");
}

TEST(ScheduleText, MistakesAreNamed) {
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"{ scale = 0.1, at = [180, 220] }", "either values"},
           {"{ scale = 0.1, factor = 0.1 }", "at = [rounds]"},
           {"{ scale = 0.1, at = [5], values = [0.1], factor = 0.1 }", "either values"},
           {"{ scale = 0.1, at = [5, 6], values = [0.1] }", "a list of 2"},
           {"{ scale = 0.1, at = [6, 5], factor = 0.1 }", "5 after 6"},
           {"{ scale = 0.1, at = [0], factor = 0.1 }", "gamma.at"},
           {"{ scale = 0.1, at = 5, factor = 0.1 }", "1 to 8 rounds"},
           {"{ scale = 0.1, at = [1, 2, 3, 4, 5, 6, 7, 8, 9], factor = 0.1 }", "1 to 8 rounds"},
           {"{ scale = 0.1, at = [5], values = [0.0] }", "gamma.values"},
           {"{ scale = 0.1, floor = 0.1 }", "cosine"},
           {"{ scale = 0.1, warmup = 2.5 }", "gamma.warmup"},
           {"{ scale = 0.1, warm_up = 2 }", "'warmup'"},
           {"{ at = [5], factor = 0.1 }", "scale"}}) {
    const std::string message = refusal("gamma = " + text);
    EXPECT_NE(message.find("test.toml:2"), std::string::npos) << text << ": " << message;
    EXPECT_NE(message.find(part), std::string::npos) << text << ": " << message;
  }
}

}  // namespace
