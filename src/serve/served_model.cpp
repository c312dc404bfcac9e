#include "serve/served_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "data/append_format.hpp"
#include "data/checksum.hpp"
#include "fit/model/model_file.hpp"
#include "obolus/core/error.hpp"
#include "serve/json_text.hpp"
#include "serve/served_model_parts.hpp"

namespace obolus::serve {
namespace {

const char* task_name(const Fit& fit) { return fit.options().task == FitTask::numbers ? "numbers" : "classes"; }

void append_list(std::string& to, const std::vector<std::string>& names) {
  to += '[';
  for (const std::string& name : names) {
    if (!to.ends_with('[')) to += ',';
    append_json(to, name);
  }
  to += ']';
}

void append_numbers(std::string& to, const fit::NamedNumbers& numbers) {
  to += '{';
  const char* comma = "";
  for (const auto& [name, value] : numbers) {
    to += std::exchange(comma, ",");
    append_json(to, name);
    if (std::isfinite(value)) append_format(to, ":{}", value);
    else to += ":null";
  }
  to += '}';
}

}  // namespace

ServedModel::ServedModel(std::string name, const std::string& path, const ServeOptions& options)
    : name_(std::move(name)), options_(options), kept_(options.kept), synced_(Clock::now()), saved_(Clock::now()) {
  if (std::filesystem::is_directory(path)) open_run(path);
  else open_file(path);
  if (durable_) writer_ = std::thread([this] { write(); });
}

ServedModel::~ServedModel() { stop(); }

void ServedModel::stop() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  waiting_.notify_one();
  if (writer_.joinable()) writer_.join();
}

void ServedModel::open_run(const std::string& folder) {
  fit::RestoredRun run = fit::restore_run(folder);
  keys_ = keys_of(run.fit, KeysFrom::run, run.row_options, options_.id);
  ServedState state(std::move(run.fit), std::move(run.evaluation), run.rows);
  durable_.emplace(folder + "/serve", file_checksum(folder + "/checkpoint"), options_.keep_journal);
  durable_->recover(state, [&](std::string_view lines) { relearn(state, lines); });
  journal_bytes_ = static_cast<std::int64_t>(durable_->journal_bytes());
  journal_start_ = durable_->journal_start();
  ServedState copy = copy_of(state);
  state_.emplace(std::move(state), std::move(copy));
}

void ServedModel::open_file(const std::string& file) {
  const auto state = [&] {
    Fit fit = fit::load_model(file);
    const std::int64_t rows = fit.rows();
    const bool classes = fit.options().task == FitTask::classes;
    return ServedState(std::move(fit), fit::FitEvaluation(classes, {}), rows);
  };
  state_.emplace(state(), state());  // what a file holds is too little to copy it
  keys_ = keys_of(state_->shown().fit, KeysFrom::model_file, {}, options_.id);
}

void ServedModel::relearn(ServedState& state, std::string_view lines) const {
  RowRequests rows(keys_);
  state.learn(rows.read(lines, BodyForm::lines, RowUse::learn, static_cast<std::size_t>(-1)), nullptr);
}

std::unique_ptr<ServedModel::Bench> ServedModel::bench() {
  const std::lock_guard lock(benches_mutex_);
  if (benches_.empty()) return std::make_unique<Bench>(keys_);
  auto bench = std::move(benches_.back());
  benches_.pop_back();
  return bench;
}

void ServedModel::put_back(std::unique_ptr<Bench> bench) {
  const std::lock_guard lock(benches_mutex_);
  benches_.push_back(std::move(bench));
}

std::string ServedModel::predict(std::string_view body, BodyForm form) {
  auto bench = this->bench();
  const RowBatch batch = bench->rows.read(body, form, RowUse::predict, options_.max_rows);
  std::string predictions;
  std::int64_t rows = 0;
  {
    const auto state = state_->read();
    require_answerable(batch, state->fit);
    rows = state->rows;
    for (const RowBatch::Row& r : batch.rows) {
      if (!predictions.empty()) predictions += ',';
      append_prediction(predictions, bench->reader.predict(state->fit, r.row, batch.groups), state->fit, r.row.tag);
    }
  }
  put_back(std::move(bench));
  if (learns())
    for (const RowBatch::Row& r : batch.rows)
      if (!r.row.tag.empty()) kept_.keep(r.row.tag, std::string(batch.line(r)));
  counts_.predicted += std::ssize(batch.rows);
  std::string answer = R"({"model":)";
  append_json(answer, name_);
  append_format(answer, R"(,"rows":{},"predictions":[)", rows);
  return answer + predictions + "]}";
}

void ServedModel::predict(std::string_view lines, const std::function<void(const Prediction&, const Fit&)>& take) {
  auto bench = this->bench();
  const RowBatch batch = bench->rows.read(lines, BodyForm::lines, RowUse::predict, options_.max_rows);
  {
    const auto state = state_->read();
    for (const RowBatch::Row& r : batch.rows) take(bench->reader.predict(state->fit, r.row, batch.groups), state->fit);
  }
  put_back(std::move(bench));
  counts_.predicted += std::ssize(batch.rows);
}

std::string ServedModel::learn(std::string_view body, BodyForm form) {
  if (!learns()) throw Refusal(409, "this is a model file, which predicts only; serve the run's folder to learn");
  auto bench = this->bench();
  RowBatch batch = bench->rows.read(body, form, RowUse::learn, options_.max_rows);
  put_back(std::move(bench));
  return learn(std::move(batch), "");
}

// An id's row is taken away first, so that two answers to it cannot both be learnt.
std::string ServedModel::feedback(std::string_view body, BodyForm form) {
  if (!learns()) throw Refusal(409, "this is a model file, which predicts only; serve the run's folder to learn");
  std::string lines, unknown;
  std::vector<std::pair<std::string, std::string>> taken;
  try {
    for (const Feedback& f : read_feedback(body, form, keys_.options.label, options_.max_rows)) {
      if (auto line = kept_.take(f.id)) {
        lines += with_label(*line, keys_.options.label, f.label);
        taken.emplace_back(f.id, std::move(*line));
      } else {
        unknown += unknown.empty() ? "" : ",";
        append_json(unknown, f.id);
      }
    }
    auto bench = this->bench();
    RowBatch batch = bench->rows.read(lines, BodyForm::lines, RowUse::learn, options_.max_rows);
    put_back(std::move(bench));
    for (std::size_t i = 0; i < batch.rows.size(); ++i) batch.rows[i].row.tag = taken[i].first;
    return learn(std::move(batch), R"(,"unknown":[)" + unknown + "]");
  } catch (...) {
    for (auto& [id, line] : taken) kept_.keep(id, std::move(line));
    throw;
  }
}

std::string ServedModel::learn(RowBatch&& batch, std::string_view members) {
  const std::int64_t count = std::ssize(batch.rows);
  Job job;
  job.batch = std::move(batch);
  if (count > 0) submit(job);
  else job.rows = state_->read()->rows;
  std::string answer = R"({"model":)";
  append_json(answer, name_);
  append_format(answer, R"(,"rows":{},"learnt":{},"predictions":[)", job.rows, count);
  return answer + job.answer + "]" + std::string(members) + "}";
}

std::string ServedModel::checkpoint() {
  if (!learns()) throw Refusal(409, "this is a model file: there is nothing to save");
  Job job;
  job.checkpoint = true;
  submit(job);
  std::string answer = R"({"model":)";
  append_json(answer, name_);
  append_format(answer, R"(,"rows":{}}})", job.rows);
  return answer;
}

// Waits until the writer has done it.
void ServedModel::submit(Job& job) {
  const std::size_t rows = job.batch.rows.size(), bytes = job.batch.lines.size();
  {
    const std::lock_guard lock(mutex_);
    if (closing_) throw Refusal(503, "the server is about to stop", 5);
    if (queued_rows_ > 0 &&
        (queued_rows_ + rows > options_.max_queued_rows || queued_bytes_ + bytes > options_.max_queued_bytes))
      throw Refusal(429, "too many rows wait to be learnt", 1);
    queued_rows_ += rows;
    queued_bytes_ += bytes;
    queue_.push_back(&job);
  }
  waiting_.notify_one();
  job.done.acquire();
  if (job.refusal) throw *job.refusal;
}

std::string ServedModel::listing() const { return listing(*state_->read()); }

std::string ServedModel::listing(const ServedState& state) const {
  std::string text = R"({"name":)";
  append_json(text, name_);
  append_format(text, R"(,"task":"{}","rows":{},"learns":{}}})", task_name(state.fit), state.rows, learns());
  return text;
}

std::string ServedModel::about() const {
  const auto state = state_->read();
  const Fit& fit = state->fit;
  std::string text = listing(*state);
  text.pop_back();
  append_format(text, R"(,"rounds":{},"features":{},"classes":)", fit.rounds(), fit.features());
  append_list(text, fit.classes());
  text += R"(,"label":)";
  append_json(text, keys_.options.label);
  text += R"(,"columns":{"numeric":)";
  append_list(text, fit.columns(true));
  text += R"(,"categorical":)";
  append_list(text, fit.columns(false));
  text += R"(},"hyperparameters":[)";
  for (const FitHyperparameter& h : fit.hyperparameters()) {
    text += text.ends_with('[') ? R"({"name":)" : R"(,{"name":)";
    append_json(text, h.name);
    append_format(text, R"(,"value":{},"tuned":{}}})", h.value, h.tuned);
  }
  text += R"(],"metrics":{"all":)";
  append_numbers(text, state->evaluation.all());
  text += R"(,"window":)";
  append_numbers(text, state->evaluation.last());
  append_format(text, R"(}},"alarms":{},"kept":{},"journal":{{"bytes":{},"rows":{}}}}})", state->evaluation.alarms(),
                kept(), journal_bytes_.load(), learns() ? state->rows - journal_start_ : 0);
  return text;
}

}  // namespace obolus::serve
