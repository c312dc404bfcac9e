// SEA concepts (Street and Kim, KDD 2001): x1, x2, x3 uniform on [0, 10], of which x3 is irrelevant;
//     class 0 where x1 + x2 ≤ θ, otherwise class 1,   θ = 8, 9, 7, 9.5 in concepts 1, 2, 3, 4.
// P(class 0) = θ²/200. The paper has a noise of 10 %: that part of the labels is inverted.
#include <array>

#include "data/generators/concepts.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/data/generators.hpp"

namespace obolus {
namespace {

constexpr std::array<double, 4> thresholds{8.0, 9.0, 7.0, 9.5};

class Sea final : public Generator {
 public:
  explicit Sea(const SeaOptions& options)
      : options_(options), concepts_(options.stream, SeaOptions::name, std::int64_t{thresholds.size()}) {}

  const std::vector<GeneratedColumn>& columns() const override { return columns_; }
  const std::vector<std::string>& classes() const override { return classes_; }
  std::int64_t concept_of(std::int64_t i) const override { return concepts_.at(i); }

  void row(std::int64_t i, GeneratedRow& out) override {
    Rng rng = concepts_.rng("row", i);
    const double threshold = thresholds[to_size(concepts_.at(i) - 1)];
    const bool inverted = rng.uniform() < options_.noise;
    const int wanted = options_.share && rng.uniform() < *options_.share ? 1 : 0;
    out.numbers.resize(columns_.size());
    do {
      for (float& x : out.numbers) x = static_cast<float>(rng.uniform(0.0, 10.0));
      out.label = double{out.numbers[0]} + double{out.numbers[1]} <= threshold ? 0 : 1;
    } while (options_.share && out.label != wanted);
    if (inverted) out.label = 1 - out.label;
  }

 private:
  SeaOptions options_;
  Concepts concepts_;
  std::vector<GeneratedColumn> columns_{{.name = "x1"}, {.name = "x2"}, {.name = "x3"}};
  std::vector<std::string> classes_{"0", "1"};
};

}  // namespace

std::unique_ptr<Generator> make_generator(const SeaOptions& options) {
  validate(options, SeaOptions::name);
  return std::make_unique<Sea>(options);
}

}  // namespace obolus
