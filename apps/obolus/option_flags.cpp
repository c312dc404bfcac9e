#include "option_flags.hpp"

#include <fmt/format.h>

#include <algorithm>

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

CLI::Option* add_choice(CLI::App& verb, const std::string& flag, const std::vector<std::string>& words,
                        const std::string& standard, const std::string& help,
                        std::function<void(const std::string&)> take) {
  return verb.add_option_function<std::string>(flag, std::move(take), help)
      ->check([words](const std::string& word) { return fault_of_name(word, words); })
      ->type_name(fmt::format("{}", fmt::join(words, "|")))
      ->default_str(standard);
}

void require_range(CLI::Option& option, Range range) {
  option.check([range](const std::string& given) {
    double number = 0;
    if (!CLI::detail::lexical_cast(given, number) || !range.holds(number))
      return fmt::format("got '{}', expected a number {}", given, range.text());
    return std::string();
  });
}

}  // namespace obolus::cli
