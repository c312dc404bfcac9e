#include "report/curve_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "obolus/core/error.hpp"
#include "obolus/core/nearest.hpp"

namespace obolus {
namespace {

bool same_curve(const CurveGroup& group, const Series& s) {
  const Series& first = *group.seeds.front();
  // The same seed twice is not a second sample.
  const auto has_seed = [&](const Series* other) { return other->seed == s.seed; };
  return first.stream == s.stream && first.label == s.label && first.setting == s.setting &&
         first.seedless_key == s.seedless_key && std::none_of(group.seeds.begin(), group.seeds.end(), has_seed);
}

std::string by_folder(const CurveGroup& group, bool whole_path) {
  const Series& s = *group.seeds.front();
  const std::string folder = whole_path ? s.folder : std::filesystem::canonical(s.folder).filename().string();
  if (s.comparison) return folder + ": " + s.label;
  return group.seeds.size() > 1 ? fmt::format("{} and {} more", folder, group.seeds.size() - 1) : folder;
}

// Renames all whose label another of the same stream has too.
template <class Rename>
void resolve(std::vector<CurveGroup>& groups, const Rename& rename) {
  std::vector<bool> clashes(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (std::size_t j = 0; j < groups.size(); ++j)
      if (i != j && groups[i].stream() == groups[j].stream() && groups[i].label == groups[j].label) clashes[i] = true;
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (clashes[i]) groups[i].label = rename(groups[i]);
}

Round last_round(const Series& s) {
  Round last = 0;
  for (const Series::Measure& m : s.measures)
    if (!m.points.empty()) last = std::max(last, m.points.back().t);
  return last;
}

}  // namespace

std::vector<CurveGroup> curve_groups(const std::vector<Series>& series) {
  std::vector<CurveGroup> groups;
  for (const Series& s : series) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const CurveGroup& g) { return same_curve(g, s); });
    if (group == groups.end()) group = groups.insert(group, {s.label, s.label, {}});
    group->seeds.push_back(&s);
  }
  resolve(groups, [](const CurveGroup& g) { return by_folder(g, false); });
  resolve(groups, [](const CurveGroup& g) { return by_folder(g, true); });
  return groups;
}

std::vector<CurveGroup> only(std::vector<CurveGroup> groups, const std::vector<std::string>& labels) {
  if (labels.empty()) return groups;
  std::vector<std::string> there;
  for (const CurveGroup& g : groups)
    if (std::find(there.begin(), there.end(), g.label) == there.end()) there.push_back(g.label);
  for (const std::string& wanted : labels)
    if (std::none_of(groups.begin(), groups.end(),
                     [&](const auto& g) { return g.label == wanted || g.name == wanted; }))
      throw ConfigError(fmt::format("--only '{}': no curve has this label{}", wanted, suggestion(wanted, there)));
  std::erase_if(groups, [&](const CurveGroup& g) {
    return std::none_of(labels.begin(), labels.end(), [&](const auto& l) { return g.label == l || g.name == l; });
  });
  return groups;
}

std::vector<std::string> unequal_lengths(const std::vector<CurveGroup>& groups) {
  std::vector<std::string> lines;
  for (const CurveGroup& g : groups) {
    const auto by_length = [](const Series* a, const Series* b) { return last_round(*a) < last_round(*b); };
    const auto [min, max] = std::minmax_element(g.seeds.begin(), g.seeds.end(), by_length);
    if (last_round(**min) < last_round(**max))
      lines.push_back(fmt::format(
          "{}: {}: seed {} ends at round {}, seed {} at {}; means are drawn only where all seeds have a number",
          g.stream(), g.label, (*min)->seed, last_round(**min), (*max)->seed, last_round(**max)));
  }
  return lines;
}

}  // namespace obolus
