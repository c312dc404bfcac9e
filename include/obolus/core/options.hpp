// How options describe themselves, once. An options struct has
//     template <class V> void describe(V&& v) { v("alpha", alpha, "what it means", Range::positive()); … }
// and the command line, the config reader, the echo, `obolus list` and the documentation all walk that one list.
// Members may be double, std::int64_t, bool, std::string, FilePath, Numbers, Schedule, std::optional of double, Schedule
// or Numbers, or an enum with a specialisation of EnumNames.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "obolus/core/error.hpp"
#include "obolus/core/schedule.hpp"

namespace obolus {

// The numbers an option may take.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool open = false;   // `least` itself is excluded
  bool whole = false;  // no fractions

  static constexpr Range positive() { return {.min = 0.0, .open = true}; }
  static constexpr Range at_least(double a) { return {.min = a}; }
  static constexpr Range between(double a, double b) { return {.min = a, .max = b}; }
  // A constant number of things; a schedule may give fractions, which round up.
  static constexpr Range count() { return {.min = 1.0, .whole = true}; }

  [[nodiscard]] bool holds(double v) const {
    return (open ? v > min : v >= min) && v <= max && (!whole || v == std::floor(v));
  }

  [[nodiscard]] std::string text() const {
    std::ostringstream s;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (whole) s << "that is whole and ";
    if (open && max == infinity) s << "> " << min;
    else if (max == infinity) s << "≥ " << min;
    else s << "in " << (open ? '(' : '[') << min << ", " << max << ']';
    return s.str();
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

// A second name of the option `of`, understood where configs are read and shown nowhere.
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

// Checks every number of an options struct against its range; throws a ConfigError that names the option.
template <class Options>
void validate(const Options& options, std::string_view owner) {
  Options copy = options;
  const auto fail = [&](std::string_view name, double got, const Range& range) {
    std::ostringstream s;
    s << owner << '.' << name << ": got " << got << ", expected a finite number";
    if (!range.unrestricted()) s << ' ' << range.text();
    throw ConfigError(s.str());
  };
  copy.describe([&]<class T>(std::string_view name, T& value, std::string_view, Range range = {}) {
    const auto require = [&](double v) {
      if (!range.holds(v) || !std::isfinite(v)) fail(name, v, range);
    };
    const auto require_schedule = [&](const Schedule& s) {
      if (s.is_constant()) require(s.scale);
      else if (!(s.scale > 0)) fail(name, s.scale, Range::positive());
      else if (!(s.max > 0)) fail(name, s.max, Range::positive());
    };
    if constexpr (std::is_same_v<T, bool>) {
    } else if constexpr (std::is_arithmetic_v<T>) {
      require(static_cast<double>(value));
    } else if constexpr (std::is_same_v<T, Schedule>) {
      require_schedule(value);
    } else if constexpr (std::is_same_v<T, std::optional<Schedule>>) {
      if (value) require_schedule(*value);
    } else if constexpr (requires { value.has_value(); }) {
      if (value) require(*value);
    }
  });
}

}  // namespace obolus
