#include "fit/stream/fit_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "config/option_text.hpp"
#include "fit/model/model_file.hpp"
#include "fit/stream/prediction_file.hpp"
#include "fit/stream/row_pipe.hpp"
#include "fit/stream/rows_digest.hpp"
#include "fit/stream/trace_line.hpp"
#include "obolus/core/error.hpp"
#include "obolus/run/profile.hpp"
#include "run/run_directory.hpp"

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

// Else the model diverged in the round before.
bool is_finite(const Prediction& p) {
  return std::isfinite(p.number) && (p.truth < 0 || std::isfinite(p.truth_probability));
}

class Runner {
 public:
  Runner(FitRunOptions options, const std::function<std::unique_ptr<RowReader>()>& open,
         std::unique_ptr<RowReader> judges)
      : o_(std::move(options)),
        open_(open),
        judges_(std::move(judges)),
        predictions_(o_.predictions, o_.probabilities) {}

  FitSummary run() {
    if (o_.resume && !o_.can_resume)
      throw ConfigError("--resume: got standard input, expected files: rows that are gone cannot be read again");
    std::unique_ptr<RowReader> reader = opened();
    if (!reader) return stopped_before();
    pipe_.emplace(std::move(reader), o_.threads > 1 || !o_.can_resume);
    settle_task();
    const bool classes = o_.fit.task == FitTask::classes;
    fit_.emplace(o_.fit);
    if (judges_) read_judges();
    if (!o_.path.empty()) fit_->follow(o_.path);
    evaluation_.emplace(classes, o_.evaluation);
    if (!o_.directory.empty()) open_directory();
    if (!o_.resume) predictions_.begin();
    const FitStatus status = loop();
    return end(status);
  }

 private:
  [[nodiscard]] FitSummary stopped_before() const {
    FitSummary s;
    s.status = FitStatus::stopped, s.task = o_.fit.task;
    return s;
  }

  // Opening a stream waits for its first bytes, or for a signal; null then. Its thread goes with the process.
  [[nodiscard]] std::unique_ptr<RowReader> opened() const {
    if (o_.can_resume) return open_();
    auto promise = std::make_shared<std::promise<std::unique_ptr<RowReader>>>();
    std::future<std::unique_ptr<RowReader>> reader = promise->get_future();
    std::thread([open = open_, promise] {
      try {
        promise->set_value(open());
      } catch (...) {
        promise->set_exception(std::current_exception());
      }
    }).detach();
    constexpr std::chrono::milliseconds look(50);
    while (reader.wait_for(look) != std::future_status::ready)
      if (o_.stop && o_.stop()) return nullptr;
    return reader.get();
  }

  // The next row; the ones that settled the task come first.
  const RowPipe::Item* next(const std::function<bool()>& stop) {
    if (!first_.empty()) {
      if (took_first_) first_.pop_front();
      took_first_ = !first_.empty();
      if (took_first_) return &first_.front();
    }
    return pipe_->next(stop);
  }

  void settle_task() {
    if (o_.fit.task != FitTask::automatic) return;
    constexpr std::size_t look_ahead = 1000;
    std::vector<std::string> labels;
    while (first_.size() < look_ahead) {
      const RowPipe::Item* item = pipe_->next(o_.stop);
      if (!item) break;
      if (!item->row.label.empty()) labels.push_back(item->row.label);
      first_.push_back(*item);
    }
    o_.fit.task = o_.fit.classes.empty() ? fit_task(labels) : FitTask::classes;
  }

  void read_judges() {
    constexpr std::size_t max = 1'000'000;
    std::vector<DataRow> rows;
    for (DataRow row; judges_->next(row);) {
      if (rows.size() == max)
        throw DataError(fmt::format("{}: got more than {} rows to judge by, expected fewer", judges_->place(), max));
      rows.push_back(row);
    }
    if (rows.empty()) throw DataError("--validation: got no rows, expected some");
    fit_->set_groups(judges_->groups(), !judges_->index_base().has_value());
    fit_->set_validation(rows);
    for (const DataRow& row : rows) judges_digest_.add(row);
    digest_ = judges_digest_;
    judges_.reset();
  }

  void open_directory() {
    using Mode = RunDirectory::Mode;
    const Mode mode = o_.resume ? Mode::resume : o_.force ? Mode::replace : Mode::fresh;
    directory_.emplace(o_.directory, mode, fit_config(o_));
    if (o_.resume) restore();
    if (!o_.about.empty()) directory_->append_about(o_.about);
  }

  void restore() {
    std::uint64_t trace_bytes = 0;
    if (auto bytes = directory_->load_checkpoint()) {
      Archive a(std::move(*bytes));
      fields(a, trace_bytes);
      a.finish();
    }
    if (o_.rows > 0 && rows_ > o_.rows)
      throw ConfigError(
          fmt::format("{}: has learnt {} rows already, cannot resume to {}", o_.directory, rows_, o_.rows));
    skip_rows();  // first: where it refuses, nothing has changed
    predictions_.resume(rows_);
    directory_->truncate_trace(trace_bytes);
    directory_->write_config();
  }

  // Reads up to where the checkpoint was; the rows must be those of then.
  void skip_rows() {
    RowsDigest digest = judges_digest_;
    for (std::int64_t i = 0; i < read_; ++i) {
      const RowPipe::Item* item = next({});
      if (!item)
        throw DataError(
            fmt::format("{}: cannot resume: the data has {} rows, the checkpoint has read {}", o_.directory, i, read_));
      add(digest, *item);
      skipped_ = item->skipped;
    }
    if (read_ > 0 && digest.value != digest_.value)
      throw DataError(o_.directory + ": cannot resume: the rows differ from those before the checkpoint");
    digest_ = digest;
  }

  void add(RowsDigest& digest, const RowPipe::Item& item) {
    if (digest.groups < item.groups)
      for (const auto& names = pipe_->groups(); digest.groups < item.groups;) digest.add_group(names[digest.groups]);
    digest.add(item.row);
  }

  void fields(Archive& a, std::uint64_t& trace_bytes) {
    a("trace_bytes", trace_bytes), a("predictions", predictions_), a("rows", read_);
    a("digest", digest_.value), a("learnt", rows_), a("traced", traced_), a("bad_labels", bad_labels_);
    a("first_bad", first_bad_), a("alarm", alarm_), a("learning", learning_), a("spent", spent_);
    a("fit", *fit_), a("evaluation", *evaluation_);
  }

  FitStatus loop() {
    start_ = saved_ = Clock::now();
    while (o_.rows == 0 || rows_ < o_.rows) {
      const RowPipe::Item* item = next(o_.stop);
      if (!item && o_.stop && o_.stop()) return FitStatus::stopped;
      if (!item) {
        count_skipped(pipe_->reader().skipped(), "the end");
        return FitStatus::finished;
      }
      ++read_;
      add(digest_, *item);
      if (!learn(*item)) continue;
      if (diverged_ || !std::isfinite(fit_->outer_loss())) return FitStatus::diverged;
      if (o_.stop && o_.stop()) return FitStatus::stopped;
      if (directory_ && due()) {
        save();
        save_model(o_.directory + "/model", *fit_);
      }
    }
    return FitStatus::finished;
  }

  // Rows that the reader skipped and labels that are none share one budget.
  void count_skipped(std::uint64_t skipped, const std::string& place) {
    skipped_ = skipped;
    if (skipped_ + bad_labels_ > o_.skip_bad)
      throw DataError(
          fmt::format("{}: got {} bad rows before it, {} of them by their labels, expected at most {}; the "
                      "first label: {}",
                      place, skipped_ + bad_labels_, bad_labels_, o_.skip_bad, first_bad_));
  }

  // False for a row that was left out.
  bool learn(const RowPipe::Item& item) {
    if (item.groups > known_groups_) {
      fit_->set_groups(std::span(pipe_->groups()).first(item.groups), item.columns);  // not those of rows read ahead
      known_groups_ = item.groups;
    }
    count_skipped(item.skipped, item.place);
    const Prediction* prediction = nullptr;
    const auto begun = Clock::now();
    try {
      prediction = &fit_->learn(item.row);
    } catch (const DataError& e) {
      const std::string what = fmt::format("{}: {}", item.place, e.what());
      if (skipped_ + ++bad_labels_ > o_.skip_bad) throw DataError(what);
      if (first_bad_.empty()) first_bad_ = what;
      return false;
    }
    learning_ += since(begun);
    if (diverged_ = !is_finite(*prediction); diverged_) return true;
    ++rows_;
    std::string_view alarm;
    if (prediction->truth >= 0) alarm = evaluation_->add(*prediction, item.row.weight);
    predictions_.write(*prediction, *fit_, item.row.tag);
    if (directory_) trace(alarm);
    last_ = {rows_, prediction, &item.row, &*evaluation_, &*fit_, alarm};
    if (o_.on_row) o_.on_row(last_);
    return true;
  }

  // A line a round; an alarm waits for its round's. Metrics are in some of them: 16 to 32 in every octave of rounds.
  void trace(std::string_view alarm) {
    const std::int64_t round = fit_->rounds();
    if (!alarm.empty()) alarm_ = alarm;
    if (round == traced_ || (round % o_.log.trace_every != 0 && alarm_.empty())) return;
    const bool evaluated = round % o_.log.trace_every == 0 && profiled(round / o_.log.trace_every);
    trace_text({round, rows_, spent_ + since(start_), std::exchange(alarm_, {}), evaluated}, *fit_, *evaluation_,
               trace_line_);
    traced_ = round;
    directory_->append_trace(trace_line_);
    if (o_.on_trace) o_.on_trace(trace_line_, evaluated);
  }

  [[nodiscard]] bool due() const {
    if (o_.log.checkpoint_every > 0 && rows_ % o_.log.checkpoint_every == 0) return true;
    constexpr std::int64_t looks = 64;  // at the clock, rows apart
    return rows_ % looks == 0 && since(saved_) > o_.log.checkpoint_seconds;
  }

  void save() {
    predictions_.sync();
    Archive a;
    std::uint64_t trace_bytes = directory_->trace_bytes();
    const double before = spent_;
    spent_ += since(start_);
    fields(a, trace_bytes);
    spent_ = before;
    directory_->save_checkpoint(a.bytes());
    saved_ = Clock::now();
  }

  // The checkpoint comes before the last rows are learnt: with more data the run goes on as if it had been there at once.
  FitSummary end(FitStatus status) {
    if (status == FitStatus::finished && rows_ == 0) throw DataError("got no rows, expected at least one");
    last_.row = nullptr;  // it may be gone
    if (o_.on_end && last_.fit) o_.on_end(last_);
    if (directory_ && status != FitStatus::diverged) save();
    predictions_.sync();
    if (status == FitStatus::finished) fit_->finish();
    if (status == FitStatus::finished && !std::isfinite(fit_->outer_loss())) status = FitStatus::diverged;
    FitSummary s = summary(status);
    if (status == FitStatus::diverged) return write(s);
    if (directory_) save_model(o_.directory + "/model", *fit_);
    if (!o_.model.empty()) save_model(o_.model, *fit_);
    return write(s);
  }

  FitSummary write(const FitSummary& s) {
    if (!directory_) return s;
    directory_->sync_trace();
    directory_->write_summary(s.json());
    return s;
  }

  [[nodiscard]] FitSummary summary(FitStatus status) const {
    FitSummary s;
    s.status = status;
    s.rows = rows_, s.rounds = fit_->rounds(), s.features = fit_->features(), s.alarms = evaluation_->alarms();
    s.skipped = bad_labels_ + skipped_;
    s.first_skipped = first_bad_;
    if (s.first_skipped.empty() && skipped_ > 0 && status == FitStatus::finished)
      s.first_skipped = pipe_->reader().first_skipped();
    s.task = o_.fit.task;
    s.classes = fit_->classes();
    for (const auto& [name, value] : evaluation_->all()) s.prequential.emplace_back(name, value);
    for (const auto& [name, value] : evaluation_->last()) s.window.emplace_back(name, value);
    s.hyperparameters = fit_->hyperparameters(), s.penalties = fit_->penalties();
    s.seconds = spent_ + since(start_);
    s.seconds_learning = learning_;
    return s;
  }

  FitRunOptions o_;
  std::function<std::unique_ptr<RowReader>()> open_;
  std::unique_ptr<RowReader> judges_;
  std::optional<RowPipe> pipe_;
  std::deque<RowPipe::Item> first_;
  bool took_first_ = false, diverged_ = false;
  std::optional<Fit> fit_;
  std::optional<FitEvaluation> evaluation_;
  std::optional<RunDirectory> directory_;
  PredictionFile predictions_;
  std::int64_t read_ = 0, rows_ = 0, traced_ = 0;
  std::size_t known_groups_ = 0;
  FitView last_;
  RowsDigest digest_, judges_digest_;  // the rows so far begin with those to judge by
  std::uint64_t bad_labels_ = 0, skipped_ = 0;
  std::string first_bad_, trace_line_, alarm_;
  double learning_ = 0, spent_ = 0;
  Clock::time_point start_ = Clock::now(), saved_ = Clock::now();
};

}  // namespace

// The echo. A report takes the stream's name and the method's from it.
std::string fit_config(const FitRunOptions& o) {
  return "[problem]\nname = \"rows\"\n" + o.source + fmt::format("rounds = {}  # rows, at most; 0: all\n", o.rows) +
         "\n[optimiser]\nname = \"forward\"\n" + section("fit", o.fit) + section("evaluation", o.evaluation) +
         section("log", o.log);
}

FitSummary run_fit(FitRunOptions options, const std::function<std::unique_ptr<RowReader>()>& open,
                   std::unique_ptr<RowReader> judges) {
  return Runner(std::move(options), open, std::move(judges)).run();
}

}  // namespace obolus::fit
