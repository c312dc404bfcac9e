// Reads decimals of up to 19 digits without exponent, eight digits at a time, to the same double as std::from_chars;
// leaves all others to number_of.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "data/rows/eight_bytes.hpp"

namespace obolus {

struct DigitRun {
  std::uint64_t value = 0;
  unsigned count = 0;
};

// The digits at the beginning of a text, at most eight.
[[nodiscard]] inline DigitRun digit_run(const char* at, const char* end) {
  const std::uint64_t digits = eight_bytes(at, end) ^ 0x3030303030303030u;
  // A byte above 9 sets its top bit or has it set; carries go only to later bytes.
  const std::uint64_t others = ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
  const auto count = static_cast<unsigned>(std::countr_zero(others)) / 8;
  if (count == 0) return {};
  std::uint64_t value = digits << (64 - 8 * count);  // zeros before them, as if there were eight
  value = value * 10 + (value >> 8);                 // pairs, in every other byte
  constexpr std::uint64_t pairs = 0x000000FF000000FFu;
  value = ((value & pairs) * (100 + (std::uint64_t{1'000'000} << 32)) +
           ((value >> 16) & pairs) * (1 + (std::uint64_t{10'000} << 32))) >>
          32;
  return {value & 0xFFFFFFFFu, count};
}

constexpr unsigned max_digits = 19;  // 19 nines fit into 64 bits

template <class Number>
inline constexpr auto powers_of_ten = [] {
  std::array<Number, max_digits + 1> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;  // exact: a double holds 10^22
  return powers;
}();

[[gnu::noinline]] inline DigitRun more_digits(DigitRun all, const char* at, const char* end) {
  for (unsigned size = 8; all.count == size && size < 24; size += 8) {
    const DigitRun more = digit_run(at + size, end);
    all = {all.value * powers_of_ten<std::uint64_t>[more.count] + more.value, all.count + more.count};
  }
  return all;
}

// The digits at the beginning of a text. Beyond `max_digits` only the count is right, up to 24.
[[nodiscard]] inline DigitRun digits_of(const char* at, const char* end) {
  const DigitRun run = digit_run(at, end);
  return run.count < 8 ? run : more_digits(run, at, end);
}

// digits / 10^places as a double, if it takes only one rounding, or two that do not interfere.
[[nodiscard]] inline bool exact_quotient(std::uint64_t digits, unsigned places, double& quotient) {
  if (digits <= std::uint64_t{1} << 53) {  // both exact in a double: one rounding
    quotient = static_cast<double>(static_cast<std::int64_t>(digits)) / powers_of_ten<double>[places];
    return true;
  }
  if constexpr (std::numeric_limits<long double>::digits == 64) {
    // Both exact in 64 bits. The midpoints between doubles are 64-bit numbers, so the first rounding can move a
    // quotient onto a midpoint, but not across it: elsewhere the second rounding acts as if it were the only one.
    const long double longer = static_cast<long double>(digits) / powers_of_ten<double>[places];
    std::uint64_t bits = 0;
    std::memcpy(&bits, &longer, sizeof bits);
    quotient = static_cast<double>(longer);
    return (bits & 0x7FFu) != 0x400u;
  }
  return false;
}

// False if there is no number or not a short one; `at` moves past what was read.
[[nodiscard]] inline bool read_short_decimal(const char*& at, const char* end, double& value) {
  if (at == end) return false;
  const bool negative = *at == '-';
  at += negative || *at == '+' ? 1 : 0;
  const DigitRun whole = digits_of(at, end);
  at += whole.count;
  DigitRun part;
  if (at < end && *at == '.') {
    part = digits_of(++at, end);
    at += part.count;
  }
  const unsigned count = whole.count + part.count;
  if (count == 0 || count > max_digits) return false;
  const std::uint64_t digits = whole.value * powers_of_ten<std::uint64_t>[part.count] + part.value;
  if (!exact_quotient(digits, part.count, value)) return false;
  if (negative) value = -value;
  return true;
}

}  // namespace obolus
