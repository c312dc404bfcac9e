#include "fit/model/class_names.hpp"

#include <gtest/gtest.h>

#include "obolus/core/error.hpp"

namespace obolus {
namespace {

using fit::canonical_label;
using fit::ClassNames;

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

TEST(ClassNames, AreNumberedAsTheyAppear) {
  ClassNames names("");
  EXPECT_FALSE(names.fixed());
  EXPECT_EQ(names.known("2"), -1);
  EXPECT_EQ(names.number("2"), 0);
  EXPECT_EQ(names.number("spam"), 1);
  EXPECT_EQ(names.number("+2.0"), 0);
  EXPECT_EQ(names.known("2e0"), 0);
  EXPECT_EQ(names.known("Spam"), -1);
  EXPECT_EQ(names.names(), (std::vector<std::string>{"2", "spam"}));
}

TEST(ClassNames, ThatAreFixedComeInTheOrderGiven) {
  ClassNames names("b,+1,a b");
  EXPECT_TRUE(names.fixed());
  EXPECT_EQ(names.names(), (std::vector<std::string>{"b", "1", "a b"}));
  EXPECT_EQ(names.number("1.0"), 1);
  EXPECT_THROW(names.number("c"), DataError);
  EXPECT_THROW(names.require("2"), DataError);
  names.require("a b");
  EXPECT_EQ(names.names().size(), 3u);
}

std::string message(const ClassNames& names, const std::string& label) {
  try {
    names.require(label);
  } catch (const DataError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(ClassNames, AreListedOnceWhereALabelIsNoneOfThem) {
  EXPECT_EQ(message(ClassNames("ham,spam"), "something else"),
            "label: got 'something else', expected one of the classes ham, spam");
  EXPECT_EQ(message(ClassNames("ham,spam"), "spma"),
            "label: got 'spma', expected one of the classes ham, spam (did you mean 'spam'?)");
  std::string many = "c0";
  for (int i = 1; i < 9000; ++i) many += ",c" + std::to_string(i);
  EXPECT_LT(message(ClassNames(many), "something quite different").size(), 300u);
}

TEST(ClassNames, AreRefusedWhereOneIsEmptyOrStandsThereTwice) {
  for (const char* list : {",", "a,", ",a", "a,,b", "a,b,a", "1,+1"})
    EXPECT_THROW(ClassNames{list}, ConfigError) << list;
}

TEST(ClassNames, AreAtMostTenThousand) {
  ClassNames names("");
  for (int i = 0; i < 10'000; ++i) EXPECT_EQ(names.number("c" + std::to_string(i)), i);
  EXPECT_THROW(names.number("one more"), DataError);
  EXPECT_EQ(names.number("c9999"), 9999);
}

TEST(ClassNames, AreKnownAgainAfterLoading) {
  ClassNames names("");
  names.number("7");
  names.number("b");
  Archive to;
  names.fields(to);
  ClassNames loaded("x,y,z");
  Archive from(to.bytes());
  loaded.fields(from);
  from.finish();
  EXPECT_FALSE(loaded.fixed());
  EXPECT_EQ(loaded.names(), names.names());
  EXPECT_EQ(loaded.known("7.0"), 0);
  EXPECT_EQ(loaded.known("x"), -1);
}

TEST(ClassNames, AreRefusedWhereASavedOneStandsThereTwice) {
  Archive to;
  bool fixed = false;
  std::uint64_t count = 2;
  std::string name = "a";
  to("fixed", fixed);
  to("classes", count);
  to("name", name);
  to("name", name);
  Archive from(to.bytes());
  ClassNames names("");
  EXPECT_THROW(names.fields(from), DataError);
}

}  // namespace
}  // namespace obolus
