// LED (Breiman, Friedman, Olshen and Stone, «Classification and Regression Trees», 1984): a digit 0, …, 9, all
// equally likely, on a display of seven segments, each inverted with probability `noise`; then 17 irrelevant fair bits.
// With noise 0.1 the best classifier is right in 74 % of the rows.
//
// Drift is that of MOA's LEDGeneratorDrift: in every concept but the first, `drifting` segments a, a + 1, … (mod 7)
// stand where the irrelevant bits b, b + 1, … (mod 17) were, and the other way round; the concept draws a and b.
#include <array>
#include <numeric>
#include <utility>

#include "data/generators/concepts.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/data/generators.hpp"

namespace obolus {
namespace {

constexpr std::size_t segments = 7, irrelevant_bits = 17;

// Top, upper left, upper right, middle, lower left, lower right, bottom.
constexpr std::array<std::array<int, segments>, 10> digits{{{1, 1, 1, 0, 1, 1, 1},
                                                            {0, 0, 1, 0, 0, 1, 0},
                                                            {1, 0, 1, 1, 1, 0, 1},
                                                            {1, 0, 1, 1, 0, 1, 1},
                                                            {0, 1, 1, 1, 0, 1, 0},
                                                            {1, 1, 0, 1, 0, 1, 1},
                                                            {1, 1, 0, 1, 1, 1, 1},
                                                            {1, 0, 1, 0, 0, 1, 0},
                                                            {1, 1, 1, 1, 1, 1, 1},
                                                            {1, 1, 1, 1, 0, 1, 1}}};

class Led final : public Generator {
 public:
  explicit Led(const LedOptions& options) : options_(options), concepts_(options.stream, LedOptions::name, 0) {
    const std::size_t bits = segments + (options_.irrelevant ? irrelevant_bits : 0);
    for (std::size_t j = 1; j <= bits; ++j) columns_.push_back({.name = "x" + std::to_string(j)});
  }

  const std::vector<GeneratedColumn>& columns() const override { return columns_; }
  const std::vector<std::string>& classes() const override { return classes_; }
  std::int64_t concept_of(std::int64_t i) const override { return concepts_.at(i); }

  void row(std::int64_t i, GeneratedRow& out) override {
    hold(concepts_.at(i));
    Rng rng = concepts_.rng("row", i);
    out.label = static_cast<int>(rng.below(digits.size()));
    out.numbers.resize(columns_.size());
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const bool lit =
          j < segments ? (digits[to_size(out.label)][j] == 1) != (rng.uniform() < options_.noise) : rng.below(2) == 1;
      out.numbers[place_[j]] = lit ? 1.0F : 0.0F;
    }
  }

 private:
  void hold(std::int64_t number) {
    if (number == held_) return;
    held_ = number;
    std::iota(place_.begin(), place_.end(), std::size_t{0});
    if (number == 1) return;
    Rng model = concepts_.rng("model", number);
    const std::size_t a = model.below(segments), b = model.below(irrelevant_bits);
    for (std::size_t k = 0; k < to_size(options_.drifting); ++k)
      std::swap(place_[(a + k) % segments], place_[segments + (b + k) % irrelevant_bits]);
  }

  LedOptions options_;
  Concepts concepts_;
  std::vector<GeneratedColumn> columns_;
  std::vector<std::string> classes_{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  std::int64_t held_ = 0;
  std::array<std::size_t, segments + irrelevant_bits> place_{};  // the column of each bit in concept held_
};

}  // namespace

std::unique_ptr<Generator> make_generator(const LedOptions& options) {
  validate(options, LedOptions::name);
  if (options.drifting > 0 && !options.irrelevant)
    throw ConfigError(
        "led.drifting: got more than 0 without irrelevant bits, expected 0: there is nothing to swap with");
  return std::make_unique<Led>(options);
}

}  // namespace obolus
