// A quadratic stream read from a JSON file, so that anyone can check any algorithm with code of their own:
//   {"dims": {"x": d1, "y": d2}, "rounds": [{"A": …, "B": …, "b": …, "w": …, "c": …, "s": …, "r": …, "e": …}, …]}
// A is d2×d2, B is d2×d1 (lists of rows); b and c have d2 numbers, e has d1. Where a size is 1 a plain number will do.
// Rounds repeat cyclically.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "obolus/core/options.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/problems/quadratic_knowledge.hpp"
#include "obolus/problems/quadratic_oracle.hpp"

namespace obolus {

// Throws DataError naming file, round (from 1) and key.
[[nodiscard]] std::vector<QuadraticRound<double>> read_quadratic_stream(const std::string& path);

struct QuadraticFileOptions {
  FilePath path = {};
  double noise = 0.0;
  double noise_cross = 0.0;

  template <class V>
  void describe(V&& v) {
    v("path", path, "the JSON file; a relative path starts from the config's folder");
    v("noise", noise, "σ, deviation of a sampled gradient of f and of g", Range::at_least(0));
    v("noise_cross", noise_cross, "σ_E, deviation of each entry of B in a sample of g", Range::at_least(0));
  }
};

template <class S = double>
class QuadraticFile : public QuadraticOracle<S> {
 public:
  using Options = QuadraticFileOptions;
  static constexpr std::string_view name = "quadratic_file";
  static constexpr std::string_view title = "quadratic stream read from a JSON file";

  QuadraticFile(const Options& options, std::uint64_t) : QuadraticFile(read_quadratic_stream(options.path), options) {}
  QuadraticFile(std::vector<QuadraticRound<double>> rounds, const Options& options);
  QuadraticFile(QuadraticFile&&) = delete;  // the oracle points into this object

  void reveal(Round t);

  [[nodiscard]] Constants constants(const ConvexSet& set) const;
  [[nodiscard]] Variation variation(Round t, const ConvexSet& set) const {
    return quadratic_variation(exact_[slot(t - 1)], exact_[slot(t)], set);
  }

 private:
  [[nodiscard]] std::size_t slot(Round t) const { return to_size(t - 1) % rounds_.size(); }

  std::vector<QuadraticRound<double>> exact_;
  std::vector<QuadraticRound<S>> rounds_;
  std::vector<bool> same_matrix_;
  std::size_t current_ = 0;
  double noise_, noise_cross_;
};

}  // namespace obolus
