#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fit/stream/fit_run.hpp"
#include "obolus/run/table.hpp"

namespace obolus::fit {

const char* FitSummary::name() const {
  return status == FitStatus::finished ? "finished" : status == FitStatus::stopped ? "stopped" : "diverged";
}

std::string text_of(const Fit::Penalties& p) {
  return fmt::format("{} to {}, half of them below {}", number(p.min), number(p.max), number(p.middle));
}

std::string FitSummary::json() const {
  using Json = nlohmann::ordered_json;
  const auto named = [](const auto& list) {
    Json out = Json::object();
    for (const auto& [name, value] : list)
      if (std::isfinite(value)) out[std::string(name)] = value;
    return out;
  };
  Json out;
  out["status"] = name();
  if (status == FitStatus::diverged) out["diverged"] = {{"round", rounds}, {"quantity", "the loss of a batch"}};
  out["rows"] = rows;
  out["rounds"] = rounds;
  out["horizon"] = rounds;
  out["skipped"] = skipped;
  if (!first_skipped.empty()) out["first_skipped"] = first_skipped;
  out["task"] = name_of(task);
  if (task == FitTask::classes) out["classes"] = classes;
  out["features"] = features;
  out["prequential"] = named(prequential);
  out["window"] = named(window);
  out["alarms"] = alarms;
  Json h = Json::object(), tuned = Json::array();
  for (const FitHyperparameter& one : hyperparameters) {
    h[one.name] = one.value;
    if (one.tuned) tuned.push_back(one.name);
  }
  out["hyperparameters"] = h;
  out["tuned"] = tuned;
  if (penalties)
    out["l2_of_features"] = {{"least", penalties->min}, {"middle", penalties->middle}, {"most", penalties->max}};
  out["seconds"] = seconds;
  out["seconds_learning"] = seconds_learning;
  out["rows_per_second"] = seconds > 0 ? static_cast<double>(rows) / seconds : 0.0;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace obolus::fit
