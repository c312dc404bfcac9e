// Labels to numbers 0, 1, …, in the order in which they appeared or were given. Labels that are the same number are the same: 1, +1, 1.0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "obolus/core/archive.hpp"

namespace obolus::fit {

// As it is known: numbers in their shortest form, anything else as it is.
[[nodiscard]] std::string canonical_label(std::string_view text);

class ClassNames {
 public:
  static constexpr std::size_t max = 10'000;

  // `fixed`: names separated by commas; empty: whatever comes. Throws ConfigError.
  explicit ClassNames(const std::string& fixed);

  [[nodiscard]] bool fixed() const { return fixed_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // Throws DataError for a label that is none of the fixed ones.
  void require(const std::string& label) const;
  std::int32_t number(const std::string& label);
  [[nodiscard]] std::int32_t known(const std::string& label) const;  // −1: not

  void fields(Archive& a);

 private:
  void add(const std::string& name);
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> number_;
  // The texts that were met last, so that most labels need no number parsed.
  mutable std::unordered_map<std::string, std::int32_t> seen_;
  bool fixed_;
};

}  // namespace obolus::fit
