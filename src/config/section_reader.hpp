// Reads one section of a config into options, and complains well: file, line, column, what was got, what was expected.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "config/option_text.hpp"
#include "config/toml.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/nearest.hpp"

namespace obolus::config {

inline std::string place_of(const toml::node& node) {
  const toml::source_region& where = node.source();
  const std::string file = where.path ? *where.path : std::string("config");
  return where.begin.line > 0 && !file.starts_with("--")
             ? fmt::format("{}:{}:{}", file, where.begin.line, where.begin.column)
             : file;
}

inline std::string text_of(const toml::node& node) {
  std::ostringstream s;
  node.visit([&](const auto& n) { s << n; });
  return s.str();
}

class SectionReader {
 public:
  SectionReader(const toml::table& root, std::string section) : section_(std::move(section)) {
    const toml::node* node = root.get(section_);
    if (!node) return;
    table_ = node->as_table();
    if (!table_) fail(*node, section_, text_of(*node), "a section [" + section_ + "]");
  }

  [[nodiscard]] bool has(std::string_view name) const { return table_ && table_->contains(name); }
  [[nodiscard]] const std::string& section() const { return section_; }

  // The visitor: describe(reader) reads every option that the section gives.
  template <class T>
  void operator()(std::string_view name, T& value, std::string_view, Range range = {}) {
    known_.emplace_back(name);
    const toml::node* node = table_ ? table_->get(name) : nullptr;
    if (!node) return;
    if constexpr (std::is_enum_v<T>) value = enumerator<T>(name, *node);
    else if constexpr (std::is_same_v<T, Schedule> || std::is_same_v<T, std::optional<Schedule>>)
      value = schedule(name, *node, range);
    else if constexpr (std::is_same_v<T, Numbers> || std::is_same_v<T, std::optional<Numbers>>)
      value = numbers(name, *node, range);
    else if constexpr (std::is_same_v<T, std::optional<double>>) value = number(name, *node, range);
    else if constexpr (std::is_same_v<T, double>) value = number(name, *node, range);
    else if constexpr (std::is_same_v<T, bool>) value = exactly<bool>(name, *node, "true or false");
    else if constexpr (std::is_same_v<T, std::string>) value = exactly<std::string>(name, *node, "text in quotes");
    else value = integer(name, *node, range);
  }

  // A second name of the option `of`; giving both is an error.
  template <class T>
  void other_name(std::string_view name, std::string_view of, T& value, Range range) {
    if (has(name) && has(of)) reject(name, fmt::format("one of {} and {}: they are names of one option", of, name));
    (*this)(name, value, "", range);
  }

  // After the last describe: no key may be left that nobody knows.
  void finish() const {
    if (!table_) return;
    for (const auto& [key, node] : *table_) {
      const std::string name(key.str());
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      throw ConfigError(
          fmt::format("{}: unknown key '{}' in [{}]{}", place_of(node), name, section_, suggestion(name, known_)));
    }
  }

  // An error about the value of an option that reads well but is no good.
  [[noreturn]] void reject(std::string_view name, const std::string& expected) const {
    const toml::node* node = table_ ? table_->get(name) : nullptr;
    if (!node) throw ConfigError(fmt::format("[{}] {}: not given, expected {}", section_, name, expected));
    fail(*node, fmt::format("{}.{}", section_, name), text_of(*node), expected);
  }

 private:
  [[noreturn]] static void fail(const toml::node& node, const std::string& what, const std::string& got,
                                const std::string& expected) {
    throw ConfigError(fmt::format("{}: {}: got {}, expected {}", place_of(node), what, got, expected));
  }
  [[noreturn]] void fail(std::string_view name, const toml::node& node, const std::string& expected) const {
    fail(node, fmt::format("{}.{}", section_, name), text_of(node), expected);
  }

  template <class T>
  T exactly(std::string_view name, const toml::node& node, const char* expected) const {
    if (const auto v = node.value_exact<T>()) return *v;
    fail(name, node, expected);
  }

  double number(std::string_view name, const toml::node& node, Range range) const {
    const bool numeric = node.is_integer() || node.is_floating_point();
    const double v = numeric ? *node.value<double>() : 0.0;
    if (!numeric || !range.holds(v) || !std::isfinite(v))
      fail(name, node, range.unrestricted() ? "a finite number" : "a finite number " + range.text());
    return v;
  }

  std::int64_t integer(std::string_view name, const toml::node& node, Range range) const {
    const auto v = node.value_exact<std::int64_t>();
    if (!v || !range.holds(static_cast<double>(*v)))
      fail(name, node, range.unrestricted() ? "a whole number" : "a whole number " + range.text());
    return *v;
  }

  // Infinities are allowed where the range says nothing: bounds.
  Numbers numbers(std::string_view name, const toml::node& node, Range range) const {
    std::vector<double> values;
    const auto take = [&](const toml::node& n) {
      const bool numeric = n.is_integer() || n.is_floating_point();
      if (!numeric || std::isnan(*n.value<double>()) || !range.holds(*n.value<double>()))
        fail(name, n, range.unrestricted() ? "a number or a list of numbers" : "finite numbers");
      values.push_back(*n.value<double>());
    };
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& n : *list) take(n);
      if (values.empty()) fail(name, node, "at least one number");
      return Numbers(std::move(values));
    }
    take(node);
    return Numbers(values.front());
  }

  Schedule schedule(std::string_view name, const toml::node& node, Range range) const {
    const toml::table* table = node.as_table();
    if (!table) return Schedule(number(name, node, range));
    Schedule s;
    s.scale = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [key, value] : *table) {
      const std::string part = fmt::format("{}.{}", name, key.str());
      if (key == "scale") s.scale = number(part, value, Range::positive());
      else if (key == "power") s.power = number(part, value, {});
      else if (key == "log") s.log = exactly<bool>(part, value, "true or false");
      else if (key == "least") s.min = number(part, value, {});
      else if (key == "most") s.max = number(part, value, {});
      else
        throw ConfigError(fmt::format("{}: unknown key '{}' in {}.{}{}", place_of(value), key.str(), section_, name,
                                      suggestion(std::string(key.str()), {"scale", "power", "log", "least", "most"})));
    }
    if (std::isnan(s.scale) || s.min > s.max)
      fail(name, node, "a number or { scale = …, power = …, log = …, least = …, most = … } with least ≤ most");
    return s;
  }

  template <class E>
  E enumerator(std::string_view name, const toml::node& node) const {
    const auto text = node.value_exact<std::string>();
    std::vector<std::string> names;
    for (const auto& [value, label] : EnumNames<E>::values) {
      if (text && *text == label) return value;
      names.emplace_back(label);
    }
    fail(name, node, type_text<E>() + (text ? suggestion(*text, names) : std::string()));
  }

  std::string section_;
  const toml::table* table_ = nullptr;
  std::vector<std::string> known_;
};

}  // namespace obolus::config
