// Which classes are taken for which.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "obolus/metrics/class_metrics.hpp"

namespace obolus {

// Weights of rows by their true class and the predicted one. If more than `max` classes occur, the rarest share the
// last place.
struct Confusion {
  std::vector<std::int32_t> classes;         // those with a place of their own, in increasing order
  std::int64_t folded = 0;                   // classes in one more place, the last
  std::vector<std::vector<double>> weights;  // by the place of the truth, then by that of the prediction
  std::vector<double> unpredicted;           // by the place of the truth: by a model that knew no class

  // Of the rows in a window.
  [[nodiscard]] static Confusion of(const WindowedClassMetrics& window, std::size_t max = 20) {
    std::map<std::pair<std::int32_t, std::int32_t>, double> cells;
    std::map<std::int32_t, std::pair<double, double>> totals;  // as truth, as prediction
    window.each([&](const JudgedClass& row) {
      if (row.weight == 0) return;
      cells[{row.truth, row.predicted}] += row.weight;
      totals[row.truth].first += row.weight;
      if (row.predicted != JudgedClass::no_class) totals[row.predicted].second += row.weight;
    });
    Confusion result;
    result.choose(totals, max);
    const std::size_t places = result.classes.size() + (result.folded > 0 ? 1 : 0);
    result.weights.assign(places, std::vector<double>(places));
    result.unpredicted.assign(places, 0.0);
    for (const auto& [cell, weight] : cells) {
      const std::size_t truth = result.place(cell.first);
      if (cell.second == JudgedClass::no_class) result.unpredicted[truth] += weight;
      else result.weights[truth][result.place(cell.second)] += weight;
    }
    return result;
  }

 private:
  void choose(const std::map<std::int32_t, std::pair<double, double>>& totals, std::size_t max) {
    using Ranked = std::tuple<double, double, std::int32_t>;
    std::vector<Ranked> ranked;
    for (const auto& [number, of] : totals) ranked.emplace_back(-of.first, -of.second, number);
    std::ranges::sort(ranked);
    const std::size_t kept = ranked.size() > max ? max - 1 : ranked.size();
    folded = static_cast<std::int64_t>(ranked.size() - kept);
    for (std::size_t i = 0; i < kept; ++i) classes.push_back(std::get<2>(ranked[i]));
    std::ranges::sort(classes);
  }
  [[nodiscard]] std::size_t place(std::int32_t number) const {
    const auto found = std::ranges::lower_bound(classes, number);
    return found != classes.end() && *found == number ? to_size(found - classes.begin()) : classes.size();
  }
};

}  // namespace obolus
