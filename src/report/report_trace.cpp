// A run's trace, read line by line in memory that does not grow with it.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "obolus/core/error.hpp"
#include "report/line_reader.hpp"
#include "report/report_run.hpp"
#include "run/durable_file.hpp"
#include "run/profile_json.hpp"

namespace obolus {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_rows = 20'000;  // held; between a half and all of them stay
constexpr std::size_t most_columns = 256;

class TraceReader {
 public:
  void add(const Json& row) {
    const double before = std::exchange(t_, row.at("t").get<double>());
    if (!(t_ > before)) throw Json::other_error::create(501, "rounds must ascend", nullptr);
    if (std::size_t(seen_++) % stride_ != 0 && !row.contains("evaluation")) {
      last_ = row;  // kept for the end: the last round is always shown
      return;
    }
    last_ = Json();
    keep(row);
  }

  void finish(ReportRun& run) && {
    if (!last_.is_null()) keep(last_);
    run.columns = std::move(columns_).take(), run.evaluation = std::move(evaluation_).take();
    run.profiles = std::move(profiles_);
  }

 private:
  void keep(const Json& row) {
    columns_.begin_row(), evaluation_.begin_row(), evaluated_.push_back(row.contains("evaluation"));
    columns_.put("t", row.at("t").get<double>());
    if (row.size() > most_columns) throw Json::other_error::create(501, "too many numbers in a row", nullptr);
    for (const auto& [name, value] : row.items()) {
      if (name == "t") continue;
      if (name == "evaluation") evaluated(value);
      else if (value.is_boolean()) columns_.put(name, value.get<bool>() ? 1 : 0);
      else if (value.is_number()) columns_.put(name, value.get<double>());
      else if (name == "x_values" || name == "x_quantiles")
        profile(row.at("t").get<Round>(), value, name == "x_values");
    }
    if (columns_.rows() > most_rows) thin();
  }

  void evaluated(const Json& numbers) {
    for (const auto& [measure, number] : numbers.get_ref<const Json::object_t&>())
      evaluation_.put(measure, number.get<double>());
  }

  void profile(Round t, const Json& numbers, bool whole) {
    // The trace does not say how many there are behind quantiles.
    Profile p{t, whole ? Index(numbers.size()) : Profile::most_values + 1, numbers.get<std::vector<double>>()};
    if (profiles_.empty() || profiles_.front().numbers.size() == p.numbers.size()) profiles_.push_back(std::move(p));
  }

  // Every second row goes, the evaluated ones last.
  void thin() {
    stride_ *= 2;
    std::vector<bool> kept(columns_.rows());
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = i % 2 == 0 || evaluated_[i];
    if (std::count(kept.begin(), kept.end(), true) > std::ptrdiff_t(most_rows * 3 / 4))
      for (std::size_t i = 1; i < kept.size(); i += 2) kept[i] = false;
    columns_.keep_rows(kept), evaluation_.keep_rows(kept);
    std::size_t to = 0;
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (kept[i]) evaluated_[to++] = evaluated_[i];
    evaluated_.resize(to);
  }

  ReportColumns columns_, evaluation_;
  std::vector<bool> evaluated_;
  std::vector<Profile> profiles_;
  Json last_;
  double t_ = 0;
  std::size_t seen_ = 0, stride_ = 1;
};

void read_lines(const std::string& path, TraceReader& reader) {
  LineReader lines(path);
  for (std::string line; lines.next(line);) try {
      reader.add(Json::parse(line));
    } catch (const nlohmann::json::exception&) {
      if (!lines.ended()) return;  // killed while writing, or still writing
      throw DataError(lines.place() + ": is damaged: not one round of a run");
    }
}

void add_notes(const Json& summary, std::vector<std::string>& notes) {
  const auto note = [&](const char* key, const char* text) {
    if (const auto n = summary.value(key, std::int64_t{0}); n > 0) notes.push_back(fmt::format("{} {}", n, text));
  };
  note("capped_rounds", "rounds at the cap: a tolerance was out of reach; raise max_inner, or the tolerances");
  note("indefinite_rounds", "rounds with negative curvature; set damping, or system_solver = \"gd\"");
  note("untrusted_hypergradients", "reference hypergradients missed their tolerance");
  if (summary.contains("inner_problem"))
    notes.push_back("inner problem " + summary["inner_problem"].get<std::string>());
}

void add_summary(const std::string& path, ReportRun& run) {
  try {
    const Json summary = Json::parse(read_whole_file(path, std::uint64_t{1} << 28));
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
  TraceReader reader;
  read_lines(folder + "/trace.jsonl", reader);
  std::move(reader).finish(run);
  if (!run.columns.empty()) run.rounds = Round(run.columns.front().values.back());
  run.horizon = run.rounds;
  if (const std::string path = folder + "/summary.json"; std::filesystem::exists(path)) add_summary(path, run);
  if (run.x.size > 0)
    for (Profile& p : run.profiles) p.size = run.x.size;
  return run;
}

}  // namespace obolus
