#include "fit/stream/fit_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "fit/model/label.hpp"
#include "fit/model/softmax.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {

using namespace fit;

namespace {

double target_of(const std::string& label) {
  const std::optional<double> number = label_number(label);
  if (!number || !std::isfinite(static_cast<float>(*number)))
    throw DataError(fmt::format("label: got '{}', expected a finite number", label));
  return *number;
}

FeatureAdamOptions first_order_options(const FitOptions& o) {
  FeatureAdamOptions p;
  p.step = o.feature_step.value_or(p.step);
  p.shrinkage = o.shrinkage.value_or(p.shrinkage);
  return p;
}

OptimisedPenaltyOptions optimiser_options(const FitOptions& o, const Tuning& tuning) {
  OptimisedPenaltyOptions p;
  p.optimiser = o.optimiser;
  p.settings = o.optimiser_options;
  p.low = std::min(p.low, o.l2);
  p.high = std::max(p.high, o.l2);
  p.step = o.feature_step.value_or(p.step);
  p.shrinkage = o.shrinkage.value_or(p.shrinkage);
  p.steps = o.steps;
  p.seed = static_cast<std::uint64_t>(o.seed);
  const Hyperparameter* l2 = tuning.hyperparameters.find(Tunable::l2);
  p.centred = l2 && l2->tuned;
  return p;
}

LearnerOptions learner_options(const FitOptions& o, const Tuning& tuning) {
  LearnerOptions l;
  l.loss = o.task == FitTask::numbers ? Loss::numbers : Loss::classes;
  l.batch = o.batch;
  l.recent = o.recent;
  l.replay = o.replay;
  l.buffer = o.buffer;
  l.steps = o.steps;
  l.power = o.scale == FitScale::none ? 0.0 : o.feature_power;
  l.memory = o.memory;
  l.l2_memory = o.l2_memory;
  l.replay_memory = o.replay_memory;
  l.limit = o.task == FitTask::numbers ? std::min(o.limit, 1.9) : o.limit;
  l.balanced = o.judge == FitJudge::balanced;
  l.decayed = o.decay;
  l.softmax = tuning.classes || tuning.optimised;
  if (tuning.per_feature && tuning.optimised) l.by_optimiser = optimiser_options(o, tuning);
  if (tuning.per_feature && !tuning.optimised) l.first_order = first_order_options(o);
  return l;
}

FitOptions sound(FitOptions o) {
  validate(o, "fit");
  if (o.task == FitTask::automatic) throw ConfigError("fit.task: got auto, expected classes or numbers here");
  return o;
}

}  // namespace

Fit::Parts::Parts(const FitOptions& o)
    : options(sound(o)),
      names(o.task == FitTask::numbers ? "" : o.classes),
      table(static_cast<int>(o.hash_bits)),
      tuning(tuning_of(o, names.names().size())),
      learner(learner_options(o, tuning), tuning.hyperparameters, static_cast<std::uint64_t>(o.seed)) {
  learner.grow_features(table.slots());
  if (names.fixed()) learner.grow_classes(static_cast<int>(names.names().size()));
}

// Before anything of the row is used: rows may be refused and left out.
void Fit::Parts::require_sound(const DataRow& row) {
  if (!(row.weight >= 0) || row.weight > static_cast<double>(std::numeric_limits<float>::max()))
    throw DataError(fmt::format("weight: got {}, expected a finite number, 0 or more", row.weight));
  for (const RowFeature& f : row.features)
    if (!std::isfinite(f.value)) throw DataError("value: got one that is not finite, expected a finite number");
}

void Fit::Parts::require_label(const DataRow& row) const {
  if (row.label.empty()) return;
  if (classifies()) names.require(row.label);
  else (void)target_of(row.label);
}

// After loading.
void Fit::Parts::require_sound() const {
  if (learner.slots() != table.slots()) throw DataError("saved state: weights and features differ in number");
  if (to_size(learner.classes()) > names.names().size() || (tuning.classes && !names.fixed()))
    throw DataError("saved state: weights and classes differ in number");
  if (!tuning.per_group && learner.weights().groups() > 1)
    throw DataError("saved state: got an L2 for every group, expected one for all");
  if (rows < 0 || rows >= std::int64_t{1} << 53) throw DataError("saved state: got an impossible number of rows");
}

void Fit::Parts::table_fields(Archive& a) {
  a("names", names);
  a.added("label_name", label_name);
  a("columns", columns);
  a("has_columns", has_columns);
  a("table", table);
}

template <class Self>
void Fit::Parts::set_entries(Self& self, const DataRow& row, std::span<const KnownColumn> known, bool numeric,
                             Scratch& scratch, LearnerRow& out) {
  constexpr bool learning = !std::is_const_v<Self>;
  constexpr float least = 1e-18F, most = 1e15F;  // squares and their sums must fit a float
  out.entries.clear();
  out.group_ends.clear();
  scratch.group.clear();
  out.weight = static_cast<float>(row.weight);
  for (const RowFeature& f : row.features) {
    const bool named = f.group < known.size(), number = numeric && f.key == f.group && named;
    const KnownColumn column = named ? known[f.group] : KnownColumn{0, 0};
    float value = std::abs(f.value) < least ? 0.0F : std::clamp(f.value, -most, most);
    if constexpr (learning)
      if (number) self.columns.mark_number(column.number);
    if (number && self.options.scale == FitScale::automatic) {
      if constexpr (learning) self.columns.see(column.number, static_cast<double>(value));
      value = column.number < 0 ? 0.0F : self.columns.standardised(column.number, static_cast<double>(value));
    }
    if (value == 0) continue;
    std::int32_t slot = -1;
    if constexpr (learning) slot = self.table.slot(number ? column.key : f.key);
    else slot = self.table.known(number ? column.key : f.key);
    if (slot < 0) continue;
    out.entries.push_back({slot, value});
    if (self.tuning.per_group) scratch.group.push_back(std::min(column.number, max_groups - 1));
  }
  if constexpr (learning)
    if (self.table.slots() > self.learner.slots()) self.learner.grow_features(self.table.slots());
  if (self.tuning.per_group) sort_by_group(self, scratch, out);
}

template <class Self>
void Fit::Parts::sort_by_group(Self& self, Scratch& scratch, LearnerRow& out) {
  auto& weights = self.learner.weights();
  std::vector<std::int32_t>& group = scratch.group;
  for (std::size_t i = 0; i < group.size(); ++i)
    if constexpr (std::is_const_v<Self>) group[i] = weights.group(out.entries[i].slot);
    else group[i] = weights.set_group(out.entries[i].slot, group[i]);
  scratch.sorted.clear();
  for (int g = 0; g < weights.groups(); ++g) {
    for (std::size_t i = 0; i < group.size(); ++i)
      if (group[i] == g) scratch.sorted.push_back(out.entries[i]);
    out.group_ends.push_back(static_cast<std::int32_t>(scratch.sorted.size()));
  }
  out.entries.swap(scratch.sorted);
}

void Fit::Parts::featurise(const DataRow& row, LearnerRow& out) {
  set_entries(*this, row, columns.of_reader(), has_columns, scratch, out);
}

void Fit::Parts::predict(const DataRow& row, std::span<const KnownColumn> known, bool numeric, Scratch& to) const {
  require_sound(row);
  set_entries(*this, row, known, numeric, to, to.row);
  const auto& logits = learner.predict(to.row, to.learner);
  set_prediction(to.row.entries.size(), {logits.data(), logits.size()}, to);
}

void Fit::Parts::set_label(const DataRow& row, LearnerRow& out) {
  if (classifies()) out.label = names.number(row.label);
  else out.target = static_cast<float>(target_of(row.label));
}

void Fit::Parts::set_prediction(std::size_t features, std::span<const float> logits, Scratch& to) const {
  Prediction& p = to.prediction;
  p.features = features;
  p.truth = -1;
  p.best = -1;
  p.truth_number = p.truth_probability = 0;
  if (!classifies()) {
    to.guess = blend.guess(learner.number(logits.data(), options.range == FitRange::any));
    p.number = options.blend == FitBlend::none ? to.guess.model : blend.number(to.guess);
    p.informed = learner.rounds() > 0;  // the first is of one row
    return;
  }
  const double warmth = 1 / learner.hyperparameters().value(Tunable::temperature, 1.0);
  const auto classes = to_size(learner.classes());  // not those whose labels are delayed
  p.probabilities.assign(classes, classes == 0 ? 0.0 : 1.0);
  if (learner.outputs() == 1 && classes == 2) {
    p.probabilities[1] = 1 / (1 + std::exp(-warmth * static_cast<double>(logits[0])));
    p.probabilities[0] = 1 / (1 + std::exp(warmth * static_cast<double>(logits[0])));
  } else if (learner.outputs() > 1) {
    const auto max = static_cast<double>(std::ranges::max(logits.first(classes)));
    for (std::size_t c = 0; c < classes; ++c) p.probabilities[c] = warmth * (static_cast<double>(logits[c]) - max);
    softmax(p.probabilities);
  }
  if (classes > 0)
    p.best = static_cast<std::int32_t>(std::ranges::max_element(p.probabilities) - p.probabilities.begin());
}

// A class that was not known to the prediction: as if it had been one row of all so far.
void Fit::Parts::set_truth(const DataRow& row, std::int32_t label) {
  Prediction& p = scratch.prediction;
  if (!classifies()) {
    p.truth_number = target_of(row.label);
    p.truth = 0;
    return;
  }
  p.truth = label;
  const auto k = to_size(label);
  p.truth_probability = k < p.probabilities.size() ? p.probabilities[k] : 1.0 / static_cast<double>(rows + 2);
}

void Fit::Parts::queue(LearnerRow&& row) {
  if (classifies()) {
    learner.grow_classes(row.label + 1);
  } else {
    blend.see(guesses.front(), static_cast<double>(row.target), static_cast<double>(row.weight));
    guesses.pop_front();
  }
  learner.add(std::move(row));
  train_when_full();
}

void Fit::Parts::train_when_full() {
  // The first labels say where numbers are: rounds of 1, 1, 2, 4, … rows until there are enough.
  const std::int64_t first = std::int64_t{1} << std::clamp<std::int64_t>(learner.rounds() - 1, 0, 20);
  if (static_cast<std::int64_t>(learner.waiting()) < (classifies() ? options.batch : std::min(options.batch, first)))
    return;
  for (std::int64_t i = 0; !validation.empty() && i < options.batch; ++i) {
    learner.add(LearnerRow(validation[to_size(next_validation)]));
    next_validation = (next_validation + 1) % static_cast<std::int64_t>(validation.size());
  }
  learner.train();
}

}  // namespace obolus
