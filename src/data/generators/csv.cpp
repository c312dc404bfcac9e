#include <fmt/format.h>

#include <iterator>
#include <ostream>

#include "obolus/core/error.hpp"
#include "obolus/data/generators.hpp"

namespace obolus {

void write_csv(Generator& generator, std::int64_t first, std::int64_t rows, std::ostream& out) {
  const auto& columns = generator.columns();
  fmt::memory_buffer line;
  for (const GeneratedColumn& c : columns) fmt::format_to(std::back_inserter(line), "{},", c.name);
  fmt::format_to(std::back_inserter(line), "class\n");
  GeneratedRow row;
  for (std::int64_t i = first;; ++i) {
    out.write(line.data(), static_cast<std::streamsize>(line.size()));
    if (!out) throw Error("generated rows: the output takes no more");
    if (i == first + rows) return;
    line.clear();
    generator.row(i, row);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      if (columns[j].categories.empty()) fmt::format_to(std::back_inserter(line), "{},", row.numbers[j]);
      else
        fmt::format_to(std::back_inserter(line), "{},",
                       columns[j].categories[static_cast<std::size_t>(row.numbers[j])]);
    }
    fmt::format_to(std::back_inserter(line), "{}\n", generator.classes()[static_cast<std::size_t>(row.label)]);
  }
}

}  // namespace obolus
