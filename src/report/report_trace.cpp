// A run's trace, read line by line in memory that does not grow with it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/durable_file.hpp"
#include "obolus/core/error.hpp"
#include "report/line_reader.hpp"
#include "report/report_run.hpp"
#include "report/shallow_json.hpp"
#include "run/profile_json.hpp"

namespace obolus {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_rows = 20'000;  // held; about a half of them stay at least

// Keeps one row of so many, in two kinds: those that were evaluated have a stride of their own, so that they go last. Rounds with a profile
// always stay: they are few, and a logarithmic axis needs them.
class TraceReader {
 public:
  void add(Json&& row) {
    const double t = row.at("t").get<double>();
    if (!(t > t_ && t < 9e15 && t == std::floor(t))) throw Json::other_error::create(501, "no next round", nullptr);
    t_ = t;
    for (const char* name : {"x_values", "x_quantiles"})
      if (row.contains(name)) profile(Round(t), row, row[name]);
    Kind& kind = kinds_[row.contains("evaluation") ? 1 : 0];
    last_kept_ = kind.seen++ % kind.stride == 0 || profiled(Round(t));
    if (last_kept_) keep(row);
    else last_ = std::move(row);  // the last round is always shown
  }

  void finish(ReportRun& run) && {
    if (!last_kept_) keep(last_);
    run.columns = std::move(columns_).take(), run.evaluation = std::move(evaluation_).take();
    run.profiles = std::move(profiles_);
  }

 private:
  struct Kind {
    std::size_t seen = 0, stride = 1;
  };

  void keep(const Json& row) {
    columns_.begin_row(), evaluation_.begin_row();
    columns_.put("t", row.at("t").get<double>());
    for (const auto& [name, value] : row.items()) {
      if (name == "evaluation") evaluated(value);
      else if (value.is_boolean()) columns_.put(name, value.get<bool>() ? 1 : 0);
      else if (value.is_number() && name != "t" && name != "x_size") columns_.put(name, value.get<double>());
    }
    kept_.push_back({Round(row.at("t").get<double>()), row.contains("evaluation")});
    if (kept_.size() > max_rows) thin();
  }

  void evaluated(const Json& numbers) {
    for (const auto& [measure, number] : numbers.get_ref<const Json::object_t&>())
      evaluation_.put(measure, number.get<double>());
  }

  void profile(Round t, const Json& row, const Json& numbers) {
    Profile p{t, row.value("x_size", Index(numbers.size())), numbers.get<std::vector<double>>()};
    if (profiles_.empty() || profiles_.front().numbers.size() == p.numbers.size()) profiles_.push_back(std::move(p));
  }

  // Every second row of one kind goes, of the evaluated ones only when they are the most.
  void thin() {
    const auto evaluated = std::count_if(kept_.begin(), kept_.end(), [](const Kept& k) { return k.evaluated; });
    const bool of = 2 * std::size_t(evaluated) > kept_.size();
    kinds_[of ? 1 : 0].stride *= 2;
    std::vector<bool> stays(kept_.size(), true);
    std::size_t ordinal = 0;
    for (std::size_t i = 0; i < kept_.size(); ++i)
      if (kept_[i].evaluated == of) stays[i] = ordinal++ % 2 == 0 || profiled(kept_[i].t);
    columns_.keep_rows(stays), evaluation_.keep_rows(stays);
    std::size_t to = 0;
    for (std::size_t i = 0; i < kept_.size(); ++i)
      if (stays[i]) kept_[to++] = kept_[i];
    kept_.resize(to);
  }

  struct Kept {
    Round t;
    bool evaluated;
  };
  ReportColumns columns_, evaluation_;
  std::vector<Kept> kept_;
  std::vector<Profile> profiles_;
  Json last_;
  bool last_kept_ = true;
  double t_ = 0;
  Kind kinds_[2];  // plain, evaluated
};

void read_lines(const std::string& path, TraceReader& reader) {
  LineReader lines(path);
  for (std::string line; lines.next(line);) try {
      reader.add(parse_shallow(line));
    } catch (const nlohmann::json::exception&) {
      if (!lines.ended()) return;  // killed while writing, or still writing
      throw DataError(lines.place() + ": is damaged: not one round of a run");
    } catch (const DataError& e) {
      throw DataError(fmt::format("{}: {}", lines.place(), e.what()));
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
    const Json summary = parse_shallow(read_whole_file(path, std::uint64_t{1} << 28));
    if (run.rounds > summary.at("rounds").get<Round>()) return;  // of the part before a run was resumed
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
  return run;
}

}  // namespace obolus
