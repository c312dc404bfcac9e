// A comparison's numbers, for programs: summary.json and tables.csv.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "obolus/run/comparison_result.hpp"
#include "obolus/version.hpp"

namespace obolus {
namespace {

using Json = nlohmann::ordered_json;
using Quantities = std::vector<std::pair<const char*, Quantity>>;

Json real(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }

Quantities quantities(const Costs& costs) {
  return {{"regret", quantity::regret},
          {"f", quantity::f},
          {"gradients", quantity::gradients},
          {"products", quantity::products},
          {"values", quantity::values},
          {"samples", quantity::samples},
          {"evaluations", quantity::evaluations(costs)},
          {"seconds", quantity::seconds}};
}

Quantities growing(const Costs& costs) {
  return {{"regret", quantity::regret},
          {"gradients", quantity::gradients},
          {"products", quantity::products},
          {"samples", quantity::samples},
          {"evaluations", quantity::evaluations(costs)}};
}

Json growth_json(const SettingResult& s, const Quantity& q) {
  if (s.diverged() == 0 && always_zero(s, q)) return {{"exponent", 0}, {"low", 0}, {"high", 0}};
  const auto fit = growth(s, q);
  if (!fit) return nullptr;
  return {{"exponent", fit->exponent}, {"low", fit->low()}, {"high", fit->high()}};
}

Json horizon_json(const SettingResult& s, std::size_t h, const Costs& costs) {
  Json json{{"T", s.seeds.front().horizons[h].t}};
  for (const auto& [name, q] : quantities(costs)) {
    const Spread over = spread(s, h, q);
    Json seeds = Json::array();
    for (const CellResult& cell : s.seeds) seeds.push_back(real(q(cell.horizons[h])));
    json[name] = {{"mean", real(over.mean)}, {"sd", real(over.sd)}, {"seeds", seeds}};
  }
  return json;
}

Json setting_json(const SettingResult& s, const Costs& costs) {
  Json json{{"setting", s.text}, {"diverged", s.diverged()}};
  std::int64_t untrusted = 0;
  for (const CellResult& cell : s.seeds) untrusted += cell.untrusted;
  if (untrusted > 0) json["untrusted_hypergradients"] = untrusted;
  json["horizons"] = Json::array();
  for (std::size_t h = 0; h < s.seeds.front().horizons.size(); ++h)
    json["horizons"].push_back(horizon_json(s, h, costs));
  for (const auto& [name, q] : growing(costs)) json["growth"][name] = growth_json(s, q);
  return json;
}

Json choice_json(const OptimiserResult& o, std::optional<std::size_t> index) {
  if (!index) return nullptr;
  return {{"index", *index}, {"setting", o.settings[*index].text}};
}

Json optimiser_json(const OptimiserResult& o, const Costs& costs) {
  Json json{{"label", o.label}, {"name", o.name}, {"best", choice_json(o, best(o))}};
  if (costs.budget) {
    json["best_within_budget"] = choice_json(o, best_within_budget(o, costs));
    json["least_evaluations_a_round"] = real(least_evaluations(o, costs));
  }
  json["settings"] = Json::array();
  for (const SettingResult& s : o.settings) json["settings"].push_back(setting_json(s, costs));
  return json;
}

// By horizon, each with a list over seeds.
Json variation_json(const StreamResult& stream) {
  Json json = Json::array();
  for (std::size_t h = 0; h < stream.variation.front().size(); ++h) {
    Json at;
    const auto put = [&](const char* name, VariationSum VariationSummary::* member) {
      bool exact = true;
      Json seeds = Json::array();
      for (const auto& seed : stream.variation) {
        seeds.push_back(real((seed[h].*member).sum));
        exact = exact && (seed[h].*member).exact;
      }
      at[name] = {{"kind", exact ? "exact" : "estimate"}, {"seeds", seeds}};
    };
    put("V_T", &VariationSummary::V), put("H_2T", &VariationSummary::H2);
    put("E_f_y", &VariationSummary::Ef), put("E_g_y", &VariationSummary::Eg);
    json.push_back(at);
  }
  return json;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_number(double v) { return std::isfinite(v) ? fmt::format("{}", v) : std::string(); }

// Empty where nothing fits, as for a number that is not finite.
void add_growth(std::string& line, const SettingResult& s, const Quantity& q) {
  const Json fit = growth_json(s, q);
  for (const char* name : {"exponent", "low", "high"})
    line += fmt::format(",{}", fit.is_null() ? std::string() : csv_number(fit[name].get<double>()));
}

std::string csv_line(const ComparisonResult& r, const StreamResult& stream, const OptimiserResult& o) {
  const SettingResult& s = o.settings[best(o)];
  const auto mean = [](const SettingResult& of, const Quantity& q) { return csv_number(last_spread(of, q).mean); };
  std::string line = fmt::format("{},{},{},{},{},{},{},{}", quoted(stream.name), quoted(o.label), quoted(s.text),
                                 r.horizons.back(), r.seeds.size(), s.diverged(), mean(s, quantity::regret),
                                 csv_number(last_spread(s, quantity::regret).sd));
  for (const Quantity& q : {Quantity(quantity::gradients), Quantity(quantity::products), Quantity(quantity::values),
                            Quantity(quantity::samples), quantity::evaluations(r.costs), Quantity(quantity::seconds)})
    line += fmt::format(",{}", mean(s, q));
  for (const auto& [name, q] : growing(r.costs)) add_growth(line, s, q);
  const auto within = best_within_budget(o, r.costs);
  if (!within) return line + ",,,,\n";
  const SettingResult& w = o.settings[*within];
  return line + fmt::format(",{},{},{},{}\n", quoted(w.text), mean(w, quantity::regret),
                            csv_number(last_spread(w, quantity::regret).sd), mean(w, quantity::evaluations(r.costs)));
}

Json relative_json(const std::vector<Relative>& rows) {
  Json json = Json::array();
  for (const Relative& row : rows) {
    Json ratios = Json::array();
    for (const double v : row.streams) ratios.push_back(real(v));
    json.push_back({{"label", row.label}, {"geometric_mean", real(row.geometric_mean)}, {"streams", ratios}});
  }
  return json;
}

}  // namespace

std::string ComparisonResult::json() const {
  Json json{{"obolus", version_text},        {"seeds", seeds},
            {"horizons", horizons},          {"budget", costs.budget ? Json(*costs.budget) : Json(nullptr)},
            {"product_cost", costs.product}, {"value_cost", costs.value}};
  json["streams"] = Json::array();
  for (const StreamResult& stream : streams) {
    Json s{{"name", stream.name}, {"problem", stream.problem}};
    if (!stream.variation.empty()) s["variation"] = variation_json(stream);
    s["optimisers"] = Json::array();
    for (const OptimiserResult& o : stream.optimisers) s["optimisers"].push_back(optimiser_json(o, costs));
    json["streams"].push_back(s);
  }
  json["relative"] = relative_json(relative(false));
  if (costs.budget) json["relative_within_budget"] = relative_json(relative(true));
  return json.dump(2) + "\n";
}

std::string ComparisonResult::csv() const {
  std::string out = "stream,optimiser,setting,rounds,seeds,diverged,regret_mean,regret_sd";
  for (const char* name : {"gradients", "products", "values", "samples", "evaluations", "seconds"})
    out += fmt::format(",{}", name);
  for (const char* name : {"regret", "gradients", "products", "samples", "evaluations"})
    out += fmt::format(",{0}_exponent,{0}_low,{0}_high", name);
  out += ",budget_setting,budget_regret_mean,budget_regret_sd,budget_evaluations\n";
  for (const StreamResult& stream : streams)
    for (const OptimiserResult& o : stream.optimisers) out += csv_line(*this, stream, o);
  return out;
}

}  // namespace obolus
