// Rotating hyperplane (Hulten, Spencer and Domingos, KDD 2001; the walk of the weights is MOA's): x uniform on
// [0, 1]^d,
//     class 1 where Σ_j w_j x_j ≥ ½ Σ_j w_j, otherwise class 0,
// so that x ↦ 1 − x changes sides and the classes are equally frequent whatever w is. A concept draws w(0) from
// [0, 1]^d. The first `drifting` weights walk: w_j(i) = w_j(0) + magnitude·n_j(i), n_j(0) = 0; after every row n_j
// moves by its direction, +1 at first, which then turns with probability `turn`.
//
// The walk is the only memory. Its turns after row i are drawn from i alone and n_j is an integer, so that skipping
// rows gives the same bits as walking; skipping k rows draws k·drifting numbers and no rows. Without a walk, any row
// costs the same.
#include <algorithm>

#include "data/generators/concepts.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/data/generators.hpp"

namespace obolus {
namespace {

class Hyperplane final : public Generator {
 public:
  explicit Hyperplane(const HyperplaneOptions& options)
      : options_(options), concepts_(options.stream, HyperplaneOptions::name, 0) {
    for (std::int64_t j = 1; j <= options_.features; ++j) columns_.push_back({.name = "x" + std::to_string(j)});
    walkers_ = options_.magnitude > 0.0 ? std::min(options_.drifting, options_.features) : 0;
    restart();
  }

  const std::vector<GeneratedColumn>& columns() const override { return columns_; }
  const std::vector<std::string>& classes() const override { return classes_; }
  std::int64_t concept_of(std::int64_t i) const override { return concepts_.at(i); }

  void row(std::int64_t i, GeneratedRow& out) override {
    walk_to(i);
    hold(concepts_.at(i));
    Rng rng = concepts_.rng("row", i);
    const bool inverted = rng.uniform() < options_.noise;
    out.numbers.resize(columns_.size());
    double side = 0.0;  // Σ w_j (x_j − ½)
    for (std::size_t j = 0; j < out.numbers.size(); ++j) {
      out.numbers[j] = static_cast<float>(rng.uniform());
      const double moved = j < steps_.size() ? options_.magnitude * static_cast<double>(steps_[j]) : 0.0;
      side += (weights_[j] + moved) * (double{out.numbers[j]} - 0.5);
    }
    out.label = (side >= 0.0) != inverted ? 1 : 0;
  }

 private:
  void restart() {
    at_ = 0;
    steps_.assign(to_size(walkers_), 0);
    directions_.assign(to_size(walkers_), 1);
  }

  void walk_to(std::int64_t i) {
    if (walkers_ == 0) return;
    if (i < at_) restart();
    for (; at_ < i; ++at_) {
      Rng turns = concepts_.rng("turn", at_);
      for (std::size_t j = 0; j < steps_.size(); ++j) {
        steps_[j] += directions_[j];
        if (turns.uniform() < options_.turn) directions_[j] = -directions_[j];
      }
    }
  }

  void hold(std::int64_t number) {
    if (number == held_) return;
    held_ = number;
    Rng model = concepts_.rng("model", number);
    weights_.resize(columns_.size());
    for (double& w : weights_) w = model.uniform();
  }

  HyperplaneOptions options_;
  Concepts concepts_;
  std::vector<GeneratedColumn> columns_;
  std::vector<std::string> classes_{"0", "1"};
  std::int64_t walkers_ = 0, at_ = 0, held_ = 0;
  std::vector<std::int64_t> steps_, directions_;  // n_j before row at_, and where it goes next
  std::vector<double> weights_;                   // w(0) of concept held_
};

}  // namespace

std::unique_ptr<Generator> make_generator(const HyperplaneOptions& options) {
  validate(options, HyperplaneOptions::name);
  return std::make_unique<Hyperplane>(options);
}

}  // namespace obolus
