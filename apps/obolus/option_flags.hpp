// Options that describe themselves, as flags of a verb: rate_step becomes --rate-step.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/option_text.hpp"
#include "obolus/core/options.hpp"
#include "verb.hpp"

namespace obolus::cli {

[[nodiscard]] std::string flag_of(std::string_view name);

// What is wrong with a name that should be one of `known`, with the nearest of them; empty if it is one.
[[nodiscard]] std::string fault_of_name(const std::string& name, const std::vector<std::string>& known);

// A flag that takes one of several words; `take` gets the word.
Flag* add_choice(Verb& verb, const std::string& flag, const std::vector<std::string>& words,
                 const std::string& standard, const std::string& help,
                 const std::function<void(const std::string&)>& take);

template <class E>
Flag* add_enum(Verb& verb, const std::string& flag, E& value, const std::string& help) {
  return add_choice(verb, flag, config::names_of_enum<E>(), std::string(name_of(value)), help,
                    [&value](const std::string& word) {
                      for (const auto& [v, name] : EnumNames<E>::values)
                        if (word == name) value = v;
                    });
}

[[nodiscard]] Check number_in(Range range);

// `options` lives as long as the verb.
template <class Options>
void add_flags(Verb& verb, Options& options, const std::string& group) {
  options.describe([&]<class T>(std::string_view name, T& value, std::string_view help, Range range = {}) {
    const std::string flag = flag_of(name), text(help);
    if constexpr (std::is_same_v<T, bool>) {
      verb.add_flag(flag, value, text)->group(group);
    } else if constexpr (std::is_enum_v<T>) {
      add_enum(verb, flag, value, text)->group(group);
    } else {
      constexpr bool unset = std::is_same_v<T, std::optional<double>>;
      Flag* option = verb.add_option(flag, value, text)->group(group);
      if constexpr (!unset) option->capture_default_str();
      if constexpr (unset || std::is_arithmetic_v<T>) option->check(number_in(range));
    }
  });
}

}  // namespace obolus::cli
