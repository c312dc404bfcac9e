// A run from its trace and its summary.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/durable_file.hpp"
#include "obolus/core/error.hpp"
#include "report/report_run.hpp"
#include "report/shallow_json.hpp"
#include "run/profile_json.hpp"

namespace obolus {
namespace {

using Json = nlohmann::ordered_json;

void add_notes(const Json& summary, std::vector<std::string>& notes) {
  const auto note = [&](const char* key, const char* text) {
    if (const auto n = summary.value(key, std::int64_t{0}); n > 0) notes.push_back(fmt::format("{} {}", n, text));
  };
  note("capped_rounds", "rounds at the cap: a tolerance was out of reach; raise max_inner or the tolerances");
  note("indefinite_rounds", "rounds with negative curvature; set damping, or system_solver = \"gd\"");
  note("untrusted_hypergradients", "reference hypergradients missed their tolerance");
  if (summary.contains("inner_problem"))
    notes.push_back("inner problem " + summary["inner_problem"].get<std::string>());
}

void add_summary(const std::string& path, ReportRun& run) {
  try {
    const Json summary = parse_shallow(read_whole_file(path, std::uint64_t{1} << 28));
    if (run.rounds > summary.at("rounds").get<Round>()) return;  // written before the run was resumed
    run.status = summary.at("status").get<std::string>();
    if (summary.contains("diverged")) run.quantity = summary["diverged"].at("quantity").get<std::string>();
    run.horizon = summary.at("horizon").get<Round>();
    if (summary.contains("bound") && summary["bound"].at("value").is_number())
      run.bound = summary["bound"]["value"].get<double>();
    if (summary.contains("x")) run.x = distribution_of(summary["x"]);
    add_notes(summary, run.notes);
  } catch (const nlohmann::json::exception&) {
    throw DataError(path + ": is damaged: not the summary of a run");
  }
}

}  // namespace

ReportRun run_of_trace(const std::string& folder) {
  ReportRun run;
  run.status = "running";
  run.columns = read_trace(folder + "/trace.jsonl");
  run.profiles = run.columns.profiles();
  if (run.columns.rows() > 0) run.rounds = static_cast<Round>(run.columns.t().back());
  run.horizon = run.rounds;
  if (const std::string path = folder + "/summary.json"; std::filesystem::exists(path)) add_summary(path, run);
  return run;
}

}  // namespace obolus
