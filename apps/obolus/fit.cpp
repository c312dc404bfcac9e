// obolus fit DATA…: a linear model of a stream, whose hyperparameters follow the stream.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "about.hpp"
#include "config/document.hpp"
#include "config/option_text.hpp"
#include "config/section_reader.hpp"
#include "data/durable_file.hpp"
#include "fit/stream/fit_path.hpp"
#include "fit/stream/fit_run.hpp"
#include "fit/stream/prediction_line.hpp"
#include "live/view.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "option_flags.hpp"
#include "row_flags.hpp"
#include "run_folder.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

struct CommonOptions {
  FitOptions* options;
  template <class V>
  void describe(V&& v) {
    options->describe_common(v);
  }
};

struct Arguments {
  RowFlags rows;
  fit::FitRunOptions run;
  CommonOptions common{&run.fit};
  std::vector<std::string> advanced;
  std::string out, metrics, predictions, follow;
  bool quiet = false, verbose = false;
  std::optional<std::string> live;  // the address; empty: any free port of this machine
};

// A line after 1, 2, 4, 8, … rows.
class DoublingTable {
 public:
  explicit DoublingTable(bool shown) : shown_(shown) {}

  void row(const fit::FitView& v) {
    if (!shown_ || v.rows != next_) return;
    next_ *= 2;
    print(v);
  }
  // The last row, unless it has its line already.
  void end(const fit::FitView& v) {
    if (shown_ && v.rows * 2 != next_) print(v);
  }

 private:
  void print(const fit::FitView& v) {
    const double weight = v.evaluation->weight(), sum = weight > 0 ? v.evaluation->mean_loss() * weight : 0;
    if (!headed_) head(*v.fit);
    const double since = weight > weight_ ? (sum - sum_) / (weight - weight_) : std::nan("");
    fmt::print(stderr, "{:>10} {:>10} {:>10}", v.rows, short_text(v.evaluation->mean_loss()), short_text(since));
    if (v.fit->options().task == FitTask::classes) fmt::print(stderr, " {:>8.4f}", v.evaluation->accuracy());
    for (const FitHyperparameter& h : v.fit->hyperparameters())
      if (h.tuned && h.name.size() <= max_width) fmt::print(stderr, " {:>11.4g}", h.value);
    const auto& classes = v.fit->classes();
    const auto name = [&](std::int32_t c) { return c < 0 ? std::string("-") : classes[to_size(c)].substr(0, 12); };
    if (v.prediction->truth >= 0 && !classes.empty())
      fmt::print(stderr, "  {} {}", name(v.prediction->truth), name(v.prediction->best));
    else if (v.prediction->truth >= 0)
      fmt::print(stderr, "  {:.5g} {:.5g}", v.prediction->truth_number, v.prediction->number);
    fmt::print(stderr, "\n");
    sum_ = sum;
    weight_ = weight;
  }

  static std::string short_text(double loss) {
    return !std::isfinite(loss) ? "-" : loss < 1e4 ? fmt::format("{:.5f}", loss) : fmt::format("{:.4g}", loss);
  }

  void head(const Fit& fit) {
    headed_ = true;
    const bool classes = fit.options().task == FitTask::classes;
    fmt::print(stderr, "{:>10} {:>10} {:>10}", "rows", classes ? "log-loss" : "sq. error", "since last");
    if (classes) fmt::print(stderr, " {:>8}", "accuracy");
    for (const FitHyperparameter& h : fit.hyperparameters())
      if (h.tuned && h.name.size() <= max_width) fmt::print(stderr, " {:>11}", h.name);
    fmt::print(stderr, "  label predicted\n");
  }

  static constexpr std::size_t max_width = 11;
  bool shown_, headed_ = false;
  std::int64_t next_ = 1;
  double sum_ = 0, weight_ = 0;
};

void print_summary(const fit::FitSummary& s, const std::string& directory) {
  Table table({"", ""}, "ll");
  const auto line = [&](const std::string& name, const std::string& value) { table.row({name, value}); };
  line("rows", count(s.rows) +
                   (s.skipped > 0 ? fmt::format(" and {} skipped, the first: {}", s.skipped, s.first_skipped) : ""));
  line("features", count(s.features));
  if (s.task == FitTask::classes) line("classes", count(static_cast<std::int64_t>(s.classes.size())));
  for (std::size_t i = 0; i < s.prequential.size(); ++i)
    line(s.prequential[i].first,
         fmt::format("{}  (last rows: {})", number(s.prequential[i].second), number(s.window[i].second)));
  for (const FitHyperparameter& h : s.hyperparameters) {
    std::string text = number(h.value) + (h.tuned ? "" : " (fixed)");
    if (h.at_bound >= 0.01) text += fmt::format("  (at a bound in {:.0f} % of the rounds)", 100 * h.at_bound);
    line(h.name, text);
  }
  if (s.penalties) line("l2 of features", fit::text_of(*s.penalties));
  if (s.shares) line("predicted by", fit::text_of(*s.shares));
  for (const fit::Shadows::Result& r : s.shadows)
    line("with " + r.name, r.all.empty() ? "diverged"
                                         : fmt::format("{} {}  (last rows: {})", r.all[0].first,
                                                       number(r.all[0].second), number(r.window[0].second)));
  line("drift alarms", count(s.alarms));
  line("time",
       fmt::format("{}, {} rows per second", duration(s.seconds),
                   count(static_cast<std::int64_t>(s.seconds > 0 ? static_cast<double>(s.rows) / s.seconds : 0))));
  if (!directory.empty()) line("files", directory + "/{config.toml, trace.jsonl, summary.json, model, checkpoint}");
  fmt::print(stderr, "\n{}", without_heading(table));
}

int report_end(const Arguments& a, const fit::FitSummary& s, bool shown) {
  const std::string& directory = a.run.directory;
  if (a.metrics == "-") std::fputs(s.json().c_str(), stdout);
  else if (!a.metrics.empty()) write_atomically(a.metrics, s.json());
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw DataError("cannot write to standard output");
  if (s.status == fit::FitStatus::diverged) {
    fmt::print(stderr,
               "obolus: the model diverged in round {}: the loss of a batch is not a number\n"
               "A smaller --learning-rate may help; check for values of very different sizes.\n",
               s.rounds);
    return diverged;
  }
  if (s.status == fit::FitStatus::stopped) {
    fmt::print(stderr, "obolus: stopped after {} rows{}{}\n", s.rows, s.rows > 0 ? " and saved" : "",
               a.run.can_resume
                   ? "; to resume, give the same command with --out " + shell_quoted(directory) + " --resume"
                   : "");
    return Interruption::exit_code();
  }
  if (shown) print_summary(s, directory);
  return success;
}

int list_advanced() {
  Table table({"key", "default", ""}, "lll");
  FitOptions().describe_advanced([&](std::string_view name, auto& value, std::string_view help, Range = {}) {
    const std::string text = config::value_text(value);
    table.row({std::string(name), text.empty() ? "unset" : text, std::string(help)});
  });
  fmt::print("{}", table.text());
  return success;
}

void set_advanced(FitOptions& options, const std::vector<std::string>& settings) {
  const toml::table root = config::section_of_settings("advanced", settings, "--advanced");
  config::SectionReader reader(root, "advanced");
  options.describe_advanced(reader);
  reader.finish();
}

int run(Arguments& a) {
  if (std::ranges::find(a.advanced, "help") != a.advanced.end()) return list_advanced();
  set_advanced(a.run.fit, a.advanced);
  a.rows.settle();
  if (!a.rows.generate.empty() && a.run.rows == 0)
    throw ConfigError("--generate: got no --rows, expected a number of rows: a generated stream has no end");
  a.run.can_resume = a.rows.can_be_read_again();
  if (a.run.resume && a.out.empty()) throw ConfigError("--resume: got no --out, expected --out DIR, the run to resume");
  a.run.directory = a.out.empty() ? free_directory(a.rows.name()) : a.out;
  a.run.source = a.rows.echo();
  a.run.skip_bad = a.rows.options.skip_bad;
  a.run.about = about_line();
  if (!a.follow.empty()) {
    a.run.path = fit::path_of_trace(a.follow);
    a.run.source += "follow = " + config::quoted_text(a.follow) + "\n";
  }
  const bool to_stdout = a.predictions == "-";
  if (!to_stdout) a.run.predictions = a.predictions;
  if (to_stdout && a.metrics == "-")
    throw ConfigError("--metrics: got - for --predictions too, expected one of the two on standard output");
  const bool shown = a.verbose || (!a.quiet && is_terminal(STDERR_FILENO));
  DoublingTable table(shown);
  std::string line;
  a.run.on_row = [&](const fit::FitView& v) {
    table.row(v);
    if (!to_stdout) return;
    fit::format_prediction(*v.prediction, *v.fit, v.row->tag, a.run.probabilities, line);
    if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size())
      throw DataError("cannot write to standard output");
    if (!a.run.can_resume) std::fflush(stdout);  // a reader may wait for it
  };
  a.run.on_end = [&](const fit::FitView& v) { table.end(v); };
  a.run.stop = [] { return Interruption::signal() != 0; };
  const Interruption interruption;
  std::optional<LiveView> live;
  if (a.live)
    live.emplace(*a.live, fit::fit_config(a.run), a.run.directory,
                 RunName{a.rows.name(), a.run.fit.optimiser, "", a.run.fit.seed});
  if (live && a.run.resume) live->recall(a.run.directory);
  if (live) a.run.on_trace = [&](const fit::FitTraceLine& traced) { live->line(traced); };
  const fit::FitSummary summary =
      fit::run_fit(a.run, [rows = a.rows] { return rows.open(); }, a.rows.open_validation());
  if (live) live->end(summary);
  return report_end(a, summary, shown);
}

constexpr const char* footer =
    "Every row is predicted before it is learnt, so the losses shown are of rows never seen. The learning rate, the "
    "L2\n"
    "of every feature, the weight of replayed rows and the temperature follow the stream; no option is needed.\n"
    "  obolus fit rows.csv --label price                 a table; labels are the column `price`\n"
    "  zcat log.vw.gz | obolus fit - --format vw         a stream\n"
    "  obolus fit --generate sea,drift_rows=5000 --rows 10000\n"
    "  obolus predict runs/rows/model new.csv            with the model that came out\n"
    "  obolus report runs/rows                           plots the path of every hyperparameter\n"
    "Exit codes: 0 done, 2 wrong arguments, 3 bad data, 4 diverged, 130 interrupted and saved.";

void add_output(Verb& verb, Arguments& a) {
  constexpr const char* group = "Output";
  verb.add_option("--out", a.out, "the run's folder; default: runs/NAME-OF-DATA, numbered if that exists")
      ->group(group);
  verb.add_option("--model", a.run.model, "write the model here as well")->group(group);
  verb.add_option("--metrics", a.metrics, "write the summary as JSON, to a file or to standard output (-)")
      ->group(group);
  verb.add_option("--predictions", a.predictions,
                  "one line per row, predicted before the row was learnt; to a file or to standard output (-)")
      ->group(group);
  verb.add_flag("--probabilities", a.run.probabilities, "add a column per class to the predictions")->group(group);
  Flag* resume = verb.add_flag("--resume", a.run.resume,
                               "continue from the checkpoint in --out, with the same bits as an uninterrupted run")
                     ->group(group);
  verb.add_flag("--force", a.run.force, "replace the run in --out")->excludes(resume)->group(group);
  verb.add_flag("-q,--quiet", a.quiet, "print errors only")->group(group);
  verb.add_flag("-v,--verbose", a.verbose, "print progress and summary also when standard error is not a terminal")
      ->group(group);
}

}  // namespace

void add_fit(Verb& app, int& code) {
  Verb* verb = app.add_subcommand("fit", "learn from rows, with hyperparameters that tune themselves");
  auto a = std::make_shared<Arguments>();
  a->rows.add(*verb, true);
  verb->add_option("--generate", a->rows.generate,
                   "a generated stream instead of files: NAME,key=value,…; `obolus list generators` shows them")
      ->group("Rows");
  verb->add_option(
          "--validation", a->rows.validation,
          "a file of rows that judge the hyperparameters, in turn, and are not learnt; the stream's rows then do not "
          "judge")
      ->group("Rows");
  verb->add_option("--rows", a->run.rows, "stop after N rows; 0: at the end")->check(whole_number(0))->group("Rows");
  add_flags(*verb, a->common, "Learner");
  verb->add_option("--advanced", a->advanced,
                   "KEY=VALUE, several times: what only the authors set; --advanced help lists the keys")
      ->group("Learner");
  verb->add_option("--follow", a->follow,
                   "a run's folder or trace: replay its hyperparameters instead of tuning; --tune the same ones")
      ->group("Learner");
  add_flags(*verb, a->run.evaluation, "Evaluation");
  add_output(*verb, *a);
  add_flags(*verb, a->run.log, "Output");
  verb->add_option("--threads", a->run.threads, "2: a second thread reads ahead; results do not depend on it")
      ->check(whole_number(1, 256))
      ->capture_default_str();
  add_live(*verb, a->live);
  verb->footer(footer);
  verb->callback([a, &code] { code = run(*a); });
}

}  // namespace obolus::cli
