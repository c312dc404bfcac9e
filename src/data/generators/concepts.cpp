#include "data/generators/concepts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr double max_row = 0x1p53;

// The entries of a list of whole numbers in [1, max]; none for a single 0.
std::vector<std::int64_t> whole_numbers(const Numbers& numbers, const std::string& name, double max) {
  if (!numbers.list && numbers.values.front() == 0.0) return {};
  std::vector<std::int64_t> out;
  for (const double v : numbers.values) {
    if (!(v >= 1.0 && v <= max && v == std::floor(v)))
      throw ConfigError(fmt::format("{}: got {}, expected whole numbers from 1 to {}", name, v, max));
    out.push_back(static_cast<std::int64_t>(v));
  }
  return out;
}

}  // namespace

Concepts::Concepts(const ConceptOptions& options, std::string_view generator, std::int64_t max)
    : rng_(Rng(static_cast<std::uint64_t>(options.seed)).child(generator)), width_(options.drift_width), max_(max) {
  const auto name = [&](std::string_view option) { return fmt::format("{}.{}", generator, option); };
  drift_rows_ = whole_numbers(options.drift_rows, name("drift_rows"), max_row);
  concepts_ = whole_numbers(options.concepts, name("concepts"), max > 0 ? static_cast<double>(max) : max_row);
  if (std::ranges::adjacent_find(drift_rows_, std::greater_equal<>{}) != drift_rows_.end())
    throw ConfigError(fmt::format("{}: got rows that do not ascend, expected ascending rows", name("drift_rows")));
}

std::int64_t Concepts::at(std::int64_t row) const {
  const std::int64_t stretch = stretch_at(row);
  if (!concepts_.empty()) return concepts_[to_size(stretch) % concepts_.size()];
  return 1 + (max_ > 0 ? stretch % max_ : stretch);
}

std::int64_t Concepts::stretch_at(std::int64_t row) const {
  if (width_ == 0.0) return std::ranges::upper_bound(drift_rows_, row) - drift_rows_.begin();
  Rng draw = rng("concept", row);
  for (std::size_t j = drift_rows_.size(); j > 0; --j) {
    const double past = static_cast<double>(row - drift_rows_[j - 1]);
    if (draw.uniform() < 1.0 / (1.0 + std::exp(-4.0 * past / width_))) return static_cast<std::int64_t>(j);
  }
  return 0;
}

}  // namespace obolus
