#include "fit/learner/tuning.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "config/comma_list.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/nearest.hpp"

namespace obolus::fit {
namespace {

const std::vector<std::string> known{"rate",        "l2",           "replay",         "recent",
                                     "temperature", "l2-per-group", "l2-per-feature", "class-shift",
                                     "class-scale", "none"};

std::set<std::string> words(const std::string& text) {
  std::set<std::string> found;
  for (std::string& word : config::comma_list(text)) {
    if (word == "learning-rate") word = "rate";
    if (std::find(known.begin(), known.end(), word) == known.end())
      throw ConfigError(
          fmt::format("tune: got '{}', expected words of rate, l2, replay, recent, temperature, l2-per-group, "
                      "l2-per-feature, class-shift, class-scale, or none{}",
                      word, suggestion(word, known)));
    found.insert(word);
  }
  if (found.contains("none") && found.size() > 1)
    throw ConfigError("tune: got none beside other words, expected one or the other");
  if (found.contains("l2-per-group") && (found.contains("l2") || found.contains("l2-per-feature")))
    throw ConfigError("tune: got l2-per-group beside another l2, expected one of the two");
  return found;
}

void add_classes(const std::set<std::string>& tuned, std::size_t classes, Hyperparameters& list) {
  constexpr double max = 3;
  for (const auto& [word, kind] : {std::pair{"class-shift", Tunable::shift}, {"class-scale", Tunable::scale}})
    for (std::size_t c = 0; tuned.contains(word) && c < classes; ++c)
      list.put({kind, static_cast<std::int32_t>(c), 0, -max, max, true, 0.001, 1});
}

// The optimisers' problem has classes, and all rows count alike.
void require_classes(const FitOptions& o) {
  if (o.task == FitTask::numbers)
    throw ConfigError("optimiser: got --task numbers, expected classes; first-order takes both");
  if (o.judge == FitJudge::balanced)
    throw ConfigError(
        "optimiser: got --judge balanced, expected plain: all rows count alike here; first-order takes both");
  if (o.buffer == 0) throw ConfigError("optimiser: got buffer=0, expected earlier rows to train on");
}

}  // namespace

Tuning tuning_of(const FitOptions& o, std::size_t classes) {
  const std::set<std::string> tuned = words(o.tune);
  Tuning result;
  result.per_group = tuned.contains("l2-per-group");
  result.per_feature = tuned.contains("l2-per-feature");
  const bool named = o.optimiser != "first-order";
  if (named && !result.per_feature)
    throw ConfigError(fmt::format("optimiser: got {}, expected l2-per-feature in tune: an optimiser moves nothing else",
                                  o.optimiser));
  if (!named && !o.optimiser_options.empty())
    throw ConfigError("optimiser_options: got some for first-order, which has none; expected another optimiser");
  result.optimised = result.per_feature && named;
  if (result.optimised) require_classes(o);
  result.classes = tuned.contains("class-shift") || tuned.contains("class-scale");
  Hyperparameters& list = result.hyperparameters;
  // Drifts are variances per round, priors the variances of what is known before the first. A temperature that follows
  // quickly hides that the rate is too high.
  constexpr double slow = 0.001, fast = 0.003, temperature = 0.0001, prior = 4;
  const auto put = [&](Tunable kind, double start, double low, double high, double drift, const char* word) {
    const double at = std::log(start);
    list.put(
        {kind, 0, at, std::min(at, std::log(low)), std::max(at, std::log(high)), tuned.contains(word), drift, prior});
  };
  // Steps on squares diverge beyond 2 over the curvature; a logistic loss is flatter than its bound.
  const bool squares = o.task == FitTask::numbers;
  const double start = squares ? 0.3 : 1.0;  // a wrong start costs more where errors are squared
  put(Tunable::rate, o.learning_rate.value_or(start), 1e-3, squares ? 1.9 : 16.0, slow, "rate");
  const char* l2 = result.per_group ? "l2-per-group" : "l2";
  if (o.l2 == 0 && (tuned.contains(l2) || result.per_feature))
    throw ConfigError("l2: got 0, expected a number > 0 to start from, since it is tuned");
  if (o.l2 > 0) put(Tunable::l2, o.l2, 1e-8, 0.3, fast, l2);
  if (o.replay > 0) put(Tunable::replay, o.replay_weight.value_or(start), 0.01, 4, fast, "replay");
  if (o.recent > 0) put(Tunable::recent, o.recent_weight.value_or(start), 0.01, 4, slow, "recent");
  if (o.task != FitTask::numbers) put(Tunable::temperature, o.temperature, 0.2, 10, temperature, "temperature");
  if (result.classes && (o.task == FitTask::numbers || classes < 2))
    throw ConfigError("tune: class-shift and class-scale need to know the classes: give at least two with --classes");
  constexpr std::size_t many = 16;
  if (result.classes && classes > many)
    throw ConfigError(
        fmt::format("tune: class-shift and class-scale carry derivatives of all weights for each of {} classes, "
                    "expected at most {}",
                    classes, many));
  add_classes(tuned, classes, list);
  return result;
}

}  // namespace obolus::fit
