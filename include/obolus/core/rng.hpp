// Random numbers that depend on the seed and on names, never on the order in which parts of a program draw.
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, «Parallel random numbers: as easy as 1, 2, 3», SC 2011): a keyed bijection
// of a 128-bit counter, so the whole state is (key, position). No `std::` distribution: they differ between libraries.
#pragma once

#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

namespace obolus {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

[[nodiscard]] constexpr PhiloxCounter philox4x32_10(PhiloxCounter c, PhiloxKey k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
}

class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) : key_(seed) {}

  // Back to a recorded place: Rng::at(r.key(), r.position()) == r.
  [[nodiscard]] static constexpr Rng at(std::uint64_t key, std::uint64_t position) {
    Rng r(key);
    r.position_ = position;
    return r;
  }
  [[nodiscard]] constexpr std::uint64_t key() const { return key_; }
  [[nodiscard]] constexpr std::uint64_t position() const { return position_; }

  // Depends on (key, label, index) only. Draws use counters whose upper half is 0 and children counters whose upper
  // half is not, so a child's key is never a number that its parent hands out.
  [[nodiscard]] constexpr Rng child(std::string_view label, std::uint64_t index = 0) const {
    return Rng(block(index, fnv1a(label) | 1u).first);
  }

  [[nodiscard]] constexpr std::uint64_t bits() { return block(position_++, 0).first; }

  // In [0, 1), a multiple of 2^-53.
  [[nodiscard]] constexpr double uniform() { return to_unit(bits()); }

  // In [lo, hi); hi itself only where lo + (hi − lo)u rounds to it.
  [[nodiscard]] constexpr double uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }

  // Uniform on {0, …, n − 1}, n ≥ 1. The first 2^64 mod n values are refused, which leaves a multiple of n.
  [[nodiscard]] constexpr std::uint64_t below(std::uint64_t n) {
    assert(n > 0);
    const std::uint64_t refused = (0 - n) % n;
    std::uint64_t r = bits();
    while (r < refused) r = bits();
    return r % n;
  }

  // Ratio of uniforms with Leva's bounds (ACM TOMS 18(4), 1992, algorithm 712). The value is one product and one
  // quotient; `std::log` only decides a comparison, for 1.2% of the values. Box–Muller would hand on the last bits of
  // the platform's log and cos, which differ between C libraries and between processors.
  [[nodiscard]] double normal() {
    for (;;) {
      const auto [first, second] = block(position_++, 0);
      const double u = 1.0 - to_unit(first);  // in (0, 1]: never divides by zero
      const double v = 1.7156 * (to_unit(second) - 0.5);
      const double a = u - 0.449871;
      const double b = std::abs(v) + 0.386595;
      const double q = a * a + b * (0.19600 * b - 0.25472 * a);
      if (q < 0.27597) return v / u;
      if (q <= 0.27846 && v * v <= -4.0 * std::log(u) * u * u) return v / u;
    }
  }

  // Independent N(0, 1) entries, column by column: the same numbers as that many calls of normal().
  // `Dense` is any Eigen vector, matrix or part of one.
  template <class Dense>
  void fill_normal(Dense&& out) {
    using Scalar = typename std::remove_cvref_t<Dense>::Scalar;
    for (std::ptrdiff_t j = 0; j < out.cols(); ++j)
      for (std::ptrdiff_t i = 0; i < out.rows(); ++i) out.coeffRef(i, j) = static_cast<Scalar>(normal());
  }

  // Fisher–Yates, from the back. Any random-access range, also a temporary view.
  template <class Range>
  void shuffle(Range&& range) {
    using std::swap;
    const auto first = std::begin(range);
    using Offset = typename std::iterator_traits<std::remove_cv_t<decltype(first)>>::difference_type;
    for (auto i = static_cast<Offset>(std::size(range)) - 1; i > 0; --i) {
      const auto j = static_cast<Offset>(below(static_cast<std::uint64_t>(i) + 1));
      swap(*(first + i), *(first + j));
    }
  }

  friend constexpr bool operator==(const Rng&, const Rng&) = default;

 private:
  [[nodiscard]] constexpr std::pair<std::uint64_t, std::uint64_t> block(std::uint64_t low, std::uint64_t high) const {
    const PhiloxCounter c =
        philox4x32_10({word(low), word(low >> 32), word(high), word(high >> 32)}, {word(key_), word(key_ >> 32)});
    return {c[0] | (std::uint64_t{c[1]} << 32), c[2] | (std::uint64_t{c[3]} << 32)};
  }

  static constexpr std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

  static constexpr double to_unit(std::uint64_t r) { return static_cast<double>(r >> 11) * 0x1p-53; }

  static constexpr std::uint64_t fnv1a(std::string_view text) {
    std::uint64_t h = 0xCBF29CE484222325u;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    return h;
  }

  std::uint64_t key_;
  std::uint64_t position_ = 0;  // blocks used
};

}  // namespace obolus
