// Reads one section of a config into options. Errors say file, line and column, what was got and what was expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/option_text.hpp"
#include "config/toml_fwd.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/nearest.hpp"

namespace obolus::config {

[[nodiscard]] std::string place_of(const toml::node& node);  // "FILE:LINE:COLUMN"
[[nodiscard]] std::string text_of(const toml::node& node);

class SectionReader {
 public:
  SectionReader(const toml::table& root, std::string section);

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] const std::string& section() const { return section_; }

  // The visitor: describe(reader) reads every option that the section gives.
  template <class T>
  void operator()(std::string_view name, T& value, std::string_view, Range range = {}) {
    known_.emplace_back(name);
    const toml::node* node = find(name);
    if (!node) return;
    if constexpr (std::is_enum_v<T>) value = EnumNames<T>::values[choice(name, *node, names_of_enum<T>())].first;
    else if constexpr (std::is_same_v<T, Schedule> || std::is_same_v<T, std::optional<Schedule>>)
      value = schedule(name, *node, range);
    else if constexpr (std::is_same_v<T, Numbers> || std::is_same_v<T, std::optional<Numbers>>)
      value = numbers(name, *node, range);
    else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>)
      value = number(name, *node, range);
    else if constexpr (std::is_same_v<T, bool>) value = truth(name, *node);
    else if constexpr (std::is_base_of_v<std::string, T>) value.assign(text(name, *node));
    else value = integer(name, *node, range);
  }

  // A second name of the option `of`; giving both is an error.
  template <class T>
  void other_name(std::string_view name, std::string_view of, T& value, Range range) {
    if (has(name) && has(of)) reject_both(name, of);
    (*this)(name, value, "", range);
  }

  // After the last describe: a key that no option has is an error.
  void finish() const;

  // An error about a value that reads well but cannot be used.
  [[noreturn]] void reject(std::string_view name, const std::string& expected) const;

 private:
  [[nodiscard]] const toml::node* find(std::string_view name) const;
  [[noreturn]] void fail(std::string_view name, const toml::node& node, const std::string& expected) const;
  [[noreturn]] void reject_both(std::string_view name, std::string_view of) const;

  [[nodiscard]] bool truth(std::string_view name, const toml::node& node) const;
  [[nodiscard]] std::string text(std::string_view name, const toml::node& node) const;
  [[nodiscard]] double number(std::string_view name, const toml::node& node, Range range) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, const toml::node& node, Range range) const;
  // Without a range infinities are allowed: they are bounds.
  [[nodiscard]] Numbers numbers(std::string_view name, const toml::node& node, Range range) const;
  [[nodiscard]] Schedule schedule(std::string_view name, const toml::node& node, Range range) const;
  [[nodiscard]] ScaleChanges scale_changes(std::string_view name, const toml::node& node, double scale) const;
  // The index of the given word.
  [[nodiscard]] std::size_t choice(std::string_view name, const toml::node& node,
                                   const std::vector<std::string>& words) const;

  std::string section_;
  const toml::table* table_ = nullptr;
  std::vector<std::string> known_;
};

}  // namespace obolus::config
