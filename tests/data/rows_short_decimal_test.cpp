#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <string>
#include <vector>

#include "data/rows/number_text.hpp"
#include "data/rows/short_decimal.hpp"
#include "obolus/core/rng.hpp"

namespace {

using namespace obolus;

// By the standard library alone; the sign + is not its own.
NumberText expected(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  NumberText number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (error == std::errc::result_out_of_range) number.fault = NumberFault::too_large;  // or too small
  else if (error != std::errc{} || end != text.data() + text.size()) number.fault = NumberFault::not_a_number;
  return number;
}

// In memory of just its size: the sanitizers see a byte read beyond it.
bool read_whole(const std::string& text, double& value) {
  const std::vector<char> own(text.begin(), text.end());
  const char *at = own.data(), *end = at + own.size();
  return read_short_decimal(at, end, value) && at == end;
}

void expect_same(const std::string& text) {
  const NumberText right = expected(text);
  double value = 0;
  if (read_whole(text, value)) {
    ASSERT_EQ(right.fault, NumberFault::none) << text;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(right.value)) << text;
  }
  const NumberText number = number_of(text);
  if (right.fault == NumberFault::too_large) return;
  ASSERT_EQ(number.fault, right.fault) << text;
  if (right.fault != NumberFault::none) return;
  ASSERT_EQ(std::bit_cast<std::uint64_t>(number.value), std::bit_cast<std::uint64_t>(right.value)) << text;
}

std::string digits(Rng& rng, std::uint64_t count) {
  std::string text;
  for (; count > 0; --count) text += static_cast<char>('0' + (rng.below(4) == 0 ? 9 * rng.below(2) : rng.below(10)));
  return text;
}

TEST(ShortDecimalTest, RandomNumbersAreThoseOfTheStandardLibrary) {
  Rng rng(1);
  for (int i = 0; i < 1'000'000; ++i) {
    std::string text = std::vector<std::string>{"", "-", "+", ""}[rng.below(4)];
    text += digits(rng, rng.below(rng.below(4) == 0 ? 22 : 9));
    if (rng.below(4) > 0) text += "." + digits(rng, rng.below(rng.below(4) == 0 ? 22 : 9));
    if (rng.below(16) == 0) text += fmt::format("e{}", static_cast<int>(rng.below(40)) - 20);
    if (rng.below(16) == 0 && !text.empty()) text[rng.below(text.size())] = "+-.e,x /:0"[rng.below(10)];
    ASSERT_NO_FATAL_FAILURE(expect_same(text));
  }
}

// Halves between two doubles, and their neighbours a digit up or down: where two roundings would go astray.
TEST(ShortDecimalTest, NumbersBetweenTwoDoublesAreRoundedOnce) {
  Rng rng(2);
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t odd = (std::uint64_t{1} << 53) + 1 + 2 * rng.below(std::uint64_t{1} << 52);  // 54 bits
    const auto halvings = rng.below(5);
    // odd / 2^h, exactly: its digits are those of odd * 5^h.
    std::uint64_t scaled = odd;
    for (std::uint64_t h = 0; h < halvings; ++h) scaled *= 5;
    std::string text = std::to_string(scaled + rng.below(3) - 1);
    if (halvings > 0) text.insert(text.size() - halvings, ".");
    ASSERT_NO_FATAL_FAILURE(expect_same(text));
  }
}

TEST(ShortDecimalTest, WhatIsUsualIsShort) {
  for (const auto& [text, right] : {std::pair<const char*, double>{"0", 0},
                                    {"-0", -0.0},
                                    {"0.123456", 0.123456},
                                    {"+12345678", 12345678},
                                    {"-123456789.25", -123456789.25},
                                    {"2.", 2},
                                    {".5", 0.5},
                                    {"0.12345678901234567", 0.12345678901234567}}) {
    double value = 1;
    EXPECT_TRUE(read_whole(text, value)) << text;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(right)) << text;
  }
  double value = 0;
  for (const char* text :
       {"", ".", "-", "+", "-.", "--1", "+-1", "1e5", "nan", "0x1", " 1", "1 ", "12345678901234567890"})
    EXPECT_FALSE(read_whole(text, value)) << text;
}

TEST(EightBytesTest, TheFirstOfSomeBytesIsFound) {
  Rng rng(3);
  for (int i = 0; i < 100'000; ++i) {
    std::vector<char> text(rng.below(30));
    for (char& c : text)
      c = rng.below(6) == 0 ? " \t:!9\x01\x80\xBA\xFF"[rng.below(9)] : static_cast<char>(1 + rng.below(255));
    const char *begin = text.data(), *end = begin + text.size();
    const auto right = std::find_if(begin, end, [](char c) { return c == ' ' || c == '\t' || c == ':'; });
    ASSERT_EQ(find_byte(begin, end, ' ', '\t', ':'), right);
    ASSERT_EQ(find_byte(begin, end, '\xFF'), std::find(begin, end, '\xFF'));
  }
}

TEST(EightBytesTest, FewerBytesHaveZerosAbove) {
  const std::string text = "\xF1\xF2\xF3\xF4\xF5\xF6\xF7";
  for (std::size_t size = 0; size < 8; ++size) {
    const std::vector<char> own(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    std::uint64_t right = 0;
    std::copy(own.begin(), own.end(), reinterpret_cast<char*>(&right));
    EXPECT_EQ(few_bytes(own.data(), size), right) << size;
  }
}

}  // namespace
