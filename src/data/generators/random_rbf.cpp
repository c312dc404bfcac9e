// Random RBF with moving centroids (Bifet, Holmes, Kirkby and Pfahringer, JMLR 11, 2010). A concept draws, for each
// centroid, a place from [0, 1]^d, a deviation s and a weight from [0, 1], a class and a direction of length 1. A row
// picks a centroid in proportion to its weight, and lies at a distance |s·N(0, 1)| from it, along a point of [−1, 1]^d.
// Its class is the centroid's.
//
// The first `moving` centroids move straight at `speed` and bounce off the walls of the cube: coordinate c + vi at row
// i, folded into [0, 1] by a wave of period 2. That needs no memory. MOA stops a centroid at the wall for the rest of
// its step and starts with positive directions only; here every class c has a centroid, number c, counted from 0.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "data/generators/concepts.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/data/generators.hpp"

namespace obolus {
namespace {

struct Centroid {
  std::vector<double> place, direction;
  double deviation = 0.0, weight = 0.0;
  int label = 0;
};

struct Model {
  std::vector<Centroid> centroids;
  std::vector<double> cumulative;  // sums of the centroids' weights, inclusive
};

// The triangle wave 0 → 1 → 0 of period 2.
double folded(double x) {
  const double r = x - 2.0 * std::floor(0.5 * x);
  return r <= 1.0 ? r : 2.0 - r;
}

class RandomRbf final : public Generator {
 public:
  explicit RandomRbf(const RandomRbfOptions& options)
      : options_(options), concepts_(options.stream, RandomRbfOptions::name, 0) {
    for (std::int64_t j = 1; j <= options_.features; ++j) columns_.push_back({.name = "x" + std::to_string(j)});
    for (std::int64_t c = 0; c < options_.classes; ++c) classes_.push_back(std::to_string(c));
    along_.resize(columns_.size());
  }

  const std::vector<GeneratedColumn>& columns() const override { return columns_; }
  const std::vector<std::string>& classes() const override { return classes_; }
  std::int64_t concept_of(std::int64_t i) const override { return concepts_.at(i); }

  void row(std::int64_t i, GeneratedRow& out) override {
    const Model& model = model_of(concepts_.at(i));
    Rng rng = concepts_.rng("row", i);
    const bool mislabelled = rng.uniform() < options_.noise;
    const std::size_t picked = pick(model, rng.uniform());
    const Centroid& c = model.centroids[picked];
    out.label = c.label;
    if (mislabelled) {
      const auto other = static_cast<int>(rng.below(static_cast<std::uint64_t>(options_.classes) - 1));
      out.label = other < c.label ? other : other + 1;
    }
    const double moved =
        static_cast<std::int64_t>(picked) < options_.moving ? options_.speed * static_cast<double>(i) : 0.0;
    scatter(c, moved, rng, out.numbers);
  }

 private:
  void scatter(const Centroid& c, double moved, Rng& rng, std::vector<float>& out) {
    double square = 0.0;
    while (square == 0.0) {
      for (double& a : along_) {
        a = rng.uniform(-1.0, 1.0);
        square += a * a;
      }
    }
    const double scale = rng.normal() * c.deviation / std::sqrt(square);
    out.resize(along_.size());
    for (std::size_t j = 0; j < along_.size(); ++j)
      out[j] = static_cast<float>(folded(c.place[j] + moved * c.direction[j]) + scale * along_[j]);
  }

  static std::size_t pick(const Model& model, double u) {
    const auto& sums = model.cumulative;
    const auto above = std::ranges::upper_bound(sums, u * sums.back());
    return std::min(to_size(above - sums.begin()), sums.size() - 1);
  }

  // Keeps every model it has drawn, at most one per stretch: a gradual drift alternates between two.
  const Model& model_of(std::int64_t number) {
    const auto [at, is_new] = models_.try_emplace(number);
    Model& model = at->second;
    if (!is_new) return model;
    Rng rng = concepts_.rng("model", number);
    model.centroids.resize(to_size(options_.centroids));
    for (std::size_t k = 0; k < model.centroids.size(); ++k)
      draw(model.centroids[k], static_cast<std::int64_t>(k), rng);
    if (options_.balance) balance(model.centroids);
    double sum = 0.0;
    for (const Centroid& c : model.centroids) model.cumulative.push_back(sum += c.weight);
    return model;
  }

  void draw(Centroid& c, std::int64_t k, Rng& rng) const {
    for (std::int64_t j = 0; j < options_.features; ++j) c.place.push_back(rng.uniform());
    const auto any = static_cast<int>(rng.below(static_cast<std::uint64_t>(options_.classes)));
    c.label = k < options_.classes ? static_cast<int>(k) : any;
    c.deviation = rng.uniform();
    c.weight = 1.0 - rng.uniform();  // in (0, 1]: no class without weight
    double square = 0.0;
    for (std::int64_t j = 0; j < options_.features; ++j) {
      c.direction.push_back(rng.normal());
      square += c.direction.back() * c.direction.back();
    }
    for (double& d : c.direction) d /= std::sqrt(square);
  }

  void balance(std::vector<Centroid>& centroids) const {
    std::vector<double> of_class(to_size(options_.classes), 0.0);
    for (const Centroid& c : centroids) of_class[to_size(c.label)] += c.weight;
    for (Centroid& c : centroids) c.weight /= of_class[to_size(c.label)];
  }

  RandomRbfOptions options_;
  Concepts concepts_;
  std::vector<GeneratedColumn> columns_;
  std::vector<std::string> classes_;
  std::map<std::int64_t, Model> models_;  // by concept
  std::vector<double> along_;
};

}  // namespace

std::unique_ptr<Generator> make_generator(const RandomRbfOptions& options) {
  validate(options, RandomRbfOptions::name);
  if (options.centroids < options.classes)
    throw ConfigError(fmt::format("rbf.centroids: got {}, expected at least one for each of the {} classes",
                                  options.centroids, options.classes));
  return std::make_unique<RandomRbf>(options);
}

}  // namespace obolus
