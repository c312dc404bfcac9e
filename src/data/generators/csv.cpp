#include "data/generators/csv.hpp"

#include <ostream>

#include "data/append_format.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {

std::string csv_head(const Generator& generator) {
  std::string line;
  for (const GeneratedColumn& c : generator.columns()) line.append(c.name) += ',';
  return line + "class\n";
}

void append_csv(const Generator& generator, const GeneratedRow& row, std::string& to) {
  const auto& columns = generator.columns();
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j].categories.empty()) append_format(to, "{},", row.numbers[j]);
    else to.append(columns[j].categories[to_size(row.numbers[j])]) += ',';
  }
}

void write_csv(Generator& generator, std::int64_t first, std::int64_t rows, std::ostream& out) {
  std::string line = csv_head(generator);
  GeneratedRow row;
  for (std::int64_t i = first;; ++i) {
    out.write(line.data(), static_cast<std::streamsize>(line.size()));
    if (!out) throw Error("generated rows: cannot write");
    if (i == first + rows) return;
    line.clear();
    generator.row(i, row);
    append_csv(generator, row, line);
    line.append(generator.classes()[to_size(row.label)]) += '\n';
  }
}

}  // namespace obolus
