// The decay of all weights of a group by one factor, at the cost of one multiplication.
//
// Feature i of the group has z_i = z ẑ_i and s_ji = s_j ŝ_ji + mix_j ẑ_i, where ẑ and ŝ are in memory and z, s_j,
// mix_j are factors of the group. A decay z_i ← ρ z_i with derivative dρ/dθ_j changes the factors alone:
//     mix_j ← ρ mix_j + (dρ/dθ_j) z,   z ← ρ z,   s_j ← ρ s_j.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "fit/model/saved_vectors.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

struct GroupDecay {
  double z = 1;
  std::vector<double> s, mix;  // by part; the first of each is not used

  GroupDecay() = default;
  explicit GroupDecay(int parts) : s(to_size(parts), 1.0), mix(to_size(parts), 0.0) {}

  // slopes: dρ/dθ_j for j = 1 … parts − 1
  void decay(double rho, std::span<const double> slopes) {
    for (std::size_t j = 1; j < s.size(); ++j) {
      mix[j] = rho * mix[j] + slopes[j] * z;
      s[j] *= rho;
    }
    z *= rho;
  }
  void scale_derivative(int part, double factor) {
    s[to_size(part)] *= factor;
    mix[to_size(part)] *= factor;
  }
  void forget_derivative(int part) {
    s[to_size(part)] = 1;
    mix[to_size(part)] = 0;
  }

  // Outside of these bounds ẑ or ŝ would lose digits to its factor.
  [[nodiscard]] bool is_extreme() const {
    constexpr double small = 0x1p-16, large = 0x1p16;
    bool extreme = !(z > small);
    for (std::size_t j = 1; j < s.size(); ++j)
      extreme = extreme || !(std::abs(s[j]) > small) || std::abs(mix[j]) > large * z;
    return extreme;
  }

  // lanes += what sums of ẑ and ŝ stand for.
  template <class S>
  void add_true(const S* sums, int outputs, S* lanes) const {
    for (int c = 0; c < outputs; ++c) lanes[c] += S(z) * sums[c];
    for (std::size_t j = 1; j < s.size(); ++j) {
      const S factor = S(s[j]), with_z = S(mix[j]);
      const S* const of = sums + static_cast<std::ptrdiff_t>(j) * outputs;
      S* const to = lanes + static_cast<std::ptrdiff_t>(j) * outputs;
      for (int c = 0; c < outputs; ++c) to[c] += factor * of[c] + with_z * sums[c];
    }
  }
  // The other way: what has to be added to ẑ and ŝ for z_i and s_ji to grow by `push`.
  template <class S>
  void stored_push(const S* push, int outputs, S* stored) const {
    const S of_z = S(1 / z);
    for (int c = 0; c < outputs; ++c) stored[c] = of_z * push[c];
    for (std::size_t j = 1; j < s.size(); ++j) {
      const S factor = S(1 / s[j]), with_z = S(mix[j]);
      const S* const of = push + static_cast<std::ptrdiff_t>(j) * outputs;
      S* const to = stored + static_cast<std::ptrdiff_t>(j) * outputs;
      for (int c = 0; c < outputs; ++c) to[c] = factor * (of[c] - with_z * stored[c]);
    }
  }
  // ẑ and ŝ of a row become z_i and s_ji.
  template <class S>
  void apply(S* row, int outputs) const {
    for (std::size_t j = s.size() - 1; j > 0; --j) {
      const S factor = S(s[j]), with_z = S(mix[j]);
      S* const of = row + static_cast<std::ptrdiff_t>(j) * outputs;
      for (int c = 0; c < outputs; ++c) of[c] = factor * of[c] + with_z * row[c];
    }
    for (int c = 0; c < outputs; ++c) row[c] *= S(z);
  }

  [[nodiscard]] bool is_sound(int parts) const { return s.size() == to_size(parts) && mix.size() == s.size() && z > 0; }
  void fields(Archive& a) {
    a("z", z);
    saved(a, "s", s);
    saved(a, "mix", mix);
  }
};

}  // namespace obolus::fit
