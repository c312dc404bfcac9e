#include "data/rows/line_rows.hpp"

#include <fmt/format.h>

#include "data/rows/number_text.hpp"
#include "data/rows/row_hash.hpp"

namespace obolus {

std::uint64_t row_key(std::string_view group, std::string_view feature) { return row_hash(feature, group_seed(group)); }

bool LineRows::next(DataRow& row) {
  while (true) {
    row.label.clear();
    row.tag.clear();
    row.weight = 1;
    row.features.clear();
    try {
      return read(row);
    } catch (const BadRow& bad) {
      bad_.skip(bad);
    }
  }
}

std::string LineRows::place() const { return fmt::format("{}:{}", lines_->name(), line_); }

bool LineRows::next_line(std::string_view& line) {
  if (!lines_->next(line)) return false;
  line_ = lines_->number();
  return true;
}

void LineRows::follow(LineRows& before) {
  if (!can_follow(before))
    throw DataError(fmt::format("{}: got {}, expected {} as in {}: files read as one have one format", lines_->name(),
                                format().title, before.format().title, before.lines_->name()));
  take_over(before);
}

float LineRows::value_of(Word word) const {
  const NumberText number = float_of(word.text);
  if (number.fault != NumberFault::none) refuse(word.column, shown(word.text), expectation(number.fault));
  return static_cast<float>(number.value);
}

double LineRows::weight_of(Word word) const {
  const NumberText number = float_of(word.text);
  if (number.fault != NumberFault::none || number.value < 0)
    refuse(word.column, shown(word.text), "a weight, 0 or more");
  return number.value;
}

}  // namespace obolus
