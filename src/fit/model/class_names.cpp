#include "fit/model/class_names.hpp"

#include <fmt/format.h>

#include "config/comma_list.hpp"
#include "fit/model/label.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/nearest.hpp"

namespace obolus::fit {

ClassNames::ClassNames(const std::string& fixed) : fixed_(!fixed.empty()) {
  if (!fixed_) return;
  for (const std::string& word : config::comma_list(fixed)) {
    const std::string name = canonical_label(word);
    if (name.empty() || number_.contains(name))
      throw ConfigError(fmt::format("classes: got {} in '{}', expected different names separated by commas",
                                    name.empty() ? "an empty name" : "'" + name + "' twice", fixed));
    add(name);
  }
}

void ClassNames::add(const std::string& name) {
  if (names_.size() == max)
    throw DataError(fmt::format(
        "got more than {} classes, expected fewer; if the labels are numeric targets, use --task numbers", max));
  number_.emplace(name, static_cast<std::int32_t>(names_.size()));
  names_.push_back(name);
}

std::int32_t ClassNames::known(const std::string& label) const {
  if (const auto i = seen_.find(label); i != seen_.end()) return i->second;
  const auto i = number_.find(canonical_label(label));
  if (i == number_.end()) return -1;
  constexpr std::size_t max_texts = 1 << 16;
  if (seen_.size() < max_texts) seen_.emplace(label, i->second);
  return i->second;
}

void ClassNames::require(const std::string& label) const {
  if (!fixed_ || known(label) >= 0) return;
  std::string list, near = suggestion(label, names_);
  for (const std::string& name : names_) list += (list.empty() ? "" : ", ") + name;
  if (constexpr std::size_t long_list = 200; list.size() > long_list) list = list.substr(0, long_list) + " …";
  if (!near.starts_with(" (did you mean")) near.clear();  // it would list all classes again
  throw DataError(fmt::format("label: got '{}', expected one of the classes {}{}", label, list, near));
}

std::int32_t ClassNames::number(const std::string& label) {
  if (const std::int32_t n = known(label); n >= 0) return n;
  require(label);
  add(canonical_label(label));
  return static_cast<std::int32_t>(names_.size()) - 1;
}

void ClassNames::fields(Archive& a) {
  auto count = static_cast<std::uint64_t>(names_.size());
  a("fixed", fixed_);
  a("classes", count);
  if (count > max) throw DataError(fmt::format("saved state: got {} classes, expected at most {}", count, max));
  std::vector<std::string> names = names_;
  names.resize(count);
  for (std::string& name : names) a("name", name);
  if (!a.loading()) return;
  names_.clear();
  number_.clear();
  seen_.clear();
  for (const std::string& name : names) add(name);
  if (number_.size() != names_.size()) throw DataError("saved state: got a class twice, expected each once");
}

}  // namespace obolus::fit
