// Labels to numbers 0, 1, …, in the order in which they appeared or were given.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "obolus/core/archive.hpp"

namespace obolus::fit {

class ClassNames {
 public:
  static constexpr std::size_t max = 10'000;

  // `fixed`: names separated by commas; empty: every label becomes a class. Throws ConfigError.
  explicit ClassNames(const std::string& fixed);

  [[nodiscard]] bool fixed() const { return fixed_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // Throws DataError for a label that is not one of the fixed classes.
  void require(const std::string& label) const;
  std::int32_t number(const std::string& label);
  [[nodiscard]] std::int32_t known(const std::string& label) const;  // −1: not known

  void fields(Archive& a);

 private:
  void add(const std::string& name);
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> number_;
  // Labels as they were written, so that most need not be parsed.
  mutable std::unordered_map<std::string, std::int32_t> seen_;
  bool fixed_;
};

}  // namespace obolus::fit
