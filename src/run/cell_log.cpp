#include "run/cell_log.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "obolus/core/error.hpp"
#include "run/number_json.hpp"
#include "run/profile_json.hpp"

namespace obolus {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity and no NaN.
double number_of(const Json& json, double otherwise) { return json.is_null() ? otherwise : json.get<double>(); }

constexpr double infinity = std::numeric_limits<double>::infinity();

// The numbers of the round, those that were measured in some round.
void put_columns(Json& json, const std::vector<Reading>& readings) {
  for (const RowColumn& c : row_columns) {
    if (c.is(RowColumn::no_cells) || c.is(RowColumn::cells_by_hand)) continue;
    Json column = Json::array();
    bool measured = false;
    for (const Reading& r : readings) {
      column.push_back(number_or_null(r.number(c)));
      measured = measured || !column.back().is_null();
    }
    if (measured) json[c.name] = std::move(column);
  }
}

// Row i of those numbers. A round has at least one of them, unless the run did not reach it.
void read_columns(const Json& json, std::size_t i, Reading& r) {
  r.reached = false;
  for (const RowColumn& c : row_columns) {
    if (c.is(RowColumn::no_cells) || c.is(RowColumn::cells_by_hand) || !json.contains(c.name)) continue;
    const Json& value = json.at(c.name).at(i);
    if (value.is_null()) continue;
    c.set(r, value.get<double>());
    r.reached = true;
  }
}

// A list per number of the evaluations, null where a round was not evaluated.
Json evaluation_columns(const std::vector<Reading>& readings) {
  Json json;
  for (const Reading& named : readings) {
    if (named.evaluation.empty()) continue;
    for (const auto& [name, value] : named.evaluation) {
      json[name] = Json::array();
      for (const Reading& r : readings)
        json[name].push_back(number_or_null(r.evaluation.find(name).value_or(Row::absent)));
    }
    break;  // all have the same names
  }
  return json;
}

Json columns(const std::vector<Reading>& readings, bool has_regret) {
  Json json;
  json["t"] = Json::array();
  if (has_regret) json["regret"] = Json::array();
  json["f"] = Json::array();
  for (const auto& [name, member] : oracle_counters) json[name] = Json::array();
  json["seconds"] = Json::array();
  for (const Reading& r : readings) {
    json["t"].push_back(r.t);
    if (has_regret) json["regret"].push_back(number_or_null(r.regret));
    json["f"].push_back(number_or_null(r.f));
    for (const auto& [name, member] : oracle_counters) json[name].push_back(r.counts.*member);
    json["seconds"].push_back(r.seconds);
  }
  put_columns(json, readings);
  if (Json evaluation = evaluation_columns(readings); !evaluation.is_null()) json["evaluation"] = std::move(evaluation);
  return json;
}

std::vector<Reading> readings(const Json& json) {
  std::vector<Reading> list(json.at("t").size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    Reading& r = list[i];
    r.t = json.at("t").at(i).get<Round>();
    r.regret = json.contains("regret") ? number_of(json.at("regret").at(i), infinity) : Row::absent;
    r.f = number_of(json.at("f").at(i), Row::absent);
    for (const auto& [name, member] : oracle_counters) r.counts.*member = json.at(name).at(i).get<std::int64_t>();
    r.seconds = json.at("seconds").at(i).get<double>();
    read_columns(json, i, r);
    if (!json.contains("evaluation")) continue;
    for (const auto& [name, values] : json.at("evaluation").items())
      if (!values.at(i).is_null()) r.evaluation.add(name, values.at(i).get<double>());
  }
  return list;
}

// An object without members: not measured. A sum of null: infinite.
Json part_json(const VariationSum& v) {
  if (!v.measured()) return Json::object();
  return {{"sum", number_or_null(v.sum)}, {"exact", v.exact}};
}
VariationSum part_of(const Json& json) {
  if (json.empty()) return {std::numeric_limits<double>::quiet_NaN(), false};
  return {number_of(json.at("sum"), infinity), json.at("exact").get<bool>()};
}

Json variation_json(const VariationSummary& v) {
  Json json;
  for (const auto& [name, part] : variation_parts) json[name] = part_json(v.*part);
  json["sample_points"] = v.points;
  return json;
}

VariationSummary variation_of(const Json& json) {
  VariationSummary v;
  for (const auto& [name, part] : variation_parts)
    v.*part = part_of(json.value(name, Json::object()));  // older records have fewer
  v.points = json.at("sample_points").get<std::size_t>();
  return v;
}

void put_cell(Json& json, const CellResult& cell) {
  json["status"] = cell.diverged ? "diverged" : "finished";
  if (cell.diverged) json["quantity"] = cell.quantity;
  json["rounds"] = cell.rounds;
  json["untrusted"] = cell.untrusted;
  json["horizons"] = columns(cell.horizons, cell.has_regret);
  json["curve"] = columns(cell.curve, cell.has_regret);
  if (!cell.evaluations.empty()) json["evaluations"] = columns(cell.evaluations, cell.has_regret);
  if (!cell.profiles.empty()) json["x"] = profiles_json(cell.profiles);
  if (cell.x.size > 0) json["final"] = distribution_json(cell.x);
}

CellResult cell_of(const Json& json) {
  CellResult cell;
  cell.diverged = json.at("status") == "diverged";
  if (cell.diverged) cell.quantity = json.at("quantity").get<std::string>();
  cell.rounds = json.at("rounds").get<Round>();
  cell.untrusted = json.at("untrusted").get<std::int64_t>();
  cell.horizons = readings(json.at("horizons"));
  cell.has_regret = json.at("horizons").contains("regret");
  cell.curve = readings(json.at("curve"));
  if (json.contains("evaluations")) cell.evaluations = readings(json.at("evaluations"));
  if (json.contains("x")) cell.profiles = profiles_of(json.at("x"));
  if (json.contains("final")) cell.x = distribution_of(json.at("final"));
  return cell;
}

// Later readers of a record count on one entry per horizon.
void require_complete(const JobRecord& record) {
  const std::vector<Round>& T = record.name.horizons;
  bool complete = !T.empty() && (record.variation.empty() || record.variation.size() == T.size());
  if (!record.name.optimiser.empty()) {
    complete = complete && record.cell.horizons.size() == T.size();
    for (std::size_t i = 0; complete && i < T.size(); ++i) complete = record.cell.horizons[i].t == T[i];
  }
  if (!complete) throw Json::other_error::create(501, "not one entry per horizon", nullptr);
}

}  // namespace

std::string JobName::key() const { return Json({stream, optimiser, setting, seed}).dump(); }

std::string line_of(const JobRecord& record) {
  Json json;
  json["stream"] = record.name.stream;
  if (!record.name.optimiser.empty()) {
    json["optimiser"] = record.name.optimiser;
    json["setting"] = record.name.setting;
  }
  json["seed"] = record.name.seed;
  json["T"] = record.name.horizons;
  json["checksum"] = record.name.checksum;
  if (!record.name.optimiser.empty()) {
    put_cell(json, record.cell);
  } else {
    json["variation"] = Json::array();
    for (const VariationSummary& v : record.variation) json["variation"].push_back(variation_json(v));
  }
  return json.dump() + "\n";
}

JobRecord record_of(const std::string& line, const std::string& place) {
  try {
    const Json json = Json::parse(line);
    JobRecord record;
    record.name.stream = json.at("stream").get<std::string>();
    record.name.seed = json.at("seed").get<std::int64_t>();
    record.name.horizons = json.at("T").get<std::vector<Round>>();
    record.name.checksum = json.at("checksum").get<std::string>();
    if (json.contains("optimiser")) {
      record.name.optimiser = json.at("optimiser").get<std::string>();
      record.name.setting = json.at("setting").get<std::string>();
      record.cell = cell_of(json);
    } else {
      for (const Json& v : json.at("variation")) record.variation.push_back(variation_of(v));
    }
    require_complete(record);
    return record;
  } catch (const nlohmann::json::exception&) {
    throw DataError(place + ": is damaged: not the record of a finished run; start again with --force");
  }
}

}  // namespace obolus
