#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "fit/stream/fit_run.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/run/table.hpp"

namespace obolus::fit {

namespace {

using Json = nlohmann::ordered_json;

std::string feature_name(const Fit& fit, std::uint64_t key) {
  for (const std::string& group : fit.groups())
    if (row_key(group, "") == key) return group;
  constexpr std::uint64_t small = std::uint64_t{1} << 32;
  return key < small ? std::to_string(key) : fmt::format("#{:016x}", key);
}

// Few digits: these lists are for eyes.
Json short_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

Json json_of(const Calibration& calibration, const std::string& of) {
  Json bins = Json::array();
  for (const Calibration::Bin& bin : calibration.bins)
    bins.push_back({{"rows", bin.rows},
                    {"weight", short_number(bin.weight)},
                    {"probability", short_number(bin.probability)},
                    {"frequency", short_number(bin.frequency)}});
  return {{"of", of}, {"bins", bins}};
}

Json json_of(const Confusion& confusion, const std::vector<std::string>& names) {
  Json classes = Json::array(), weights = Json::array(), unpredicted = Json::array();
  for (const std::int32_t c : confusion.classes)
    classes.push_back(to_size(c) < names.size() ? names[to_size(c)] : std::to_string(c));
  for (const std::vector<double>& row : confusion.weights) {
    weights.push_back(Json::array());
    for (const double weight : row) weights.back().push_back(short_number(weight));
  }
  for (const double weight : confusion.unpredicted) unpredicted.push_back(short_number(weight));
  return {{"classes", classes}, {"folded", confusion.folded}, {"weights", weights}, {"unpredicted", unpredicted}};
}

Json json_of(const LastWindow& last, FitTask task, const std::vector<std::string>& names) {
  Json out = {{"rows", last.rows}};
  if (task == FitTask::classes) {
    const bool second = last.calibration_of == CalibrationOf::second_class && names.size() == 2;
    out["calibration"] = json_of(last.calibration, second ? "class " + names[1] : "the predicted class");
    out["confusion"] = json_of(last.confusion, names);
    return out;
  }
  out["pairs"] = Json::array();
  for (const auto& [truth, predicted] : last.pairs)
    out["pairs"].push_back({short_number(truth), short_number(predicted)});
  return out;
}

}  // namespace

const char* FitSummary::name() const {
  constexpr const char* names[] = {"finished", "stopped", "diverged", "running"};
  return names[to_size(status)];
}

std::string output_name(const Fit& fit, std::int32_t output) {
  const auto& classes = fit.classes();
  if (classes.empty()) return "number";
  const std::size_t c = classes.size() == 2 && fit.constants().size() == 1 ? 1 : to_size(output);
  return c < classes.size() ? classes[c] : std::to_string(output);
}

std::vector<NamedWeight> largest_weights(const Fit& fit, std::size_t count) {
  std::vector<NamedWeight> list;
  for (const Fit::Weight& w : fit.top_weights(count))
    list.push_back({feature_name(fit, w.key), output_name(fit, w.output), w.value});
  return list;
}

std::string text_of(const Fit::Penalties& p) {
  return fmt::format("{} to {}, half of them below {}", number(p.min), number(p.max), number(p.middle));
}

std::string text_of(const Fit::Shares& s) {
  return fmt::format("{:.0f} % model, {:.0f} % last label, {:.0f} % mean label", 100 * s.model, 100 * s.last_label,
                     100 * s.mean_label);
}

std::string FitSummary::json() const {
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
  out["batch"] = batch;  // rows of a round
  out["settings"] = Json::object();
  for (const auto& [key, value] : settings) out["settings"][key] = value;
  out["skipped"] = skipped;
  if (!first_skipped.empty()) out["first_skipped"] = first_skipped;
  out["task"] = name_of(task);
  if (task == FitTask::classes) out["classes"] = classes;
  out["features"] = features;
  out["prequential"] = named(prequential);
  out["window"] = named(window);
  out["last_window"] = json_of(last_window, task, classes);
  out["alarms"] = alarms;
  Json h = Json::object(), tuned = Json::array(), at_bound = Json::object();
  for (const FitHyperparameter& one : hyperparameters) {
    h[one.name] = one.value;
    if (one.tuned) tuned.push_back(one.name);
    if (one.at_bound > 0) at_bound[one.name] = one.at_bound;
  }
  out["hyperparameters"] = h;
  out["tuned"] = tuned;
  out["at_bound"] = at_bound;  // share of the rounds
  if (penalties)
    out["l2_of_features"] = {{"least", penalties->min}, {"middle", penalties->middle}, {"most", penalties->max}};
  if (shares)
    out["predicted_by"] = {
        {"model", shares->model}, {"last_label", shares->last_label}, {"mean_label", shares->mean_label}};
  for (const Shadows::Result& r : shadows) {
    Json one = {{"name", r.name}};
    for (const auto& [name, value] : r.all)
      if (std::isfinite(value)) one[std::string(name)] = value;
    one["window"] = named(r.window);
    out["shadow"].push_back(one);
  }
  out["largest_weights"] = Json::array();
  for (const NamedWeight& w : weights)
    out["largest_weights"].push_back({{"feature", w.feature}, {"for", w.output}, {"weight", w.value}});
  out["seconds"] = seconds;
  out["seconds_learning"] = seconds_learning;
  out["rows_per_second"] = seconds > 0 ? static_cast<double>(rows) / seconds : 0.0;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace obolus::fit
