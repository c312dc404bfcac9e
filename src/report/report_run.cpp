#include "report/report_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {

void ReportColumns::put(std::string_view name, double value) {
  auto column = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
  if (column == columns_.end() && columns_.size() == max)
    throw DataError(fmt::format("got more than {} names of numbers in one run", max));
  if (column == columns_.end()) column = columns_.insert(column, {std::string(name), {}});
  column->values.resize(rows_ - 1, std::numeric_limits<double>::quiet_NaN());
  column->values.push_back(value);
}

void ReportColumns::keep_rows(const std::vector<bool>& kept) {
  for (Column& c : columns_) {
    std::size_t to = 0;
    for (std::size_t i = 0; i < c.values.size(); ++i)
      if (kept[i]) c.values[to++] = c.values[i];
    c.values.resize(to);
  }
  rows_ = to_size(std::count(kept.begin(), kept.end(), true));
}

std::vector<ReportColumns::Column> ReportColumns::take() && {
  for (Column& c : columns_) c.values.resize(rows_, std::numeric_limits<double>::quiet_NaN());
  return std::move(columns_);
}

}  // namespace obolus
