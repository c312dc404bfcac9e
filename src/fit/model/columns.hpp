// Groups of features by name, and the numeric columns among them, standardised on the fly: (value − mean)/deviation
// over the rows so far, the row itself included, within ±10.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fit/model/saved_vectors.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/data/rows.hpp"

namespace obolus::fit {

// A column of a row as it is known here.
struct KnownColumn {
  std::int32_t number = -1;  // −1: not yet
  std::uint64_t key = 0;     // of its values, if it is numeric
};

class Columns {
 public:
  static constexpr std::size_t max = 1 << 20;

  // Maps the reader's g-th group to ours; new names are added. Names that do not extend those before are another
  // reader's.
  void set_groups(std::span<const std::string> names) {
    if (!extends(names)) of_reader_.clear();
    for (std::size_t g = of_reader_.size(); g < names.size(); ++g) {
      const auto [i, is_new] = number_.try_emplace(names[g], static_cast<std::int32_t>(list_.size()));
      if (is_new) {
        list_.push_back({names[g], row_key(names[g], ""), 0, 0, 0});
        names_.push_back(names[g]);
      }
      if (list_.size() > max) throw DataError("got more than 2^20 columns or namespaces, expected fewer");
      of_reader_.push_back({i->second, list_[to_size(i->second)].key});
    }
  }
  [[nodiscard]] std::span<const KnownColumn> of_reader() const { return of_reader_; }  // by its groups
  void forget_reader() { of_reader_.clear(); }                                         // another one follows
  // The guess at its number is often right.
  [[nodiscard]] KnownColumn find(const std::string& name, std::int32_t guess = -1) const {
    if (guess >= 0 && guess < std::ssize(list_) && list_[to_size(guess)].name == name)
      return {guess, list_[to_size(guess)].key};
    const auto i = number_.find(name);
    if (i == number_.end()) return {-1, row_key(name, "")};
    return {i->second, list_[to_size(i->second)].key};
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  void mark_number(std::int32_t group) { list_[to_size(group)].number = true; }
  [[nodiscard]] bool is_number(std::size_t group) const { return list_[group].number; }
  void see(std::int32_t group, double value) {
    Column& c = list_[to_size(group)];
    c.rows += 1;
    const double off = value - c.mean;
    c.mean += off / c.rows;
    c.squares += off * (value - c.mean);
  }
  [[nodiscard]] float standardised(std::int32_t group, double value) const {
    const Column& c = list_[to_size(group)];
    constexpr double max_deviations = 10;
    const double deviation = c.rows > 0 ? std::sqrt(c.squares / c.rows) : 0;
    if (!(deviation > 0) || !std::isfinite(deviation)) return 0;
    return static_cast<float>(std::clamp((value - c.mean) / deviation, -max_deviations, max_deviations));
  }

  void fields(Archive& a) {
    saved_list(a, "columns", list_, max);
    if (!a.loading()) return;
    names_.clear();
    number_.clear();
    of_reader_.clear();
    for (const Column& c : list_) {
      number_.emplace(c.name, static_cast<std::int32_t>(names_.size()));
      names_.push_back(c.name);
    }
    if (number_.size() != list_.size()) throw DataError("saved state: got a column twice, expected each once");
  }

 private:
  [[nodiscard]] bool extends(std::span<const std::string> names) const {
    for (std::size_t g = 0; g < of_reader_.size(); ++g)
      if (g >= names.size() || names_[to_size(of_reader_[g].number)] != names[g]) return false;
    return true;
  }
  struct Column {
    std::string name;
    std::uint64_t key = 0;
    double rows = 0, mean = 0, squares = 0;
    bool number = false;  // a numeric column
    void fields(Archive& a) {
      a("name", name);
      a("key", key);
      a("rows", rows);
      a("mean", mean);
      a("squares", squares);
      a("number", number);
    }
  };
  std::vector<Column> list_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> number_;
  std::vector<KnownColumn> of_reader_;
};

}  // namespace obolus::fit
