#include "report/config_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "config/toml.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr std::size_t max_marks = 200;

std::optional<toml::table> parsed(const std::string& config) {
  try {
    return toml::parse(config);
  } catch (const toml::parse_error&) {
    return std::nullopt;
  }
}

std::string text_of(const toml::node& node) {
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());  // 3, not 3.0
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

// The problem's constants, which a complete config repeats for the optimiser, depend on the draw.
bool follows_from_seed(std::string_view section, std::string_view key) {
  constexpr std::string_view of_problem[] = {"seed", "rounds"};
  if (section == "fit" && key == "seed") return true;
  constexpr std::string_view of_optimiser[] = {"L_f0", "L_f1", "L_g1", "L_g2", "mu_g", "M"};
  if (section == "problem") return std::ranges::find(of_problem, key) != std::end(of_problem);
  return section == "optimiser" && std::ranges::find(of_optimiser, key) != std::end(of_optimiser);
}

// One mark per period up to the horizon; too many would hide the curves.
void add_every(std::vector<DriftMark>& marks, Round period, Round horizon, std::size_t max, const std::string& text,
               Round first) {
  if (period < 1 || horizon / period > Round(max_marks)) return;
  for (Round k = 1; k * period < horizon && to_size(k) <= max; ++k)
    marks.push_back({k * period + 1, fmt::format("{} {}", text, first + k - 1)});
}

void add_noise(std::vector<DriftMark>& marks, const toml::table& problem, Round horizon) {
  const toml::array *parts = problem["noise"].as_array(), *rounds = problem["noise_rounds"].as_array();
  if (!parts || !rounds || rounds->size() > max_marks) return;
  for (std::size_t i = 0; i < std::min(parts->size(), rounds->size()); ++i)
    if (const auto t = rounds->get(i)->value<double>(); t && *t > 1 && *t <= double(horizon))
      marks.push_back({Round(*t), "noise " + text_of(*parts->get(i))});
}

std::vector<DriftMark> marks_of(const toml::table& problem, Round horizon) {
  std::vector<DriftMark> marks;
  const auto drift = problem["drift"].value_or(std::string());
  if (drift == "abrupt" || drift == "swap" || drift == "rotate" || drift == "turn")
    add_every(marks, problem["period"].value_or(Round{100}), horizon, max_marks, drift, 1);
  if (const toml::array* phases = problem["proportions"].as_array(); phases && phases->size() > 1)
    add_every(marks, problem["phase_rounds"].value_or(Round{100}), horizon, phases->size() - 1, "phase", 2);
  add_noise(marks, problem, horizon);
  std::sort(marks.begin(), marks.end(), [](const DriftMark& a, const DriftMark& b) { return a.t < b.t; });
  return marks;
}

// A comparison's config has no defaults, and problems without a drift take none of its keys.
std::optional<Round> default_period(const std::string& problem) {
  if (problem == "quadratic" || problem == "loss_tuning") return 100;
  if (problem.starts_with("softmax_l2")) return 1000;
  return std::nullopt;
}

toml::table section(const toml::table& root, const char* name) {
  const toml::table* found = root[name].as_table();
  return found ? *found : toml::table{};
}

}  // namespace

ConfigFacts facts_of_run(const std::string& config) {
  ConfigFacts facts;
  const auto root = parsed(config);
  if (!root) return facts;
  facts.problem = (*root)["problem"]["name"].value_or(std::string());
  const auto fit = (*root)["fit"];  // older fits called themselves "forward", whatever their options
  facts.optimiser = fit["optimiser"].value_or((*root)["optimiser"]["name"].value_or(std::string()));
  facts.seed = fit["seed"].value_or((*root)["problem"]["seed"].value_or(std::int64_t{0}));
  for (const auto& [name, node] : *root) {
    const toml::table* keys = node.as_table();
    if (!keys || name == "log" || (fit && name == "optimiser")) continue;
    for (const auto& [key, value] : *keys)
      if (!follows_from_seed(name.str(), key.str()))
        facts.values.emplace(fmt::format("{}.{}", name.str(), key.str()), text_of(value));
  }
  return facts;
}

ComparisonFacts facts_of_comparison(const std::string& config, Round horizon) {
  ComparisonFacts facts;
  const auto root = parsed(config);
  if (!root) return facts;
  facts.rank_by = (*root)["compare"]["rank_by"].value_or(std::string());
  facts.rank = (*root)["compare"]["rank"].value_or(std::string("least"));
  const toml::table shared = section(*root, "problem");
  const auto add = [&](const std::string& name, toml::table problem) {
    const auto kind = problem["name"].value_or(std::string());
    const auto period = default_period(kind);
    if (period && !problem.contains("period")) problem.insert("period", *period);
    facts.streams[name] = {kind, period ? marks_of(problem, horizon) : std::vector<DriftMark>{}};
  };
  const toml::array* streams = (*root)["stream"].as_array();
  if (!streams) add(shared["name"].value_or(std::string()), shared);
  else
    for (const toml::node& node : *streams) {
      if (!node.is_table()) continue;
      toml::table problem = shared;
      for (const auto& [key, value] : section(*node.as_table(), "problem")) problem.insert_or_assign(key, value);
      add((*node.as_table())["name"].value_or(std::string()), problem);
    }
  return facts;
}

std::vector<DriftMark> drift_marks(const std::string& run_config, Round horizon) {
  const auto root = parsed(run_config);
  return root ? marks_of(section(*root, "problem"), horizon) : std::vector<DriftMark>{};
}

std::string differences(const ConfigFacts& one, const std::vector<const ConfigFacts*>& others,
                        const std::vector<std::string>& sections) {
  std::string text;
  for (const auto& [key, value] : one.values) {
    const std::string name = key.substr(0, key.find('.'));
    if (std::find(sections.begin(), sections.end(), name) == sections.end()) continue;
    const bool alike = std::all_of(others.begin(), others.end(), [&](const ConfigFacts* other) {
      const auto found = other->values.find(key);
      return found != other->values.end() && found->second == value;
    });
    if (!alike) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key.substr(name.size() + 1), value);
  }
  return text;
}

}  // namespace obolus
