// Options set by a program, one by one and by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "obolus/core/options.hpp"
#include "obolus/core/schedule.hpp"

namespace obolus::config {

// A number, or one of the words of an option.
struct OptionValue {
  std::string_view name;
  std::variant<double, std::int64_t, std::string_view> value;
};

// The visitor: describe(setter) sets the options that have one of these names and can take its value, and leaves the
// others alone.
class OptionSetter {
 public:
  explicit OptionSetter(std::span<const OptionValue> values) : values_(values) {}

  template <class T>
  void operator()(std::string_view name, T& option, std::string_view, Range = {}) const {
    for (const OptionValue& v : values_)
      if (v.name == name) std::visit([&](const auto& value) { set(option, value); }, v.value);
  }

 private:
  template <class T, class V>
  static void set(T& option, const V& value) {
    constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;
    if constexpr (std::is_same_v<V, std::string_view>) {
      if constexpr (std::is_enum_v<T>)
        for (const auto& [word, text] : EnumNames<T>::values)
          if (text == value) option = word;
    } else if constexpr (is_integer) {
      if constexpr (std::is_same_v<V, std::int64_t>) option = value;
    } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>) {
      option = static_cast<double>(value);
    } else if constexpr (std::is_same_v<T, Schedule> || std::is_same_v<T, std::optional<Schedule>>) {
      option = Schedule(static_cast<double>(value));
    }
  }

  std::span<const OptionValue> values_;
};

}  // namespace obolus::config
