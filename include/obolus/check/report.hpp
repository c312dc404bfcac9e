// What a checker found: one finding per property, at the place where it fared worst.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace obolus {

struct Finding {
  std::string what;
  bool ok = true;
  double error = 0.0;
  double tolerance = 0.0;
  std::string where;
};

struct CheckReport {
  std::vector<Finding> findings;

  [[nodiscard]] bool ok() const {
    return std::all_of(findings.begin(), findings.end(), [](const Finding& f) { return f.ok; });
  }

  [[nodiscard]] const Finding* find(std::string_view what) const&& = delete;  // it would dangle
  [[nodiscard]] const Finding* find(std::string_view what) const& {
    const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.what == what; });
    return found == findings.end() ? nullptr : &*found;
  }

  // Holds where error ≤ tolerance; a NaN never does. Only the worst record of a property is kept.
  void record(std::string_view what, double error, double tolerance, std::string where) {
    Finding next{std::string(what), error <= tolerance, error, tolerance, std::move(where)};
    const auto same = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.what == what; });
    if (same == findings.end()) findings.push_back(std::move(next));
    else if (badness(next) > badness(*same)) *same = std::move(next);
  }

 private:
  static double badness(const Finding& f) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (f.ok) return f.error > 0.0 ? f.error / f.tolerance : 0.0;
    const double ratio = f.error / f.tolerance;
    return std::isnan(ratio) ? infinity : std::max(ratio, 1.0 + 1e-12);
  }
};

}  // namespace obolus
