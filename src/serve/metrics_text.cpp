#include "serve/metrics_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "data/append_format.hpp"

namespace obolus::serve {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text)
    if (c == '\\' || c == '"') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else out += c;
  return out + "\"";
}

}  // namespace

void MetricsText::sample(const char* name, const char* type, const char* help, const std::string& labels,
                         double value) {
  Family& family = families_.try_emplace(name, Family{type, help, {}}).first->second;
  const std::string text = std::isfinite(value) ? fmt::format("{}", value) : "NaN";
  append_format(family.samples, "{}{{{}}} {}\n", name, labels, text);
}

void MetricsText::add(const ServedModel& model) {
  const std::string of = "model=" + quoted(model.name());
  const ServedCounts& counts = model.counts();
  const auto number = [](auto v) { return static_cast<double>(v); };
  sample("obolus_rows_predicted_total", "counter", "Rows predicted since the start.", of,
         number(counts.predicted.load()));
  sample("obolus_rows_learnt_total", "counter", "Rows learnt since the start.", of, number(counts.learnt.load()));
  sample("obolus_queued_rows", "gauge", "Rows that wait to be learnt.", of, number(model.queued_rows()));
  sample("obolus_kept_rows", "gauge", "Predicted rows whose labels may follow.", of, number(model.kept()));
  sample("obolus_journal_bytes", "gauge", "Bytes of the journal since the last checkpoint.", of,
         number(model.journal_bytes()));
  sample("obolus_syncs_total", "counter", "Times the journal was synced to the disk.", of, number(counts.syncs.load()));
  sample("obolus_sync_seconds_total", "counter", "Seconds spent in them.", of, counts.sync_seconds.load());
  sample("obolus_checkpoints_total", "counter", "Checkpoints written.", of, number(counts.checkpoints.load()));
  sample("obolus_disk_full", "gauge", "1 while the disk takes no rows.", of, model.is_full() ? 1 : 0);
  const auto state = model.state().read();
  sample("obolus_model_rows", "gauge", "Rows that the model has learnt.", of, number(state->rows));
  sample("obolus_model_features", "gauge", "Features that it knows.", of, number(state->fit.features()));
  sample("obolus_drift_alarms_total", "counter", "Changes that its drift detectors reported.", of,
         number(state->evaluation.alarms()));
  for (const auto& [name, value] : state->evaluation.last())
    sample("obolus_window_metric", "gauge", "Metrics over the latest rows, each predicted before it was learnt.",
           of + ",metric=" + quoted(name), value);
  for (const FitHyperparameter& h : state->fit.hyperparameters())
    sample("obolus_hyperparameter", "gauge", "Hyperparameters as they stand.", of + ",name=" + quoted(h.name), h.value);
}

void MetricsText::add_requests(std::string_view path, int status, std::int64_t count, double seconds) {
  const std::string of = fmt::format("path={},status=\"{}\"", quoted(path), status);
  sample("obolus_requests_total", "counter", "Requests answered.", of, static_cast<double>(count));
  sample("obolus_request_seconds_total", "counter", "Seconds spent on them.", of, seconds);
}

std::string MetricsText::text() const {
  std::string all;
  for (const auto& [name, family] : families_)
    append_format(all, "# HELP {} {}\n# TYPE {} {}\n{}", name, family.help, name, family.type, family.samples);
  return all;
}

}  // namespace obolus::serve
