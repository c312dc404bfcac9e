#include "live/records.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace obolus::cli {
namespace {

// Row i of an object of lists. Gradients are counted by variable in the file, and by function in a report.
Json row_of(const Json& lists, std::size_t i) {
  Json row = {{"t", lists.at("t").at(i)}};
  const auto count = [&](const char* name) { return lists.at(name).at(i).get<std::int64_t>(); };
  for (const auto& [name, list] : lists.items()) {
    if (name == "f_x") row["grad_f"] = count("f_x") + count("f_y");
    else if (name == "g_x") row["grad_g"] = count("g_x") + count("g_y");
    else if (name == "evaluation")
      for (const auto& [measure, values] : list.items()) row["evaluation"][measure] = values.at(i);
    else if (name != "f_y" && name != "g_y" && name != "samples" && list.is_array()) row[name] = list.at(i);
  }
  return row;
}

}  // namespace

Json row_json(const Row& r) {
  Json row = {{"t", r.t}};
  if (r.measured) row["f"] = r.f, row["g"] = r.g;
  if (r.has_regret) row["regret"] = r.regret, row["regret_increment"] = r.regret_increment;
  if (r.measured) row["own_mapping"] = r.own_mapping;
  if (r.has_regret) row["hypergradient_error"] = r.hypergradient_error;
  if (r.has_residuals) row["residual_y"] = r.residual_y, row["residual_z"] = r.residual_z;
  if (std::isfinite(r.separation)) row["separation"] = r.separation;
  row["lambda"] = r.lambda;
  row["inner_steps"] = r.inner_steps, row["inner_steps_y"] = r.inner_steps_y, row["inner_steps_z"] = r.inner_steps_z;
  row["capped"] = r.capped ? 1 : 0, row["indefinite"] = r.indefinite ? 1 : 0;
  row["grad_f"] = r.counts.grad_f(), row["grad_g"] = r.counts.grad_g();
  row["hvp"] = r.counts.hvp_yy, row["cross"] = r.counts.hvp_xy, row["values"] = r.counts.values;
  row["seconds"] = r.seconds;
  for (const auto& [name, value] : r.evaluation) row["evaluation"][name] = value;
  return row;
}

std::optional<LiveRun> run_of_cell(const std::string& line) {
  const Json cell = Json::parse(line);
  if (!cell.contains("optimiser")) return std::nullopt;
  LiveRun run;
  run.name = {cell.at("stream").get<std::string>(), cell.at("optimiser").get<std::string>(),
              cell.at("setting").get<std::string>(), cell.at("seed").get<std::int64_t>()};
  run.status = cell.at("status").get<std::string>();
  run.quantity = cell.value("quantity", std::string());
  run.rounds = cell.at("rounds").get<Round>(), run.horizon = cell.at("T").back().get<Round>();
  if (const auto n = cell.at("untrusted").get<std::int64_t>(); n > 0)
    run.notes.push_back(fmt::format("{} reference hypergradients missed their tolerance", n));
  for (const char* name : {"x", "final"})
    if (cell.contains(name)) run.more[name] = cell.at(name);
  std::map<Round, Json> rows;  // what was evaluated wins
  for (const char* part : {"curve", "evaluations"}) {
    if (!cell.contains(part)) continue;
    const Json& lists = cell.at(part);
    for (std::size_t i = 0; i < lists.at("t").size(); ++i) {
      Json row = row_of(lists, i);
      rows.insert_or_assign(row.at("t").get<Round>(), std::move(row));
    }
  }
  for (const auto& [t, row] : rows) run.columns.append(row);
  return run;
}

}  // namespace obolus::cli
