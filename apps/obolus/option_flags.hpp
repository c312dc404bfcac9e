// Options that describe themselves, as flags of a verb: rate_step becomes --rate-step.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "obolus/core/nearest.hpp"
#include "obolus/core/options.hpp"

namespace obolus::cli {

inline std::string flag_of(std::string_view name) {
  std::string flag = "--" + std::string(name);
  std::replace(flag.begin() + 2, flag.end(), '_', '-');
  return flag;
}

template <class E>
void add_enum(CLI::App& verb, const std::string& flag, E& value, const std::string& help) {
  std::vector<std::string> names;
  for (const auto& [v, name] : EnumNames<E>::values) names.emplace_back(name);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : "|") + name;
  verb.add_option_function<std::string>(
          flag,
          [&value, flag, names, list](const std::string& text) {
            for (const auto& [v, name] : EnumNames<E>::values)
              if (text == name) return void(value = v);
            throw CLI::ValidationError(flag,
                                       fmt::format("got '{}', expected {}{}", text, list, suggestion(text, names)));
          },
          help)
      ->type_name(list)
      ->default_str(std::string(name_of(value)));
}

// `options` lives as long as the verb.
template <class Options>
void add_flags(CLI::App& verb, Options& options, const std::string& group) {
  options.describe([&]<class T>(std::string_view name, T& value, std::string_view help, Range range = {}) {
    const std::string flag = flag_of(name), text(help);
    if constexpr (std::is_same_v<T, bool>) {
      verb.add_flag(flag, value, text);
    } else if constexpr (std::is_enum_v<T>) {
      add_enum(verb, flag, value, text);
    } else {
      constexpr bool unset = std::is_same_v<T, std::optional<double>>;
      CLI::Option* option = verb.add_option(flag, value, text);
      if constexpr (!unset) option->capture_default_str();
      if constexpr (unset || std::is_arithmetic_v<T>)
        option->check([range, flag](const std::string& given) {
          double number = 0;
          if (!CLI::detail::lexical_cast(given, number) || !range.holds(number))
            return fmt::format("got '{}', expected a number {}", given, range.text());
          return std::string();
        });
    }
    verb.get_option(flag)->group(group);
  });
}

}  // namespace obolus::cli
