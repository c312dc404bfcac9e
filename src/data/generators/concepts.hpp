// Which concept a row of a generated stream is drawn from (ConceptOptions).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "obolus/core/rng.hpp"
#include "obolus/data/generator_options.hpp"

namespace obolus {

class Concepts {
 public:
  // `max`: the number of concepts; 0: unlimited. Throws a ConfigError that names the option.
  Concepts(const ConceptOptions& options, std::string_view generator, std::int64_t max);

  [[nodiscard]] std::int64_t at(std::int64_t row) const;  // 1, 2, …

  // Random numbers by purpose, all derived from the seed.
  [[nodiscard]] Rng rng(std::string_view purpose, std::int64_t index) const {
    return rng_.child(purpose, static_cast<std::uint64_t>(index));
  }

 private:
  [[nodiscard]] std::int64_t stretch_at(std::int64_t row) const;

  Rng rng_;
  std::vector<std::int64_t> drift_rows_, concepts_;
  double width_;
  std::int64_t max_;
};

}  // namespace obolus
