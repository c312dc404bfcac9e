// A comparison's numbers for programs: summary.json and tables.csv.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "obolus/run/comparison_result.hpp"
#include "obolus/version.hpp"
#include "run/number_json.hpp"

namespace obolus {
namespace {

using Json = nlohmann::ordered_json;
using Quantities = std::vector<std::pair<const char*, Quantity>>;

Quantities quantities(const ComparisonResult& r) {
  Quantities all{{"regret", quantity::regret},
                 {"f", quantity::f},
                 {"gradients", quantity::gradients},
                 {"products", quantity::products},
                 {"values", quantity::values},
                 {"samples", quantity::samples},
                 {"evaluations", quantity::evaluations(r.costs)},
                 {"seconds", quantity::seconds}};
  if (!r.has_regret) all.erase(all.begin());
  if (r.has_window()) {
    all.emplace_back("window_regret", quantity::window_regret);
    all.emplace_back("trailing_regret", quantity::trailing_regret);
  }
  return all;
}

Quantities growing(const ComparisonResult& r) {
  Quantities all{{"regret", quantity::regret},
                 {"gradients", quantity::gradients},
                 {"products", quantity::products},
                 {"samples", quantity::samples},
                 {"evaluations", quantity::evaluations(r.costs)}};
  if (!r.has_regret) all.erase(all.begin());
  return all;
}

Json growth_json(const SettingResult& s, const Quantity& q) {
  if (s.diverged() == 0 && always_zero(s, q)) return {{"exponent", 0}, {"low", 0}, {"high", 0}};
  const auto fit = growth(s, q);
  if (!fit) return nullptr;
  return {{"exponent", fit->exponent}, {"low", fit->low()}, {"high", fit->high()}};
}

Json spread_json(const SettingResult& s, std::size_t h, const Quantity& q) {
  const Spread over = spread(s, h, q);
  Json seeds = Json::array();
  for (const CellResult& cell : s.seeds) seeds.push_back(number_or_null(q(cell.horizons[h])));
  return {{"mean", number_or_null(over.mean)}, {"sd", number_or_null(over.sd)}, {"seeds", seeds}};
}

// For one stream of the result.
struct Writer {
  const ComparisonResult& r;
  std::vector<std::string> measures;

  [[nodiscard]] Json horizon(const SettingResult& s, std::size_t h) const {
    Json json{{"T", s.seeds.front().horizons[h].t}};
    for (const auto& [name, q] : quantities(r)) json[name] = spread_json(s, h, q);
    for (const std::string& name : measures) json["evaluation"][name] = spread_json(s, h, quantity::measure(name));
    return json;
  }

  [[nodiscard]] Json setting(const SettingResult& s) const {
    Json json{{"setting", s.text}, {"diverged", s.diverged()}};
    std::int64_t untrusted = 0;
    for (const CellResult& cell : s.seeds) untrusted += cell.untrusted;
    if (untrusted > 0) json["untrusted_hypergradients"] = untrusted;
    json["horizons"] = Json::array();
    for (std::size_t h = 0; h < s.seeds.front().horizons.size(); ++h) json["horizons"].push_back(horizon(s, h));
    for (const auto& [name, q] : growing(r)) json["growth"][name] = growth_json(s, q);
    return json;
  }

  [[nodiscard]] static Json choice(const OptimiserResult& o, std::optional<std::size_t> index) {
    if (!index) return nullptr;
    return {{"index", *index}, {"setting", o.settings[*index].text}};
  }

  [[nodiscard]] Json optimiser(const OptimiserResult& o) const {
    Json json{{"label", o.label}, {"name", o.name}, {"best", choice(o, best(o, r.ranking))}};
    if (r.costs.budget) {
      json["best_within_budget"] = choice(o, best_within_budget(o, r.costs, r.ranking));
      json["least_evaluations_a_round"] = number_or_null(min_evaluations(o, r.costs));
    }
    json["settings"] = Json::array();
    for (const SettingResult& s : o.settings) json["settings"].push_back(setting(s));
    return json;
  }
};

// By horizon, each with a list over seeds.
Json variation_json(const StreamResult& stream) {
  Json json = Json::array();
  for (std::size_t h = 0; h < stream.variation.front().size(); ++h) {
    Json at;
    const auto put = [&](const char* name, const auto& part_of) {
      VariationSum all;  // its kind is that of its worst part
      Json seeds = Json::array();
      for (const auto& seed : stream.variation) {
        const VariationSum part = std::invoke(part_of, seed[h]);
        seeds.push_back(number_or_null(part.sum));
        all = total({all, part});
      }
      at[name] = {{"kind", all.kind()}, {"seeds", seeds}};
    };
    for (const auto& [name, part] : variation_parts) put(name, part);
    for (const auto& [name, sum] : variation_totals) put(name, sum);
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

// Empty where there is no fit or a number is not finite.
void add_growth(std::string& line, const SettingResult& s, const Quantity& q) {
  const Json fit = growth_json(s, q);
  for (const char* name : {"exponent", "low", "high"})
    line += fmt::format(",{}", fit.is_null() ? std::string() : csv_number(fit[name].get<double>()));
}

// Mean and deviation, as two cells.
std::string csv_spread(const SettingResult& s, const Quantity& q) {
  const Spread over = last_spread(s, q);
  return fmt::format(",{},{}", csv_number(over.mean), csv_number(over.sd));
}

std::string csv_line(const ComparisonResult& r, const StreamResult& stream, const OptimiserResult& o) {
  const SettingResult& s = o.settings[best(o, r.ranking)];
  const auto mean = [](const SettingResult& of, const Quantity& q) { return csv_number(last_spread(of, q).mean); };
  std::string line = fmt::format("{},{},{},{},{},{}", quoted(stream.name), quoted(o.label), quoted(s.text),
                                 r.horizons.back(), r.seeds.size(), s.diverged());
  if (r.has_regret) line += csv_spread(s, quantity::regret);
  for (const Quantity& q : {Quantity(quantity::gradients), Quantity(quantity::products), Quantity(quantity::values),
                            Quantity(quantity::samples), quantity::evaluations(r.costs), Quantity(quantity::seconds)})
    line += fmt::format(",{}", mean(s, q));
  for (const auto& [name, q] : growing(r)) add_growth(line, s, q);
  const auto within = best_within_budget(o, r.costs, r.ranking);
  if (within) {
    const SettingResult& w = o.settings[*within];
    line += fmt::format(",{}", quoted(w.text));
    if (r.has_regret) line += csv_spread(w, quantity::regret);
    line += fmt::format(",{}", mean(w, quantity::evaluations(r.costs)));
  } else {
    line += r.has_regret ? ",,,," : ",,";
  }
  if (r.has_window()) line += csv_spread(s, quantity::window_regret) + csv_spread(s, quantity::trailing_regret);
  for (const std::string& name : r.measures()) line += csv_spread(s, quantity::measure(name));
  return line + "\n";
}

Json relative_json(const std::vector<Relative>& rows) {
  Json json = Json::array();
  for (const Relative& row : rows) {
    Json ratios = Json::array();
    for (const double v : row.streams) ratios.push_back(number_or_null(v));
    json.push_back({{"label", row.label}, {"geometric_mean", number_or_null(row.geometric_mean)}, {"streams", ratios}});
  }
  return json;
}

}  // namespace

std::string ComparisonResult::json() const {
  Json json{{"obolus", version_text},        {"seeds", seeds},
            {"horizons", horizons},          {"budget", costs.budget ? Json(*costs.budget) : Json(nullptr)},
            {"product_cost", costs.product}, {"value_cost", costs.value}};
  if (!ranking.by.empty()) {
    json["rank_by"] = ranking.by;
    json["rank"] = name_of(ranking.rank);
  }
  json["streams"] = Json::array();
  for (const StreamResult& stream : streams) {
    Json s{{"name", stream.name}, {"problem", stream.problem}};
    if (!stream.variation.empty()) s["variation"] = variation_json(stream);
    s["optimisers"] = Json::array();
    const Writer writer{*this, measures(stream)};
    for (const OptimiserResult& o : stream.optimisers) s["optimisers"].push_back(writer.optimiser(o));
    json["streams"].push_back(s);
  }
  if (!has_regret) return json.dump(2) + "\n";
  json["relative"] = relative_json(relative(false));
  if (costs.budget) json["relative_within_budget"] = relative_json(relative(true));
  return json.dump(2) + "\n";
}

std::string ComparisonResult::csv() const {
  std::string out = "stream,optimiser,setting,rounds,seeds,diverged";
  if (has_regret) out += ",regret_mean,regret_sd";
  for (const char* name : {"gradients", "products", "values", "samples", "evaluations", "seconds"})
    out += fmt::format(",{}", name);
  for (const auto& [name, q] : growing(*this)) out += fmt::format(",{0}_exponent,{0}_low,{0}_high", name);
  out += ",budget_setting";
  if (has_regret) out += ",budget_regret_mean,budget_regret_sd";
  out += ",budget_evaluations";
  if (has_window()) out += ",window_regret_mean,window_regret_sd,trailing_regret_mean,trailing_regret_sd";
  for (const std::string& name : measures()) out += fmt::format(",{0}_mean,{0}_sd", name);
  out += "\n";
  for (const StreamResult& stream : streams)
    for (const OptimiserResult& o : stream.optimisers) out += csv_line(*this, stream, o);
  return out;
}

}  // namespace obolus
