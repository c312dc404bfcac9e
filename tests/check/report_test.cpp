#include "obolus/check/report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using namespace obolus;

TEST(CheckReport, AnErrorAtItsToleranceHoldsAndOneAboveDoesNot) {
  CheckReport report;
  report.record("at", 1.0, 1.0, "here");
  EXPECT_TRUE(report.ok());
  report.record("above", std::nextafter(1.0, 2.0), 1.0, "there");
  EXPECT_FALSE(report.ok());
  EXPECT_TRUE(report.find("at")->ok);
  EXPECT_FALSE(report.find("above")->ok);
}

TEST(CheckReport, KeepsTheWorstPlaceOfAProperty) {
  CheckReport report;
  report.record("p", 0.5, 1.0, "first");
  report.record("p", 0.9, 2.0, "second, relatively better");
  EXPECT_EQ(report.find("p")->where, "first");
  report.record("p", 3.0, 2.0, "third, broken");
  report.record("p", 0.9, 1.0, "fourth, fine");
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.find("p")->where, "third, broken");
  EXPECT_FALSE(report.ok());
}

TEST(CheckReport, ANotANumberNeverHoldsAndIsNeverReplaced) {
  CheckReport report;
  report.record("p", std::nan(""), 1.0, "lost");
  EXPECT_FALSE(report.ok());
  report.record("p", 5.0, 1.0, "merely wrong");
  EXPECT_EQ(report.find("p")->where, "lost");
  report.record("q", 1.0, std::nan(""), "no tolerance");
  EXPECT_FALSE(report.find("q")->ok);
}

TEST(CheckReport, AFailureWithoutToleranceOutranksASuccess) {
  CheckReport report;
  report.record("bits", 0.0, 0.0, "same");
  report.record("bits", 1.0, 0.0, "other");
  EXPECT_EQ(report.find("bits")->where, "other");
  EXPECT_EQ(report.find("nothing"), nullptr);
}

}  // namespace
