#include "run/comparison_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "config/document.hpp"
#include "config/sections.hpp"
#include "config/toml.hpp"
#include "obolus/core/to_size.hpp"
#include "registry/registry.hpp"

namespace obolus {
namespace {

constexpr std::size_t max_runs = 100'000;

template <class T>
bool contains(const std::vector<T>& list, const T& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

[[noreturn]] void fail(const toml::node& node, const std::string& what, const std::string& got,
                       const std::string& expected) {
  throw ConfigError(fmt::format("{}: {}: got {}, expected {}", config::place_of(node), what, got, expected));
}

const toml::table& as_section(const toml::node& node, const std::string& name) {
  if (!node.is_table()) fail(node, name, config::text_of(node), "a section");
  return *node.as_table();
}

// The text of a key. A key that is not given is `otherwise`; without one it is required.
std::string text_key(const toml::table& table, const std::string& what, const char* key, const std::string& otherwise) {
  const toml::node* node = table.get(key);
  if (!node && otherwise.empty())
    throw ConfigError(fmt::format("{}: {} {}: not given, expected text", config::place_of(table), what, key));
  if (!node) return otherwise;
  const auto text = node->value_exact<std::string>();
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (text && std::any_of(text->begin(), text->end(), control))
    fail(*node, fmt::format("{} {}", what, key), config::text_of(*node), "text without control characters");
  if (!text || text->empty()) fail(*node, fmt::format("{} {}", what, key), config::text_of(*node), "text in quotes");
  return *text;
}

void take_names(std::vector<std::string>& names, const std::vector<OptionListing>& options) {
  for (const OptionListing& o : options)
    if (o.name != "name") names.push_back(o.name);
}

// Adds the place in the file to a registry's error about a name.
template <class Find>
const auto& at_place(const toml::table& table, const Find& find) {
  try {
    return find();
  } catch (const ConfigError& e) {
    const toml::node* name = table.get("name");
    throw ConfigError(fmt::format("{}: {}", config::place_of(name ? *name : table), e.what()));
  }
}

std::vector<std::string> optimiser_options(const registry::OptimiserEntry& entry) {
  std::vector<std::string> names{"L_g1"};  // a constant of the theory, whether or not the algorithm has it as an option
  take_names(names, registry::option_listing<config::OptimiserSection>());
  take_names(names, entry.options());
  return names;
}

std::vector<std::string> problem_options(const registry::ProblemEntry& entry) {
  std::vector<std::string> names{"name"};
  take_names(names, registry::option_listing<config::ProblemSection>());
  take_names(names, entry.options());
  return names;
}

std::string short_text(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto v = node.value_exact<double>()) return fmt::format("{}", *v);
  const toml::table* table = node.as_table();
  if (!table) return config::text_of(node);
  std::string text;
  for (const auto& [key, value] : *table)
    text += fmt::format("{}{}={}", text.empty() ? "{" : ",", key.str(), short_text(value));
  return text + "}";
}

using Grid = std::vector<std::pair<std::string, const toml::array*>>;

void require_grid(const std::string& what, const toml::node& node) {
  const toml::array& list = *node.as_array();
  if (list.empty()) fail(node, what, "an empty list", "a value, or a list of values to try");
  std::set<std::string> seen;
  for (const toml::node& value : list)
    if (!seen.insert(short_text(value)).second)
      fail(value, what, short_text(value) + " twice", "a list of different values");
}

std::vector<ComparisonPlan::Setting> settings_of(const Grid& grid, const std::string& label) {
  std::size_t total = 1;
  for (const auto& [key, list] : grid) {
    total *= list->size();
    if (total > max_runs)
      throw ConfigError(fmt::format("optimiser '{}': its lists make more than {} settings", label, max_runs));
  }
  std::vector<ComparisonPlan::Setting> settings(total);
  for (std::size_t i = 0; i < total; ++i) {
    std::size_t rest = i, block = total;
    for (const auto& [key, list] : grid) {
      block /= list->size();
      const std::size_t index = rest / block;
      rest %= block;
      settings[i].choices.push_back({key, index});
      settings[i].text += (settings[i].text.empty() ? "" : ", ") + key + "=" + short_text(*list->get(index));
    }
  }
  return settings;
}

// A list of seeds, or n for 1 … n.
std::vector<std::int64_t> seeds_from(Numbers given, const config::SectionReader& reader) {
  constexpr double exact = 9007199254740992.0;  // 2^53: larger whole numbers are not read exactly
  if (reader.has("seeds") && !given.list) {
    const double n = given.values.front();
    if (!(n >= 1 && n <= max_runs)) reader.reject("seeds", fmt::format("a list, or a number in [1, {}]", max_runs));
    given.values.clear();
    for (double i = 1; i <= n; ++i) given.values.push_back(i);
    if (given.values.back() != n) reader.reject("seeds", "a list, or a whole number of seeds");
  }
  std::set<double> seen;
  std::vector<std::int64_t> seeds;
  for (const double v : given.values) {
    if (!(v >= 0 && v <= exact) || v != std::floor(v) || !seen.insert(v).second)
      reader.reject("seeds", "different whole numbers ≥ 0");
    seeds.push_back(static_cast<std::int64_t>(v));
  }
  return seeds;
}

}  // namespace

ComparisonPlan::ComparisonPlan(const std::string& t, const std::string& s, const std::string& f)
    : text(t), source(s), folder(f) {
  const toml::table root = config::parse(text, source);
  config::refuse_unknown(root, "section [{}]",
                         {"compare", "problem", "start", "domain", "metrics", "shared", "stream", "optimiser"});
  for (const char* name : {"compare", "problem", "start", "domain", "metrics", "shared"})
    if (const toml::node* node = root.get(name)) as_section(*node, name);
  read_compare(root);
  read_streams(root);
  read_optimisers(root);
  for (std::size_t i = 0; i < streams.size(); ++i)
    if (std::none_of(entries.begin(), entries.end(), [&](const Entry& e) { return contains(e.streams, i); }))
      throw ConfigError(fmt::format("{}: stream '{}': no optimiser runs on it", source, streams[i].name));
  require_few();
}

void ComparisonPlan::read_compare(const toml::table& root) {
  config::ProblemSection problem;
  config::SectionReader problem_reader(root, "problem");
  problem.describe(problem_reader);
  Numbers seed_list(static_cast<double>(problem.seed)), horizon_list(static_cast<double>(problem.rounds));
  config::SectionReader reader(root, "compare");
  reader("seeds", seed_list, "");
  reader("horizons", horizon_list, "");
  reader("budget", costs.budget, "", Range::positive());
  reader("product_cost", costs.product, "", Range::at_least(0));
  reader("value_cost", costs.value, "", Range::at_least(0));
  read_ranking(root, reader);
  reader.finish();

  for (const auto& [key, list] : {std::pair{"rounds", "horizons"}, {"seed", "seeds"}})
    if (problem_reader.has(key) && reader.has(list))
      problem_reader.reject(key, fmt::format("{} in [compare] alone", list));
  seeds = seeds_from(seed_list, reader);
  for (const double v : horizon_list.values) {
    if (!(v >= 1 && v <= 1e15) || v != std::floor(v) ||
        (!horizons.empty() && v <= static_cast<double>(horizons.back())))
      reader.reject("horizons", "whole numbers ≥ 1 in increasing order");
    horizons.push_back(static_cast<Round>(v));
  }
}

void ComparisonPlan::read_ranking(const toml::table& root, config::SectionReader& reader) {
  reader("rank_by", ranking.by, "");
  reader("rank", ranking.rank, "");
  if (reader.has("rank_by") != reader.has("rank")) {
    if (reader.has("rank")) reader.reject("rank_by", "the name of what is ranked, since rank is given");
    reader.reject("rank", fmt::format("\"least\" or \"most\": which {} is the best?", ranking.by));
  }
  if (reader.has("rank_by")) rank_place = config::place_of(*root.at_path("compare.rank_by").node());
}

void ComparisonPlan::read_streams(const toml::table& root) {
  const toml::node* problem_node = root.get("problem");
  const toml::table* problem = problem_node ? problem_node->as_table() : nullptr;
  const toml::node* list = root.get("stream");
  if (!list) {
    config::ProblemSection only;
    config::SectionReader reader(root, "problem");
    only.describe(reader);
    if (only.name.empty()) reader.reject("name", "the name of a problem: see `obolus list problems`");
    streams.push_back({only.name, only.name, {}});
    return;
  }
  if (!list->is_array_of_tables()) fail(*list, "stream", config::text_of(*list), "[[stream]] entries");
  for (const toml::node& node : *list->as_array()) read_stream(*node.as_table(), problem);
  if (!problem) return;
  for (const auto& [key, node] : *problem)
    if (std::all_of(streams.begin(), streams.end(),
                    [&](const Stream& s) { return contains(s.dropped, std::string(key.str())); }))
      throw ConfigError(
          fmt::format("{}: no stream's problem has the key '{}' of [problem]", config::place_of(node), key.str()));
}

void ComparisonPlan::read_stream(const toml::table& table, const toml::table* shared_problem) {
  config::refuse_unknown(table, "key '{}' in [[stream]]", {"name", "problem", "start", "domain", "metrics"});
  Stream stream;
  stream.name = text_key(table, "stream", "name", "");
  for (const Stream& other : streams)
    if (other.name == stream.name)
      fail(*table.get("name"), "stream name", "'" + stream.name + "' twice", "names that differ");
  for (const char* name : ComparisonPlan::run_sections)
    if (const toml::node* node = table.get(name)) as_section(*node, name);
  const toml::node* node = table.get("problem");
  const toml::table empty, &problem = node ? *node->as_table() : empty;
  for (const auto& [key, where] : {std::pair{"rounds", "horizons"}, {"seed", "seeds"}})
    if (const toml::node* given = problem.get(key))
      fail(*given, fmt::format("stream '{}', problem.{}", stream.name, key), config::text_of(*given),
           fmt::format("{} in [compare], the same for all streams", where));
  const bool own = problem.contains("name");
  if (!own && !shared_problem)
    throw ConfigError(fmt::format("{}: stream '{}': its problem has no name, here or in [problem]",
                                  config::place_of(table), stream.name));
  const toml::table& named = own ? problem : *shared_problem;
  stream.problem = text_key(named, "problem", "name", "");
  if (own && shared_problem) {
    const auto valid =
        problem_options(at_place(named, [&]() -> const auto& { return registry::problem(stream.problem); }));
    for (const auto& [key, value] : *shared_problem)
      if (!contains(valid, std::string(key.str()))) stream.dropped.emplace_back(key.str());
  }
  streams.push_back(std::move(stream));
}

void ComparisonPlan::read_optimisers(const toml::table& root) {
  const toml::node* list = root.get("optimiser");
  if (!list) throw ConfigError(fmt::format("{}: [[optimiser]]: not given, expected one or more", source));
  if (!list->is_array_of_tables())
    fail(*list, "optimiser", "one section",
         "[[optimiser]] entries (in double brackets); for one run, see `obolus run`");
  const toml::node* node = root.get("shared");
  const toml::table* shared = node ? node->as_table() : nullptr;
  for (const toml::node& entry : *list->as_array()) read_optimiser(*entry.as_table(), shared);
  if (!shared) return;
  std::set<std::string> known;  // of all optimisers: removing the only one that uses an option is not an error
  for (const Listing& any : list_optimisers())
    for (std::string& name : optimiser_options(registry::optimiser(any.name))) known.insert(std::move(name));
  config::refuse_unknown(*shared, "key '{}' in [shared]", {known.begin(), known.end()});
}

void ComparisonPlan::read_optimiser(const toml::table& table, const toml::table* shared) {
  Entry entry;
  entry.name = text_key(table, "optimiser", "name", "");
  entry.label = text_key(table, "optimiser", "label", entry.name);
  for (const Entry& other : entries)
    if (other.label == entry.label)
      fail(table, "optimiser label", "'" + entry.label + "' twice",
           "labels that differ: give one of them a label = \"…\"");
  const auto valid =
      optimiser_options(at_place(table, [&]() -> const auto& { return registry::optimiser(entry.name); }));
  Grid grid;
  const auto take = [&](const toml::key& key, const toml::node& node, const char* where) {
    if (!node.is_array()) return;
    require_grid(fmt::format("{}.{}", where, key.str()), node);
    grid.emplace_back(key.str(), node.as_array());
  };
  for (const auto& [key, node] : table)
    if (key != "label" && key != "streams" && key != "start" && key != "domain") take(key, node, "optimiser");
  for (const char* section : {"start", "domain"})
    if (const toml::node* own = table.get(section)) as_section(*own, fmt::format("optimiser {}", section));
  if (shared)
    for (const auto& [key, node] : *shared) {
      if (table.contains(key) || !contains(valid, std::string(key.str()))) continue;
      entry.shared.emplace_back(key.str());
      take(key, node, "shared");
    }
  std::sort(grid.begin(), grid.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  entry.settings = settings_of(grid, entry.label);
  entry.streams = streams_of(table);
  entries.push_back(std::move(entry));
}

// The streams that an entry names, or all.
std::vector<std::size_t> ComparisonPlan::streams_of(const toml::table& table) const {
  std::vector<std::string> names;
  for (const Stream& s : streams) names.push_back(s.name);
  std::vector<std::size_t> chosen;
  const toml::node* given = table.get("streams");
  if (given && !given->is_array()) fail(*given, "optimiser streams", config::text_of(*given), "a list of streams");
  for (std::size_t i = 0; !given && i < streams.size(); ++i) chosen.push_back(i);
  if (!given) return chosen;
  for (const toml::node& node : *given->as_array()) {
    const auto name = node.value_exact<std::string>();
    const auto found = name ? std::find(names.begin(), names.end(), *name) : names.end();
    if (found == names.end())
      fail(node, "optimiser streams", config::text_of(node),
           "the name of a [[stream]]" + (name ? suggestion(*name, names) : std::string()));
    chosen.push_back(to_size(found - names.begin()));
  }
  std::sort(chosen.begin(), chosen.end());
  if (chosen.empty() || std::adjacent_find(chosen.begin(), chosen.end()) != chosen.end())
    fail(*given, "optimiser streams", config::text_of(*given), "one or more streams, each once");
  return chosen;
}

void ComparisonPlan::require_few() const {
  double runs = 0;
  for (const Entry& e : entries) runs += static_cast<double>(e.settings.size()) * static_cast<double>(e.streams.size());
  runs *= static_cast<double>(seeds.size());
  if (runs > max_runs)
    throw ConfigError(fmt::format("{}: got {} runs ({} streams, {} seeds), expected at most {}", source, runs,
                                  streams.size(), seeds.size(), max_runs));
}

}  // namespace obolus
