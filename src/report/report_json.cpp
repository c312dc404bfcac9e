#include "report/report_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "data/durable_file.hpp"
#include "obolus/core/error.hpp"
#include "obolus/version.hpp"
#include "report/catalogue.hpp"
#include "report/config_facts.hpp"
#include "report/markdown_tables.hpp"
#include "report/report_run.hpp"
#include "report/shallow_json.hpp"
#include "run/profile_json.hpp"

namespace obolus {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t max_bytes = std::uint64_t{1} << 28;

// Seven digits: more than a screen shows, in a third of the bytes of full precision.
Json short_number(double v) {
  if (!std::isfinite(v)) return nullptr;
  if (std::abs(v) < 1e15 && v == std::floor(v)) return std::int64_t(v);
  return std::strtod(fmt::format("{:.7g}", v).c_str(), nullptr);
}

Json list_of(const TraceColumns::Column& column, std::size_t rows) {
  Json list = Json::array();
  for (std::size_t row = 0; row < rows; ++row) list.push_back(short_number(column.at(row)));
  return list;
}

Json shortened(Json json) {
  for (Json& list : json)
    for (Json& v : list)
      if (v.is_number_float()) v = short_number(v.get<double>());
  return json;
}

Json run_json(const ReportRun& run) {
  Json json{{"source", run.source},   {"stream", run.stream}, {"optimiser", run.optimiser},
            {"setting", run.setting}, {"seed", run.seed},     {"status", run.status}};
  if (!run.quantity.empty()) json["quantity"] = run.quantity;
  json["rounds"] = run.rounds;
  json["horizon"] = run.horizon;
  json["notes"] = run.notes;
  json["columns"] = Json::object();
  json["evaluation"] = Json::object();
  const TraceColumns& columns = run.columns;
  for (const auto& c : columns.numbers())
    if (c.measured() || c.name == "t") json["columns"][c.name] = list_of(c, columns.rows());
  for (const auto& c : columns.evaluation()) json["evaluation"][c.name] = list_of(c, columns.rows());
  if (!run.profiles.empty()) {
    Json x = profiles_json(run.profiles);
    for (const char* name : {"values", "quantiles"})
      if (x.contains(name)) x[name] = shortened(std::move(x[name]));
    json["x"] = std::move(x);
  }
  if (run.x.size > 0) json["final"] = distribution_json(run.x);
  for (const TraceColumns::Alarm& alarm : columns.alarms())
    json["alarms"].push_back({{"t", alarm.t}, {"text", alarm.by}});
  if (run.bound) json["bound"] = short_number(*run.bound);
  return json;
}

Json marks_json(const std::vector<DriftMark>& marks) {
  Json json = Json::array();
  for (const DriftMark& m : marks) json.push_back({{"t", m.t}, {"text", m.text}});
  return json;
}

// What a folder holds besides the numbers.
struct Folder {
  std::string path;

  [[nodiscard]] bool has(const char* name) const { return fs::exists(fs::path(path) / name); }
  [[nodiscard]] std::string text(const char* name) const {
    return has(name) ? read_whole_file((fs::path(path) / name).string(), max_bytes) : std::string();
  }
  [[nodiscard]] Json parsed(const char* name) const {
    if (!has(name)) return nullptr;
    try {
      return parse_shallow(text(name));
    } catch (const nlohmann::json::exception&) {
      throw DataError(fmt::format("{}/{}: is damaged: not JSON", path, name));
    }
  }
  // Lines that cannot be read are left out: the numbers do not depend on them.
  [[nodiscard]] Json about() const {
    Json sessions = Json::array();
    std::istringstream lines(text("about.jsonl"));
    for (std::string line; std::getline(lines, line);) try {
        if (Json json = parse_shallow(line); json.is_object()) sessions.push_back(std::move(json));
      } catch (const nlohmann::json::exception&) {  // NOLINT(bugprone-empty-catch): a damaged line is left out
      }
    return sessions;
  }
};

class Builder {
 public:
  void add(const std::string& path) {
    const Folder folder{path};
    if (folder.has("cells.jsonl")) add_comparison(folder);
    else if (folder.has("trace.jsonl")) add_run(folder);
    else
      throw DataError(path + ": holds no run: expected trace.jsonl of `obolus run` or cells.jsonl of `obolus compare`");
  }

  [[nodiscard]] Json json(const ReportOrigin& origin) && {
    name_runs();
    Json runs = Json::array();
    std::string title;
    for (const ReportRun& run : runs_) runs.push_back(run_json(run));
    for (const Json& source : sources_) title += (title.empty() ? "" : ", ") + source["name"].get<std::string>();
    return {{"format", 1},
            {"title", title},
            {"made", {{"obolus", version_text}, {"date", origin.date}, {"command", origin.command}}},
            {"catalogue", catalogue_json()},
            {"sources", std::move(sources_)},
            {"runs", std::move(runs)}};
  }

 private:
  Json& add_source(const Folder& folder, const char* kind) {
    const fs::path name = fs::canonical(folder.path).filename();
    sources_.push_back({{"name", name.empty() ? folder.path : name.string()},
                        {"kind", kind},
                        {"config", folder.text("config.toml")},
                        {"about", folder.about()},
                        {"summary", nullptr}});
    return sources_.back();
  }

  void add_comparison(const Folder& folder) {
    Json& source = add_source(folder, "comparison");
    auto runs = runs_of_cells(folder.path);
    choose(folder, source, runs);
    Round horizon = 0;
    for (const ReportRun& run : runs) horizon = std::max(horizon, run.horizon);
    const ComparisonFacts facts = facts_of_comparison(source["config"].get<std::string>(), horizon);
    source["ranking"] = {{"by", facts.rank_by}, {"rank", facts.rank}};
    source["streams"] = Json::array();
    std::vector<std::string> seen;
    for (ReportRun& run : runs) {
      run.source = sources_.size() - 1;
      if (std::find(seen.begin(), seen.end(), run.stream) == seen.end()) {
        seen.push_back(run.stream);
        const auto found = facts.streams.find(run.stream);
        const ComparisonFacts::Stream stream = found == facts.streams.end() ? ComparisonFacts::Stream{} : found->second;
        source["streams"].push_back(
            {{"name", run.stream}, {"problem", stream.problem}, {"marks", marks_json(stream.marks)}});
      }
      facts_.emplace_back();
      runs_.push_back(std::move(run));
    }
    if (folder.has("tables.md")) source["tables"] = markdown_tables(folder.text("tables.md"));
  }

  // Runs finish in any order; a finished comparison's summary has the order of its config, and the settings that its
  // tables show. The summary is too large to pass on, and the rest of it follows from the runs.
  static void choose(const Folder& folder, Json& source, std::vector<ReportRun>& runs) {
    if (!folder.has("summary.json")) return;
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
    Json best = Json::array();
    try {
      const Json summary = folder.parsed("summary.json");
      for (const Json& stream : summary.at("streams"))
        for (const Json& o : stream.at("optimisers")) {
          const auto name = stream.at("name").get<std::string>(), label = o.at("label").get<std::string>();
          for (const Json& s : o.at("settings"))
            places.try_emplace({name, label, s.at("setting").get<std::string>()}, places.size());
          best.push_back({{"stream", name}, {"optimiser", label}, {"setting", o.at("best").at("setting")}});
        }
    } catch (const nlohmann::json::exception&) {
      return;
    } catch (const DataError&) {
      return;
    }
    source["best"] = std::move(best);
    const auto place = [&](const ReportRun& r) {
      const auto found = places.find({r.stream, r.optimiser, r.setting});
      return std::pair(found == places.end() ? places.size() : found->second, r.seed);
    };
    std::stable_sort(runs.begin(), runs.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  }

  void add_run(const Folder& folder) {
    Json& source = add_source(folder, "run");
    source["summary"] = folder.parsed("summary.json");
    ReportRun run = run_of_trace(folder.path);
    const std::string config = source["config"].get<std::string>();
    ConfigFacts facts = facts_of_run(config);
    run.source = sources_.size() - 1;
    run.optimiser = facts.optimiser.empty() ? source["name"].get<std::string>() : facts.optimiser;
    run.seed = facts.seed;
    source["streams"] = Json::array({{{"name", facts.problem},
                                      {"problem", facts.problem},
                                      {"marks", marks_json(drift_marks(config, run.horizon))}}});
    facts_.push_back(std::move(facts));
    runs_.push_back(std::move(run));
  }

  // Runs of one problem, and of one optimiser on it, are named by the options in which they differ.
  void name_runs() {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (sources_[runs_[i].source]["kind"] != "run") continue;
      std::vector<const ConfigFacts*> same_problem, same_optimiser;
      for (const ConfigFacts& other : facts_)
        if (!other.values.empty() && other.problem == facts_[i].problem) {
          same_problem.push_back(&other);
          if (other.optimiser == facts_[i].optimiser) same_optimiser.push_back(&other);
        }
      const std::string stream = differences(facts_[i], same_problem, {"problem", "domain", "start", "metrics"});
      runs_[i].stream = facts_[i].problem + (stream.empty() ? "" : " (" + stream + ")");
      runs_[i].setting = differences(facts_[i], same_optimiser, {"optimiser", "fit", "evaluation"});
      sources_[runs_[i].source]["streams"][0]["name"] = runs_[i].stream;
    }
  }

  Json sources_ = Json::array();
  std::vector<ReportRun> runs_;
  std::vector<ConfigFacts> facts_;  // in step with runs_; empty for those of comparisons
};

}  // namespace

std::string report_json(const std::vector<std::string>& folders, const ReportOrigin& origin) {
  Builder builder;
  for (const std::string& folder : folders) builder.add(folder);
  // Names may not be UTF-8.
  return std::move(builder).json(origin).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace obolus
