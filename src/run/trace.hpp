// A row as a line of JSON: the numbers that were measured. They read back as the same bits.
#pragma once

#include <string>
#include <string_view>

#include "obolus/metrics/row.hpp"
#include "obolus/run/profile.hpp"

namespace obolus {

class TraceFormatter {
 public:
  explicit TraceFormatter(bool vectors) : vectors_(vectors) {}

  // `profile`: of x after the round, or none.
  template <class S>
  const std::string& line(const Row& row, const Vector<S>& x, const Vector<S>& y, const Profile* profile);

 private:
  void key(std::string_view name);
  template <class V>
  void list(std::string_view name, const V& values);

  bool vectors_;
  std::string line_;
};

}  // namespace obolus
