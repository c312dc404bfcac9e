// Counts skipped bad rows against the number allowed.
#pragma once

#include <cstdint>
#include <string>

#include "data/rows/line_source.hpp"

namespace obolus {

class BadRows {
 public:
  explicit BadRows(std::uint64_t allowed) : allowed_(allowed) {}

  // Counts it, or throws it if the allowed number is reached.
  void skip(const BadRow& bad);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] const std::string& first() const { return first_; }

 private:
  std::uint64_t allowed_, count_ = 0;
  std::string first_;
};

}  // namespace obolus
