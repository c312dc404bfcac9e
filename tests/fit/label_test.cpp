#include "fit/model/label.hpp"

#include <gtest/gtest.h>

namespace obolus {
namespace {

using fit::canonical_label;
using fit::label_number;

TEST(CanonicalLabel, IsTheShortestFormOfANumber) {
  for (const char* one : {"1", "+1", "1.0", "1e0", "01", "10e-1", "+1.000"})
    EXPECT_EQ(canonical_label(one), "1") << one;
  for (const char* zero : {"0", "-0", "+0.0", "0e5"}) EXPECT_EQ(canonical_label(zero), "0") << zero;
  EXPECT_EQ(canonical_label("-1.50"), "-1.5");
  EXPECT_EQ(canonical_label("0.1"), "0.1");
  EXPECT_EQ(canonical_label("12345678901"), "12345678901");
}

TEST(CanonicalLabel, IsAnythingElseAsItIs) {
  for (const char* text :
       {"", "+", "-", "spam", "1a", " 1", "1 ", "0x10", "nan", "inf", "-inf", "1e999", "++1", "1,5", "é"})
    EXPECT_EQ(canonical_label(text), text);
}

TEST(LabelNumber, IsThatOfAFiniteNumberOnly) {
  EXPECT_EQ(label_number("+2.50"), 2.5);
  EXPECT_EQ(label_number("-3"), -3.0);
  for (const char* text : {"", "+", "1x", " 1", "nan", "inf", "1e999"})
    EXPECT_FALSE(label_number(text).has_value()) << text;
}

}  // namespace
}  // namespace obolus
