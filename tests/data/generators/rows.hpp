// What the tests of the generated streams ask of rows.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "obolus/core/rng.hpp"
#include "obolus/data/generators.hpp"

namespace obolus {

// Hoeffding: the mean of n independent 0–1 draws is further than this from its expectation with probability
// ≤ 2 exp(−2nt²) = 1e-9.
inline double hoeffding(std::int64_t n) { return std::sqrt(std::log(2e9) / (2.0 * static_cast<double>(n))); }

inline GeneratedRow row_of(Generator& g, std::int64_t i) {
  GeneratedRow r;
  g.row(i, r);
  return r;
}

inline double part_of_class(Generator& g, int label, std::int64_t rows) {
  std::int64_t found = 0;
  GeneratedRow r;
  for (std::int64_t i = 0; i < rows; ++i) {
    g.row(i, r);
    found += r.label == label;
  }
  return static_cast<double>(found) / static_cast<double>(rows);
}

// The random numbers a generator documents, by purpose.
inline Rng draws(std::string_view generator, std::int64_t seed, std::string_view purpose, std::int64_t index) {
  return Rng(static_cast<std::uint64_t>(seed)).child(generator).child(purpose, static_cast<std::uint64_t>(index));
}

}  // namespace obolus
