#include "fit/stream/fit_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>

#include "config/option_text.hpp"
#include "fit/model/model_file.hpp"
#include "fit/stream/fit_state.hpp"
#include "fit/stream/prediction_file.hpp"
#include "fit/stream/trace_line.hpp"
#include "obolus/core/error.hpp"
#include "run/run_recorder.hpp"

namespace obolus::fit {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

template <class Options>
std::string section(const char* name, Options options) {
  std::string text = fmt::format("\n[{}]\n", name);
  options.describe([&](std::string_view key, auto& value, std::string_view, Range = {}) {
    if (const std::string is = config::value_text(value); !is.empty()) text += fmt::format("{} = {}\n", key, is);
  });
  return text;
}

template <class Options>
std::vector<std::pair<std::string, std::string>> changed(Options options, Options defaults) {
  std::vector<std::pair<std::string, std::string>> is, was;
  const auto list = [](auto& into) {
    return [&](std::string_view key, auto& value, std::string_view, Range = {}) {
      into.emplace_back(key, config::value_text(value));
    };
  };
  options.describe(list(is));
  defaults.describe(list(was));
  std::erase_if(is, [&](const auto& one) { return std::ranges::find(was, one) != was.end(); });
  return is;
}

// Else the model diverged in the round before.
bool is_finite(const Prediction& p) {
  return std::isfinite(p.number) && (p.truth < 0 || std::isfinite(p.truth_probability));
}

class FitRunner {
 public:
  explicit FitRunner(FitRunOptions options)
      : options_(std::move(options)), predictions_(options_.predictions, options_.probabilities) {}

  FitSummary run(const OpenRows& open, std::unique_ptr<RowReader> validation) {
    if (options_.resume && !options_.can_resume)
      throw ConfigError("--resume: got standard input, expected files: rows that are gone cannot be read again");
    std::unique_ptr<RowReader> reader = options_.can_resume ? open() : open_stream(open, options_.stop);
    if (!reader) return stopped_before();
    const std::string label = reader->label();
    const bool has_kinds = reader->has_kinds();
    source_.emplace(std::move(reader), options_.threads > 1 || !options_.can_resume);
    settle_task();
    state_.emplace(options_.fit, options_.evaluation);
    fit().set_label_name(label);
    fit().set_has_kinds(has_kinds);
    if (validation) use_validation(std::move(validation));
    if (!options_.path.empty()) fit().follow(options_.path);
    if (!options_.directory.empty()) open_recorder();
    if (!options_.resume) predictions_.begin();
    return end(loop());
  }

 private:
  [[nodiscard]] FitSummary stopped_before() const {
    FitSummary s;
    s.status = FitStatus::stopped;
    s.task = options_.fit.task;
    return s;
  }

  void settle_task() {
    if (options_.fit.task != FitTask::automatic) return;
    constexpr std::size_t look_ahead = 1000;
    const std::vector<std::string> labels = source_->first_labels(look_ahead, options_.stop);
    options_.fit.task = options_.fit.classes.empty() ? fit_task(labels) : FitTask::classes;
  }

  void use_validation(std::unique_ptr<RowReader> reader) {
    constexpr std::size_t max = 1'000'000;
    std::vector<DataRow> rows;
    for (DataRow row; reader->next(row);) {
      if (rows.size() == max)
        throw DataError(fmt::format("{}: got more than {} validation rows, expected fewer", reader->place(), max));
      rows.push_back(row);
    }
    if (rows.empty()) throw DataError("--validation: got no rows, expected some");
    fit().set_groups(reader->groups(), !reader->index_base().has_value());
    fit().set_validation(rows);
    source_->add_to_digest(rows);
  }

  void open_recorder() {
    recorder_.emplace(RunRecorder::Options{options_.directory, options_.resume, options_.force,
                                           options_.log.checkpoint_every, options_.log.checkpoint_seconds},
                      fit_config(options_));
    recorder_->restore([this](Archive& a, std::uint64_t& trace_bytes) { fields(a, trace_bytes); },
                       [this] { check_restored(); });
    recorder_->append_about(options_.about);
  }

  [[nodiscard]] Fit& fit() { return state_->fit; }
  [[nodiscard]] const Fit& fit() const { return state_->fit; }

  // What may refuse comes before what changes a file.
  void check_restored() {
    if (options_.rows > 0 && state_->rows > options_.rows)
      throw ConfigError(fmt::format("{}: has learnt {} rows already, cannot resume to {}", options_.directory,
                                    state_->rows, options_.rows));
    source_->skip_to_checkpoint(options_.directory);
    predictions_.resume(state_->rows);
  }

  void fields(Archive& a, std::uint64_t& trace_bytes) { state_->fields(a, trace_bytes, predictions_, source_->read()); }

  FitStatus loop() {
    start_ = Clock::now();
    while (options_.rows == 0 || state_->rows < options_.rows) {
      const RowPipe::Item* item = source_->next(options_.stop);
      if (!item && options_.stop && options_.stop()) return FitStatus::stopped;
      if (!item) {
        check_skipped("the end");
        return FitStatus::finished;
      }
      if (!process(*item)) continue;
      if (diverged_ || !std::isfinite(fit().outer_loss())) return FitStatus::diverged;
      if (options_.stop && options_.stop()) return FitStatus::stopped;
      constexpr std::int64_t clock_every = 64;
      if (recorder_ && recorder_->checkpoint_due(state_->rows, clock_every)) {
        save();
        save_model(options_.directory + "/model", fit());
        recorder_->write_summary(summary(FitStatus::running).json());
      }
    }
    return FitStatus::finished;
  }

  // Rows that the reader skipped and bad labels share one budget.
  void check_skipped(const std::string& place) {
    const std::uint64_t skipped = source_->skipped();
    if (skipped + state_->bad_labels > options_.skip_bad)
      throw DataError(
          fmt::format("{}: got {} bad rows before it, {} of them by their labels, expected at most {}; the "
                      "first label: {}",
                      place, skipped + state_->bad_labels, state_->bad_labels, options_.skip_bad, state_->first_bad));
  }

  // False for a row that was left out.
  bool process(const RowPipe::Item& item) {
    if (item.groups > known_groups_) {
      fit().set_groups(source_->groups(item.groups), item.columns);
      if (auto& shadows = state_->shadows) shadows->set_groups(source_->groups(item.groups), item.columns);
      known_groups_ = item.groups;
    }
    check_skipped(item.place);
    const Prediction* prediction = nullptr;
    const auto begun = Clock::now();
    try {
      prediction = &fit().learn(item.row);
    } catch (const DataError& e) {
      const std::string what = fmt::format("{}: {}", item.place, e.what());
      if (source_->skipped() + ++state_->bad_labels > options_.skip_bad) throw DataError(what);
      if (state_->first_bad.empty()) state_->first_bad = what;
      return false;
    }
    state_->learning += since(begun);
    if (diverged_ = !is_finite(*prediction); diverged_) return true;
    if (auto& shadows = state_->shadows) shadows->learn(item.row);
    ++state_->rows;
    std::string_view alarm;
    if (prediction->truth >= 0) alarm = state_->evaluation.add(*prediction, item.row.weight);
    predictions_.write(*prediction, fit(), item.row.tag);
    if (recorder_) trace(alarm);
    last_ = {state_->rows, prediction, &item.row, &state_->evaluation, &fit(), alarm};
    if (options_.on_row) options_.on_row(last_);
    return true;
  }

  // One line per round; an alarm waits for the line of its round. Metrics are in some of them.
  void trace(std::string_view alarm) {
    const std::int64_t round = fit().rounds(), every = options_.log.trace_every;
    if (!alarm.empty()) state_->alarm = alarm;
    if (round == state_->traced || (round % every != 0 && state_->alarm.empty())) return;
    const bool evaluated = round % every == 0 && is_evaluated(round / every), alarmed = !state_->alarm.empty();
    format_trace_line({round, state_->rows, state_->spent + since(start_), std::exchange(state_->alarm, {}), evaluated},
                      fit(), state_->evaluation, trace_line_);
    state_->traced = round;
    recorder_->append_trace(trace_line_);
    if (options_.on_trace) options_.on_trace({trace_line_, evaluated, alarmed, so_far_});
  }

  void save() {
    predictions_.sync();
    const double before = std::exchange(state_->spent, state_->spent + since(start_));
    recorder_->save([this](Archive& a, std::uint64_t& trace_bytes) { fields(a, trace_bytes); });
    state_->spent = before;
  }

  // The checkpoint comes before the last rows are learnt: resumed with more data, the run is as if all had been there
  // at once.
  FitSummary end(FitStatus status) {
    if (status == FitStatus::finished && state_->rows == 0) throw DataError("got no rows, expected at least one");
    last_.row = nullptr;  // it may be gone
    if (options_.on_end && last_.fit) options_.on_end(last_);
    if (recorder_ && status != FitStatus::diverged) save();
    predictions_.sync();
    if (status == FitStatus::finished) fit().finish();
    if (status == FitStatus::finished && !std::isfinite(fit().outer_loss())) status = FitStatus::diverged;
    FitSummary s = summary(status);
    if (status != FitStatus::diverged) {
      if (recorder_) save_model(options_.directory + "/model", fit());
      if (!options_.model.empty()) save_model(options_.model, fit());
    }
    if (recorder_) recorder_->finish(s.json());
    return s;
  }

  [[nodiscard]] FitSummary summary(FitStatus status) const {
    FitSummary s;
    s.status = status;
    s.rows = state_->rows;
    s.rounds = fit().rounds();
    s.features = fit().features();
    s.alarms = state_->evaluation.alarms();
    s.batch = options_.fit.batch;
    s.settings = changed(options_.fit, {.task = options_.fit.task});  // which the rows settle
    std::ranges::copy(changed(options_.evaluation, {}), std::back_inserter(s.settings));
    s.skipped = state_->bad_labels + source_->skipped();
    s.first_skipped = state_->first_bad;
    if (s.first_skipped.empty() && source_->skipped() > 0 && status == FitStatus::finished)
      s.first_skipped = source_->first_skipped();
    s.task = options_.fit.task;
    s.classes = fit().classes();
    for (const auto& [name, value] : state_->evaluation.all()) s.prequential.emplace_back(name, value);
    for (const auto& [name, value] : state_->evaluation.last()) s.window.emplace_back(name, value);
    s.last_window = state_->evaluation.last_window(s.classes.size());
    s.weights = largest_weights(fit(), 20);
    s.hyperparameters = fit().hyperparameters();
    s.penalties = fit().penalties();
    s.shares = fit().shares();
    if (state_->shadows) s.shadows = state_->shadows->results();
    s.seconds = state_->spent + since(start_);
    s.seconds_learning = state_->learning;
    return s;
  }

  FitRunOptions options_;
  std::optional<RowSource> source_;
  std::optional<FitState> state_;
  std::optional<RunRecorder> recorder_;
  PredictionFile predictions_;
  std::size_t known_groups_ = 0;
  bool diverged_ = false;
  FitView last_;
  const std::function<FitSummary()> so_far_ = [this] { return summary(FitStatus::running); };
  std::string trace_line_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

// A report takes the stream's name and the method's from it.
std::string fit_config(const FitRunOptions& o) {
  return "[problem]\nname = \"rows\"\n" + o.source + fmt::format("rounds = {}  # rows, at most; 0: all\n", o.rows) +
         fmt::format("\n[optimiser]\nname = {}\n", config::quoted_text(o.fit.optimiser)) + section("fit", o.fit) +
         section("evaluation", o.evaluation) + section("log", o.log);
}

FitSummary run_fit(FitRunOptions options, const OpenRows& open, std::unique_ptr<RowReader> validation) {
  return FitRunner(std::move(options)).run(open, std::move(validation));
}

}  // namespace obolus::fit
