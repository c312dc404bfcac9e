// From a comparison's config to the config of each of its runs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "config/document.hpp"
#include "config/section_reader.hpp"
#include "registry/registry.hpp"
#include "run/comparison_plan.hpp"

namespace obolus {
namespace {

toml::table& section(toml::table& root, std::string_view name) {
  return *root.insert(name, toml::table{}).first->second.as_table();
}

void move_keys(toml::table& from, toml::table& to) {
  for (auto&& [key, node] : from) to.insert_or_assign(key, std::move(node));
}

// Bytes before a place in the text: columns count code points.
std::size_t offset_of(const std::string& text, const toml::source_position& place) {
  std::size_t at = 0;
  for (toml::source_index line = 1; line < place.line; ++line) at = text.find('\n', at) + 1;
  for (toml::source_index column = 1; column < place.column && at < text.size(); ++column) do
      ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

// The options of a problem that are paths.
std::vector<std::string> path_keys(const std::string& problem) {
  std::vector<std::string> keys;
  for (const OptionListing& option : registry::problem(problem).options())
    if (option.type == config::type_text<FilePath>()) keys.push_back(option.name);
  return keys;
}

}  // namespace

std::vector<ComparisonPlan::Cell> ComparisonPlan::cells() const {
  std::vector<Cell> all;
  for (std::size_t s = 0; s < streams.size(); ++s)
    for (std::size_t e = 0; e < entries.size(); ++e) {
      if (!std::binary_search(entries[e].streams.begin(), entries[e].streams.end(), s)) continue;
      for (std::size_t i = 0; i < entries[e].settings.size(); ++i)
        for (std::size_t k = 0; k < seeds.size(); ++k) all.push_back({s, e, i, k});
    }
  return all;
}

ComparisonPlan::Cell ComparisonPlan::first_on(std::size_t stream) const {
  std::size_t e = 0;
  while (!std::binary_search(entries[e].streams.begin(), entries[e].streams.end(), stream)) ++e;
  return {.stream = stream, .entry = e};
}

std::string ComparisonPlan::name_of(const Cell& cell) const {
  const Entry& entry = entries[cell.entry];
  const std::string& setting = entry.settings[cell.setting].text;
  return fmt::format("optimiser '{}'{} on stream '{}'", entry.label, setting.empty() ? "" : " with " + setting,
                     streams[cell.stream].name);
}

toml::table ComparisonPlan::root(const Cell& cell, Round rounds) const {
  toml::table parsed = config::parse(text, source), result;  // parsed again: copied nodes lose their places
  for (const char* name : run_sections)
    if (toml::node* node = parsed.get(name)) result.insert_or_assign(name, std::move(*node));
  toml::table& problem = section(result, "problem");
  for (const std::string& key : streams[cell.stream].dropped) problem.erase(key);
  if (toml::node* list = parsed.get("stream")) {
    for (auto&& [key, node] : *list->as_array()->get(cell.stream)->as_table()) {
      if (key == "name") continue;
      // Bounds belong to their set.
      if (key == "domain" && node.as_table()->contains("set")) result.erase("domain");
      move_keys(*node.as_table(), section(result, key));
    }
  }
  problem.insert_or_assign("rounds", rounds);
  problem.insert_or_assign("seed", seeds[cell.seed]);

  const Entry& entry = entries[cell.entry];
  toml::table& optimiser = section(result, "optimiser");
  for (const std::string& key : entry.shared)
    optimiser.insert_or_assign(key, std::move(*parsed.get("shared")->as_table()->get(key)));
  move_keys(*parsed.get("optimiser")->as_array()->get(cell.entry)->as_table(), optimiser);
  for (const char* name : {"start", "domain"}) {
    if (toml::node* own = optimiser.get(name)) {
      if (own->as_table()->contains("set")) result.erase(name);
      move_keys(*own->as_table(), section(result, name));
    }
    optimiser.erase(name);
  }
  optimiser.erase("label");
  optimiser.erase("streams");
  for (const Choice& choice : entry.settings[cell.setting].choices) {
    toml::array list = std::move(*optimiser.get(choice.key)->as_array());
    optimiser.insert_or_assign(choice.key, std::move(*list.get(choice.index)));
  }
  return result;
}

std::string ComparisonPlan::portable_text() const {
  const toml::table root = config::parse(text, source);
  std::vector<const toml::node*> paths;
  const auto take = [&](const toml::table& from, const std::string& problem) {
    const toml::node* own = from.get("problem");
    if (!own) return;
    for (const std::string& key : path_keys(problem))
      if (const toml::node* path = own->as_table()->get(key); path && path->is_string()) paths.push_back(path);
  };
  for (std::size_t i = 0; i < streams.size(); ++i) {
    take(root, streams[i].problem);
    if (const toml::array* list = root["stream"].as_array()) take(*list->get(i)->as_table(), streams[i].problem);
  }
  // From the end, so that earlier places stay where they are; [problem] is in the list once per stream.
  std::sort(paths.begin(), paths.end(),
            [](const auto* a, const auto* b) { return b->source().begin < a->source().begin; });
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::string result = text;
  for (const toml::node* node : paths) {
    const auto given = *node->value_exact<std::string>();
    if (given.empty()) continue;
    const std::size_t begin = offset_of(text, node->source().begin), end = offset_of(text, node->source().end);
    const auto path = std::filesystem::absolute(std::filesystem::path(folder) / given).lexically_normal();
    result.replace(begin, end - begin, config::quoted_text(path.string()));
  }
  return result;
}

}  // namespace obolus
