// The classical synthetic streams with concept drift: SEA, rotating hyperplane, random RBF, LED, Agrawal.
//
// Row i = 0, 1, … depends on (options, i) only, through the counter-based generator of core/rng.hpp: any row can be
// generated at any time, and a run resumes from a row number. The definitions are in src/data/generators, one per file.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "obolus/data/generator_options.hpp"

namespace obolus {

struct GeneratedColumn {
  std::string name;
  std::vector<std::string> categories = {};  // empty: numeric; otherwise the row's number is an index into them
};

struct GeneratedRow {
  std::vector<float> numbers;
  int label = 0;
};

class Generator {
 public:
  virtual ~Generator() = default;

  [[nodiscard]] virtual const std::vector<GeneratedColumn>& columns() const = 0;
  [[nodiscard]] virtual const std::vector<std::string>& classes() const = 0;

  // The number (1, 2, …) of the concept that row i is drawn from.
  [[nodiscard]] virtual std::int64_t concept_of(std::int64_t i) const = 0;

  // Overwrites `out`. Labels follow from the numbers as they are rounded here, so that a row judges itself.
  virtual void row(std::int64_t i, GeneratedRow& out) = 0;
};

// Throw a ConfigError that names the option.
[[nodiscard]] std::unique_ptr<Generator> make_generator(const SeaOptions& options);
[[nodiscard]] std::unique_ptr<Generator> make_generator(const HyperplaneOptions& options);
[[nodiscard]] std::unique_ptr<Generator> make_generator(const RandomRbfOptions& options);
[[nodiscard]] std::unique_ptr<Generator> make_generator(const LedOptions& options);
[[nodiscard]] std::unique_ptr<Generator> make_generator(const AgrawalOptions& options);

using GeneratorOptions = std::variant<SeaOptions, HyperplaneOptions, RandomRbfOptions, LedOptions, AgrawalOptions>;

[[nodiscard]] inline std::unique_ptr<Generator> make_generator(const GeneratorOptions& options) {
  return std::visit([](const auto& o) { return make_generator(o); }, options);
}

// The default options of every generator, in the order of the documentation; each has a name, a summary and a citation.
[[nodiscard]] const std::vector<GeneratorOptions>& generators();
[[nodiscard]] std::optional<GeneratorOptions> generator_named(std::string_view name);

// Rows first, …, first + rows − 1 under a header, with the class in the last column, `class`. Numbers have the fewest
// digits that read back the same. Throws an Error if the stream cannot be written.
void write_csv(Generator& generator, std::int64_t first, std::int64_t rows, std::ostream& out);

}  // namespace obolus
