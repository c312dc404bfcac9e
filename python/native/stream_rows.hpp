// Rows of arrays as `obolus fit` takes them.
#pragma once

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "arrays.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/error.hpp"
#include "obolus/data/rows.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus::python {

template <class T>
using Matrix2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Numbers1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A column of a table: numbers (NaN: missing), or categories, a code per row (negative: missing) and their keys. What
// is missing is a feature of its own, but for columns that are known to hold categories.
struct TableColumn {
  bool used = true;  // else the model does not know it, and rows are only predicted
  std::uint32_t group = 0;
  std::uint64_t missing = 0;      // its key
  std::size_t category_from = 0;  // the row with the column's first text; 0 also if that came before
  const double* numbers = nullptr;
  std::size_t stride = 0;
  nb::object owner = {};  // of the codes
  const std::int64_t* codes = nullptr;
  std::vector<std::uint64_t> keys = {};

  void put(std::size_t i, DataRow& row) const {
    if (!used) return;
    if (codes && codes[i] >= 0) {
      row.features.push_back({group, keys[static_cast<std::size_t>(codes[i])], 1});
    } else if (numbers && !std::isnan(numbers[i * stride])) {
      row.features.push_back({group, group, static_cast<float>(numbers[i * stride])});
    } else if (i < category_from) {
      row.features.push_back({group, missing, 1});
    }
  }
};

// Labels of rows: numbers into a list of texts, or numbers themselves. None: rows are only predicted.
struct Labels {
  std::optional<Numbers1<std::int64_t>> codes;
  std::vector<std::string> texts;
  std::optional<Numbers1<double>> numbers;
  std::optional<Numbers1<double>> weights;

  Labels(const nb::object& codes_given, std::vector<std::string> texts_given, const nb::object& targets,
         const nb::object& weights_given, std::size_t rows)
      : texts(std::move(texts_given)) {
    if (!codes_given.is_none()) codes = nb::cast<Numbers1<std::int64_t>>(codes_given);
    if (!targets.is_none()) numbers = nb::cast<Numbers1<double>>(targets);
    if (!weights_given.is_none()) weights = nb::cast<Numbers1<double>>(weights_given);
    const auto require = [&](const auto& array, const char* what) {
      if (array && array->size() != rows)
        throw ConfigError(fmt::format("{}: got {} of them, expected {}: one per row", what, array->size(), rows));
    };
    require(codes, "labels");
    require(numbers, "labels");
    require(weights, "weights");
    for (std::size_t i = 0; codes && i < rows; ++i)
      if (codes->data()[i] < 0 || codes->data()[i] >= static_cast<std::int64_t>(texts.size()))
        throw ConfigError("labels: got a code without a text");
  }

  void put(std::size_t i, DataRow& row) const {
    if (codes) row.label = texts[static_cast<std::size_t>(codes->data()[i])];
    else if (numbers) row.label = fmt::format("{}", numbers->data()[i]);
    else row.label.clear();
    row.weight = weights ? weights->data()[i] : 1.0;
  }
};

// The columns of a learner by name, as dicts and tables have them.
class StreamColumns {
 public:
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  // Columns have names; indices of sparse rows have none.
  void take(const Fit& fit) {
    names_.clear();
    number_.clear();
    is_category_.clear();
    const std::vector<std::string> numeric = fit.columns(true);
    if (numeric.empty() && fit.columns(false).empty()) return;
    for (const std::string& name : fit.groups()) (void)group(name, true);
    for (const std::string& name : fit.columns(false)) is_category_[number_.at(name)] = true;
  }

  // After take().
  void fields(Archive& a) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      bool category = is_category_[i];
      a("category", category);
      is_category_[i] = category;
    }
  }

  void put(const std::string& name, nb::handle value, bool learn, DataRow& row) {
    const std::int64_t found = group(name, learn);
    if (found < 0) return;
    const auto at = static_cast<std::uint32_t>(found);
    double number = std::numeric_limits<double>::quiet_NaN();
    bool is_text = nb::isinstance<nb::str>(value);
    if (!is_text && !value.is_none()) {
      number = PyFloat_AsDouble(value.ptr());
      if (PyErr_Occurred()) {
        PyErr_Clear();
        is_text = true;
      }
    }
    if (is_text) {
      row.features.push_back({at, row_key(name, nb::cast<std::string>(nb::str(value))), 1});
      if (learn) is_category_[at] = true;
    } else if (!std::isnan(number)) {
      row.features.push_back({at, at, static_cast<float>(number)});
    } else if (!is_category_[at]) {
      row.features.push_back({at, row_key(name, "missing"), 1});
    }
  }

  std::vector<TableColumn> read(const Matrix2<double>& numbers, const nb::list& columns, bool learn, bool in_turn) {
    std::vector<TableColumn> read;
    std::size_t numeric = 0;
    const std::size_t rows = numbers.shape(0);
    for (nb::handle entry : columns) {
      const auto tuple = nb::cast<nb::tuple>(entry);
      const auto name = nb::cast<std::string>(tuple[0]);
      TableColumn c;
      const std::int64_t found = group(name, learn);
      c.used = found >= 0;
      c.group = static_cast<std::uint32_t>(std::max<std::int64_t>(found, 0));
      c.missing = row_key(name, "missing");
      c.category_from = c.used && is_category_[c.group] ? 0 : rows;
      if (tuple.size() == 1) {
        if (numeric == numbers.shape(1)) throw ConfigError("table: got more names than columns of numbers");
        c.numbers = numbers.data() + numeric++;
        c.stride = numbers.shape(1);
      } else {
        take_codes(tuple, name, rows, learn, in_turn, c);
      }
      read.push_back(std::move(c));
    }
    if (numeric != numbers.shape(1)) throw ConfigError("table: got fewer names than columns of numbers");
    return read;
  }

 private:
  // The number of a column, new ones while learning; −1: not known.
  std::int64_t group(const std::string& name, bool learn) {
    const auto at = number_.find(name);
    if (at != number_.end()) return at->second;
    if (!learn) return -1;
    const auto next = static_cast<std::uint32_t>(names_.size());
    number_.emplace(name, next);
    names_.push_back(name);
    is_category_.push_back(false);
    return next;
  }

  void take_codes(const nb::tuple& column, const std::string& name, std::size_t rows, bool learn, bool in_turn,
                  TableColumn& c) {
    const auto codes = nb::cast<Numbers1<std::int64_t>>(column[1]);
    if (codes.size() != rows) throw ConfigError("table: columns differ in length");
    c.owner = column[1];
    c.codes = codes.data();
    for (const auto& text : nb::cast<std::vector<std::string>>(column[2])) c.keys.push_back(row_key(name, text));
    std::size_t first = rows;
    for (std::size_t i = rows; i-- > 0;) {
      if (c.codes[i] >= static_cast<std::int64_t>(c.keys.size()))
        throw ConfigError(fmt::format("{}: got a code without a text", name));
      if (c.codes[i] >= 0) first = i;
    }
    c.category_from = in_turn ? std::min(c.category_from, learn ? first : rows) : 0;
    if (learn && c.used && (!in_turn || first < rows)) is_category_[c.group] = true;
  }

  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> number_;
  std::vector<bool> is_category_;  // has had texts
};

}  // namespace obolus::python
