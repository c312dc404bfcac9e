// How options describe themselves, once. An options struct has
//     template <class V> void describe(V&& v) { v("alpha", alpha, "what it means", Range::positive()); … }
// and the command line, the config reader, the echo, `obolus list` and the documentation all walk that one list.
// Members may be double, std::int64_t, bool, std::string, FilePath, Numbers, Schedule, std::optional of double,
// Schedule or Numbers, or an enum with a specialisation of EnumNames.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "obolus/core/error.hpp"
#include "obolus/core/schedule.hpp"

namespace obolus {

// As printf's %g writes it.
[[nodiscard]] inline std::string short_text(double value) {
  std::array<char, 32> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 6);
  return {digits.data(), result.ptr};
}

// The numbers an option may take.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool open = false;   // `min` itself is excluded
  bool whole = false;  // no fractions
  bool rest = false;   // a schedule may be 0 in some rounds

  static constexpr Range positive() { return {.min = 0.0, .open = true}; }
  // Step sizes of x: where γ_t = 0, x stands still.
  static constexpr Range outer_step() { return {.min = 0.0, .open = true, .rest = true}; }
  static constexpr Range at_least(double a) { return {.min = a}; }
  static constexpr Range between(double a, double b) { return {.min = a, .max = b}; }
  // A constant number of things; a schedule may give fractions, which round up.
  static constexpr Range count() { return {.min = 1.0, .whole = true}; }

  [[nodiscard]] bool holds(double v) const {
    return (open ? v > min : v >= min) && v <= max && (!whole || v == std::floor(v));
  }

  [[nodiscard]] std::string text() const {
    const std::string start = whole ? "that is whole and " : "";
    if (max == std::numeric_limits<double>::infinity()) return start + (open ? "> " : "≥ ") + short_text(min);
    return start + (open ? "in (" : "in [") + short_text(min) + ", " + short_text(max) + "]";
  }
  [[nodiscard]] constexpr bool unrestricted() const {
    return !open && min == -std::numeric_limits<double>::infinity() && max == std::numeric_limits<double>::infinity();
  }
};

// One number for all coordinates, or a list with one for each.
struct Numbers {
  std::vector<double> values;
  bool list = false;

  Numbers(double all) : values{all} {}  // NOLINT(google-explicit-constructor): a number is a Numbers
  explicit Numbers(std::vector<double> each) : values(std::move(each)), list(true) {}
};

// The path of a file. A relative one starts from the config's folder.
struct FilePath : std::string {
  bool may_be_empty = false;

  FilePath() = default;
  FilePath(std::string path) : std::string(std::move(path)) {}  // NOLINT(google-explicit-constructor)
  FilePath(const char* path) : std::string(path) {}             // NOLINT(google-explicit-constructor)
  static FilePath optional() {
    FilePath path;
    path.may_be_empty = true;
    return path;
  }
};

// An alias of the option `of`, accepted in configs and shown nowhere.
template <class V, class T>
void other_name(V& v, std::string_view name, std::string_view of, T& value, Range range = {}) {
  if constexpr (requires { v.other_name(name, of, value, range); }) v.other_name(name, of, value, range);
}

// Specialise with: static constexpr std::array<std::pair<E, std::string_view>, N> values.
template <class E>
struct EnumNames;

template <class E>
constexpr std::string_view name_of(E value) {
  for (const auto& [v, name] : EnumNames<E>::values)
    if (v == value) return name;
  return "?";
}

// What is wrong with the shape of a schedule, as "… , expected …"; empty where nothing is.
[[nodiscard]] inline std::string shape_fault(const Schedule& s, const Range& range) {
  Round last = 0;
  for (std::size_t i = 0; i < s.changes.count; ++i) {
    const Round at = s.changes.at[i];
    if (at <= last) return "at = " + std::to_string(at) + " after " + std::to_string(last) + ", expected rising rounds";
    if (!(s.changes.value[i] > 0.0) || !std::isfinite(s.changes.value[i]))
      return "the value " + short_text(s.changes.value[i]) + " from round " + std::to_string(at) +
             " on, expected a finite number > 0";
    last = at;
  }
  if (s.from < 0 || s.warmup < 0 || s.cosine < 0)
    return "a negative number of rounds, expected from, warmup, cosine ≥ 0";
  if (!(s.floor >= 0.0 && s.floor <= 1.0)) return "floor = " + short_text(s.floor) + ", expected a part in [0, 1]";
  if (s.rests() && !range.rest)
    return "a schedule that is 0 in some rounds (" +
           (s.from > 1 ? "before from = " + std::to_string(s.from)
                       : "from cosine = " + std::to_string(s.cosine) + " on") +
           "), expected one that never is" + (s.from > 1 ? "" : ": give a floor > 0") +
           "; only outer step sizes may rest";
  return {};
}

// Walks an options struct and throws a ConfigError that names the first number outside its range.
class RangeCheck {
 public:
  explicit RangeCheck(std::string_view owner) : owner_(owner) {}

  template <class T>
  void operator()(std::string_view name, const T& value, std::string_view, Range range = {}) const {
    if constexpr (std::is_same_v<T, bool>) {
    } else if constexpr (std::is_arithmetic_v<T>) {
      check(name, static_cast<double>(value), range);
    } else if constexpr (std::is_same_v<T, Schedule>) {
      check(name, value, range);
    } else if constexpr (requires { value.has_value(); }) {
      if (value) check(name, *value, range);
    }
  }

 private:
  void check(std::string_view name, double value, const Range& range) const {
    if (!range.holds(value) || !std::isfinite(value)) refuse(name, value, range);
  }
  // A schedule that varies may leave the range; its scales and its maximum are positive.
  void check(std::string_view name, const Schedule& schedule, const Range& range) const {
    if (schedule.is_constant()) return check(name, schedule.scale, range);
    if (!(schedule.scale > 0)) refuse(name, schedule.scale, Range::positive());
    if (!(schedule.max > 0)) refuse(name, schedule.max, Range::positive());
    if (const std::string fault = shape_fault(schedule, range); !fault.empty())
      throw ConfigError(std::string(owner_) + "." + std::string(name) + ": got " + fault);
  }
  [[noreturn]] void refuse(std::string_view name, double got, const Range& range) const {
    throw ConfigError(std::string(owner_) + "." + std::string(name) + ": got " + short_text(got) +
                      ", expected a finite number" + (range.unrestricted() ? "" : " " + range.text()));
  }

  std::string_view owner_;
};

template <class Options>
void validate(const Options& options, std::string_view owner) {
  Options copy = options;
  copy.describe(RangeCheck(owner));
}

}  // namespace obolus
