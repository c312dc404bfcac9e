#include "problems/softmax_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/data/rows.hpp"

namespace obolus {
namespace {

constexpr std::size_t max_entries = std::size_t{1} << 30;

using Entries = std::vector<std::pair<std::int32_t, float>>;

class Gatherer {
 public:
  explicit Gatherer(const std::string& path) : reader_(read_rows(file_bytes(path), path)) {
    std::size_t entries = 0;
    for (DataRow row; reader_->next(row);) {
      if (row.label.empty()) continue;
      entries += row.features.size();
      if (entries > max_entries)
        throw DataError(
            fmt::format("{}: got more than {} values, expected fewer: all rows are kept in memory", path, max_entries));
      add(row);
    }
    if (labels_.size() < 2)
      throw DataError(fmt::format("{}: got {} classes, expected at least 2", path, labels_.size()));
    standardise();
  }

  [[nodiscard]] LabelledRows take() && {
    constexpr std::size_t every = 10;
    LabelledRows out;
    out.classes = static_cast<Index>(labels_.size());
    out.train.columns = out.test.columns = static_cast<Index>(column_of_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const bool test = i % every == every - 1;
      append(rows_[i], test ? out.test : out.train);
      (test ? out.test_label : out.train_label).push_back(label_[i]);
    }
    return out;
  }

 private:
  void add(const DataRow& row) {
    const bool columns = !reader_->index_base().has_value();
    Entries& to = rows_.emplace_back();
    for (const RowFeature& f : row.features) {
      const auto column = column_of_.try_emplace(f.key, static_cast<std::int32_t>(column_of_.size())).first->second;
      to.emplace_back(column, f.value);
      if (columns && f.key == f.group) sums_[column].add(static_cast<double>(f.value));
    }
    label_.push_back(labels_.try_emplace(row.label, static_cast<std::int32_t>(labels_.size())).first->second);
  }

  void standardise() {
    for (Entries& row : rows_)
      for (auto& [column, value] : row)
        if (const auto i = sums_.find(column); i != sums_.end()) value = i->second.standard(static_cast<double>(value));
  }

  // Values of a feature that occurs twice add up.
  static void append(Entries& row, SparseRows& to) {
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto begin = to_size(to.start.back());
    for (const auto& [column, value] : row) {
      if (to.column.size() > begin && to.column.back() == column) to.value.back() += value;
      else {
        to.column.push_back(column);
        to.value.push_back(value);
      }
    }
    to.start.push_back(static_cast<std::int64_t>(to.column.size()));
  }

  struct Sums {
    double rows = 0, mean = 0, squares = 0;
    void add(double value) {
      const double off = value - mean;
      mean += off / (rows += 1);
      squares += off * (value - mean);
    }
    [[nodiscard]] float standard(double value) const {
      const double deviation = std::sqrt(squares / rows);
      return deviation > 0 ? static_cast<float>((value - mean) / deviation) : 0.0f;
    }
  };

  std::unique_ptr<RowReader> reader_;
  std::unordered_map<std::uint64_t, std::int32_t> column_of_;
  std::unordered_map<std::int32_t, Sums> sums_;
  std::map<std::string, std::int32_t> labels_;
  std::vector<Entries> rows_;
  std::vector<std::int32_t> label_;
};

}  // namespace

LabelledRows rows_of_file(const std::string& path) {
  if (path.empty()) throw ConfigError("problem.rows: got no file, expected one for data = \"rows\"");
  return Gatherer(path).take();
}

}  // namespace obolus
