#include "option_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "obolus/core/nearest.hpp"

namespace obolus::cli {

std::string flag_of(std::string_view name) {
  std::string flag = "--" + std::string(name);
  std::replace(flag.begin() + 2, flag.end(), '_', '-');
  return flag;
}

std::string fault_of_name(const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return {};
  const std::string near = suggestion(name, known);  // or all of them, which stand here anyway
  return fmt::format("got '{}', expected {} or {}{}", name, fmt::join(known.begin(), known.end() - 1, ", "),
                     known.back(), near.starts_with(" (did") ? near : "");
}

Flag* add_choice(Verb& verb, const std::string& flag, const std::vector<std::string>& words,
                 const std::string& standard, const std::string& help,
                 const std::function<void(const std::string&)>& take) {
  return verb.add_option_function(flag, take, help)
      ->check(one_of(words))
      ->type_name(fmt::format("{}", fmt::join(words, "|")))
      ->default_str(standard);
}

Check number_in(Range range) {
  return {[range](const std::string& given) {
    char* end = nullptr;
    const double number = std::strtod(given.c_str(), &end);
    if (!given.empty() && *end == 0 && range.holds(number)) return std::string();
    return fmt::format("got '{}', expected a number {}", given, range.text());
  }};
}

}  // namespace obolus::cli
