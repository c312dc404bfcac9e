// "Did you mean …?": the valid name nearest to a wrong one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace obolus {

// Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

// Capitals, hyphens and spaces are the commonest slips: they count for nothing.
[[nodiscard]] inline std::string folded(std::string_view word) {
  std::string out;
  for (const char c : word) {
    if (c == '-' || c == ' ') out += '_';
    else out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

// " (did you mean 'alpha'?)", or the list of valid names when none is near.
[[nodiscard]] inline std::string suggestion(std::string_view wrong, const std::vector<std::string>& valid) {
  const auto distance = [&](const std::string& name) { return edit_distance(folded(wrong), folded(name)); };
  const auto nearest = std::min_element(valid.begin(), valid.end(),
                                        [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  if (nearest != valid.end() && distance(*nearest) <= std::max<std::size_t>(2, wrong.size() / 3))
    return " (did you mean '" + *nearest + "'?)";
  std::string list;
  for (const std::string& name : valid) list += (list.empty() ? "" : ", ") + name;
  return " (valid: " + list + ")";
}

}  // namespace obolus
