#include <nlohmann/json.hpp>

#include "obolus/run/experiment.hpp"
#include "obolus/version.hpp"
#include "run/number_json.hpp"
#include "run/profile_json.hpp"

namespace obolus {
namespace {

using Json = nlohmann::ordered_json;

Json sum_json(const VariationSum& v) { return {{"value", number_or_null(v.sum)}, {"kind", v.kind()}}; }

Json constants_json(const Constants& k) {
  Json json;
  const auto put = [&](const char* name, double value) { json[name] = number_or_null(value); };
  put("L_f0", k.L_f0);
  put("L_f1", k.L_f1);
  put("L_g1", k.L_g1);
  put("L_g2", k.L_g2);
  put("mu_g", k.mu_g);
  put("M", k.M);
  put("sigma", k.sigma);
  put("kappa_g", k.kappa());
  put("L_F", k.L_F());
  put("D_1", k.D_1());
  if (!k.region.empty()) json["region"] = k.region;
  return json;
}

Json bound_json(const Bound& bound) {
  Json terms;
  for (const BoundTerm& t : bound.terms) terms[t.name] = number_or_null(t.value);
  return {{"value", number_or_null(bound.value)}, {"terms", terms}, {"assumptions", bound.assumptions}};
}

const char* status_text(RunStatus s) {
  switch (s) {
    case RunStatus::finished: return "finished";
    case RunStatus::stopped: return "stopped";
    case RunStatus::diverged: return "diverged";
  }
  return "unknown";
}

Json window_json(const WindowSums& w) {
  Json json{{"window", w.window},
            {"decay", w.decay},
            {"at_current_x", number_or_null(w.current)},
            {"each_at_its_own_x", number_or_null(w.trailing)}};
  if (w.left_out > 0) json["rounds_left_out"] = w.left_out;
  return json;
}

// The numbers of the last measured round, with t where it is not the last round; what every round has is of the last.
Json last_json(const RunSummary& s) {
  const Row& r = s.measured;
  Json json;
  if (r.t != s.last.t) json["t"] = r.t;
  for (const RowColumn& column : row_columns) {
    const Row& row = column.when == When::always ? s.last : r;
    if (!column.is(RowColumn::no_summary) && column.present(row))
      column.visit(row, [&](auto number) { json[column.name] = number; });
  }
  return json;
}

}  // namespace

std::string RunSummary::json() const {
  Json json;
  json["obolus"] = version_text;
  json["problem"] = problem;
  json["optimiser"] = optimiser;
  json["status"] = status_text(end.status);
  if (end.status == RunStatus::diverged) json["diverged"] = {{"round", end.rounds + 1}, {"quantity", end.quantity}};
  json["rounds"] = end.rounds;
  json["horizon"] = horizon;
  if (has_regret) {
    json["regret"] = number_or_null(regret);
    json["regret_gamma"] = regret_gamma;
    json["hypergradient"] = closed_form ? "closed form" : reference.steps > 0 ? "reference steps" : "reference solve";
    if (untrusted > 0) json["untrusted_hypergradients"] = untrusted;
    if (left_out > 0) json["rounds_left_out_of_regret"] = left_out;
  }
  if (window) json["window_regret"] = window_json(*window);
  json["last"] = last_json(*this);
  if (!evaluated.evaluation.empty()) {
    json["evaluated_round"] = evaluated.t;
    for (const auto& [name, value] : evaluated.evaluation) json["evaluation"][name] = value;
  }
  json["inner_steps"] = inner_steps;
  json["capped_rounds"] = capped_rounds;
  json["indefinite_rounds"] = indefinite_rounds;
  if (!convex) json["inner_problem"] = "not convex: the theory does not apply";
  for (const auto& [name, counter] : oracle_counters) json["oracle"][name] = last.counts.*counter;
  json["seconds"] = last.seconds;
  if (measured.has_residuals && constants && constants->mu_g > 0)
    json["certified"] = {{"largest_distance_y", max_distance_y}, {"largest_distance_z", max_distance_z}};
  if (variation) {
    Json& sums = json["variation"];
    for (const auto& [name, part] : variation_parts) sums[name] = sum_json((*variation).*part);
    for (const auto& [name, total] : variation_totals) sums[name] = sum_json(((*variation).*total)());
    sums["sample_points"] = variation->points;
  }
  if (constants) json["constants"] = constants_json(*constants);
  if (!conditions.empty()) {
    json["conditions"] = Json::array();
    for (const Condition& condition : conditions)
      json["conditions"].push_back(
          {{"name", condition.name}, {"holds", condition.holds}, {"detail", condition.detail}});
  }
  if (bound) json["bound"] = bound_json(*bound);
  if (iteration_bound) json["inner_steps_bound"] = bound_json(*iteration_bound);
  if (x.size > 0) json["x"] = distribution_json(x);
  return json.dump(2) + "\n";
}

}  // namespace obolus
