#include "obolus/fit/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fit/model/label.hpp"
#include "fit/stream/fit_parts.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {

using namespace fit;

Fit::Fit(const FitOptions& options) : parts_(std::make_unique<Parts>(options)) {}
Fit::Fit(Fit&&) noexcept = default;
Fit& Fit::operator=(Fit&&) noexcept = default;
Fit::~Fit() = default;

void Fit::set_groups(std::span<const std::string> names, bool columns) {
  Parts& p = *parts_;
  p.has_columns = columns;
  p.columns.set_groups(names);
  const int wanted = std::min(static_cast<int>(p.columns.names().size()), Parts::max_groups);
  while (p.tuning.per_group && p.learner.weights().groups() < wanted) p.learner.add_l2_group();
}

void Fit::set_label_name(std::string name) { parts_->label_name = std::move(name); }
const std::string& Fit::label_name() const { return parts_->label_name; }
void Fit::set_has_kinds(bool has) { parts_->has_kinds = has; }
bool Fit::has_kinds() const { return parts_->has_kinds; }

const Prediction& Fit::predict(const DataRow& row) {
  Parts& p = *parts_;
  p.predict(row, p.columns.of_reader(), p.has_columns, p.scratch);
  return p.scratch.prediction;
}

void Fit::require_learnable(const DataRow& row) const { parts_->require_sound(row); }

// A new class changes the logits: the row is predicted before its label is looked at.
const Prediction& Fit::learn(const DataRow& row) {
  if (row.label.empty()) return predict(row);
  Parts& p = *parts_;
  Parts::require_sound(row);
  p.require_label(row);
  LearnerRow learnt;
  p.featurise(row, learnt);
  const bool now = p.options.delay == 0 && (!p.classifies() || p.names.known(row.label) >= 0);
  if (now) p.set_label(row, learnt);
  const bool held_out = p.options.hold_out > 0 && (p.rows + 1) % p.options.hold_out == 0;
  if (!p.validation.empty()) learnt.role = Role::inner;
  else if (p.options.hold_out > 0) learnt.role = held_out ? Role::outer : Role::inner;
  const std::size_t features = learnt.entries.size();
  std::int32_t label = learnt.label;
  const auto target = static_cast<double>(learnt.target);
  const auto& logits = now ? p.learner.add(std::move(learnt)) : p.learner.predict(learnt, p.scratch.learner);
  p.set_prediction(features, {logits.data(), logits.size()}, p.scratch);
  if (!now) {
    p.set_label(row, learnt);
    label = learnt.label;
  }
  p.set_truth(row, label);
  ++p.rows;
  if (now && !p.classifies()) p.blend.see(p.scratch.guess, target, row.weight);
  if (!now) {
    if (!p.classifies()) p.guesses.push_back(p.scratch.guess);
    p.delayed.push_back(std::move(learnt));  // NOLINT(bugprone-use-after-move): moved above only if `now`
    if (static_cast<std::int64_t>(p.delayed.size()) <= p.options.delay) return p.scratch.prediction;
    learnt = std::move(p.delayed.front());
    p.delayed.pop_front();
    p.queue(std::move(learnt));
  }
  p.train_when_full();
  return p.scratch.prediction;
}

void Fit::set_validation(std::span<const DataRow> rows) {
  Parts& p = *parts_;
  for (const DataRow& row : rows) {
    if (row.label.empty()) continue;
    Parts::require_sound(row);
    p.require_label(row);
    LearnerRow outer;
    p.featurise(row, outer);
    p.learner.see(outer);
    p.set_label(row, outer);
    if (p.classifies()) p.learner.grow_classes(outer.label + 1);
    outer.role = Role::outer;
    p.validation.push_back(std::move(outer));
  }
  p.columns.forget_reader();
}

void Fit::follow(std::vector<FitPathPoint> path) {
  for (FitPathPoint& point : path) {
    std::size_t next = 0;
    for (const Hyperparameter& h : parts_->learner.hyperparameters().list) {
      if (!h.tuned) continue;
      if (next < point.values.size()) {
        double& value = point.values[next];
        if (h.kind != Tunable::shift) value = std::log(value);
        if (!std::isfinite(value))
          throw DataError(fmt::format("round {} of the path: expected numbers above 0", point.round));
      }
      ++next;
    }
    if (next != point.values.size())
      throw DataError(fmt::format("round {} of the path: got {} hyperparameters, expected the {} that are tuned here",
                                  point.round, point.values.size(), next));
  }
  std::vector<PathPlace> places;
  for (FitPathPoint& point : path) places.push_back({point.round, std::move(point.values)});
  parts_->learner.follow(std::move(places));
}

void Fit::finish() {
  Parts& p = *parts_;
  for (; !p.delayed.empty(); p.delayed.pop_front()) p.queue(std::move(p.delayed.front()));
  p.learner.train();
}

const FitOptions& Fit::options() const { return parts_->options; }
const std::vector<std::string>& Fit::classes() const { return parts_->names.names(); }
const std::vector<std::string>& Fit::groups() const { return parts_->columns.names(); }
std::int64_t Fit::features() const { return parts_->table.slots(); }
std::int64_t Fit::rows() const { return parts_->rows; }
std::int64_t Fit::rounds() const { return parts_->learner.rounds(); }
double Fit::outer_loss() const { return parts_->learner.outer_loss(); }

std::vector<std::string> Fit::columns(bool numbers) const {
  std::vector<std::string> names;
  for (std::size_t g = 0; parts_->has_columns && g < groups().size(); ++g)
    if (parts_->columns.is_number(g) == numbers) names.push_back(groups()[g]);
  return names;
}

std::vector<FitHyperparameter> Fit::hyperparameters() const {
  const Parts& p = *parts_;
  std::vector<FitHyperparameter> result;
  const auto at = [](const std::vector<std::string>& list, std::int32_t i) {
    return to_size(i) < list.size() ? list[to_size(i)] : std::to_string(i);
  };
  for (const Hyperparameter& h : p.learner.hyperparameters().list) {
    std::string name;
    switch (h.kind) {
      case Tunable::rate: name = "rate"; break;
      case Tunable::l2: name = p.tuning.per_group ? "l2 of " + at(groups(), h.index) : "l2"; break;
      case Tunable::temperature: name = "temperature"; break;
      case Tunable::replay: name = "replay"; break;
      case Tunable::recent: name = "recent"; break;
      case Tunable::shift: name = "shift of " + at(classes(), h.index); break;
      case Tunable::scale: name = "scale of " + at(classes(), h.index); break;
    }
    const double rounds = std::max(1.0, static_cast<double>(p.learner.rounds()));
    result.push_back({std::move(name), h.value(), h.tuned, static_cast<double>(h.at_bound) / rounds});
  }
  return result;
}

std::optional<Fit::Penalties> Fit::penalties() const {
  const Parts& p = *parts_;
  if (!p.tuning.per_feature || p.learner.slots() == 0) return std::nullopt;
  std::vector<double> all;
  const double l2 = p.learner.hyperparameters().value(Tunable::l2, 0.0);
  for (std::int64_t i = 0; i < p.learner.slots(); ++i)
    all.push_back(l2 * static_cast<double>(p.learner.weights().decay_ratio(i)));
  const auto middle = all.begin() + std::ssize(all) / 2;
  std::ranges::nth_element(all, middle);
  const auto [min, max] = std::ranges::minmax_element(all);
  return Penalties{*min, *middle, *max};
}

std::vector<Fit::Weight> Fit::top_weights(std::size_t count) const {
  const Parts& p = *parts_;
  const auto& weights = p.learner.weights();
  std::vector<Weight> all;
  if (count == 0) return all;
  const auto smaller = [](const Weight& a, const Weight& b) { return std::abs(a.value) > std::abs(b.value); };
  const auto add = [&](std::uint64_t key, std::int32_t slot) {
    for (int c = 0; c < weights.outputs(); ++c) {
      const Weight w{key, 0, c, weights.value(slot, 0, c)};
      if (w.value == 0 || (all.size() == count && !smaller(w, all.front()))) continue;
      all.push_back(w);
      std::push_heap(all.begin(), all.end(), smaller);
      if (all.size() <= count) continue;
      std::pop_heap(all.begin(), all.end(), smaller);
      all.pop_back();
    }
  };
  if (p.options.hash_bits == 0) p.table.each(add);
  for (std::int64_t i = 0; p.options.hash_bits > 0 && i < p.table.slots(); ++i)
    add(static_cast<std::uint64_t>(i), static_cast<std::int32_t>(i));
  std::ranges::sort(all, smaller);
  return all;
}

std::optional<Fit::Shares> Fit::shares() const {
  const Parts& p = *parts_;
  if (p.classifies() || p.options.blend == FitBlend::none) return std::nullopt;
  const auto [last, mean] = p.blend.shares();
  return Shares{1 - last - mean, last, mean};
}

std::vector<double> Fit::constants() const {
  const auto& c = parts_->learner.weights().constant();
  return {c.begin(), c.begin() + parts_->learner.outputs()};
}

void Fit::model_fields(Archive& a) {
  Parts& p = *parts_;
  p.table_fields(a);
  p.learner.model_fields(a);
  if (!p.classifies()) p.blend.model_fields(a);
  a("rows", p.rows);
  p.require_sound();
}

void Fit::fields(Archive& a) {
  Parts& p = *parts_;
  p.table_fields(a);
  a.added("has_kinds", p.has_kinds);
  p.learner.fields(a);
  a("rows", p.rows);
  std::vector<LearnerRow> waiting(p.delayed.begin(), p.delayed.end());
  saved_list(a, "delayed", waiting);
  if (!p.classifies()) {
    std::vector<Blend::Guess> guesses(p.guesses.begin(), p.guesses.end());
    a("blend", p.blend);
    saved_list(a, "guesses", guesses);
    if (guesses.size() != waiting.size()) throw DataError("saved state: delayed rows and guesses differ in number");
    p.guesses.assign(guesses.begin(), guesses.end());
  }
  a("next_judge", p.next_validation);
  const auto count = static_cast<std::int64_t>(p.validation.size());
  if (p.next_validation < 0 || (p.next_validation > 0 && p.next_validation >= count))
    throw DataError("saved state: the validation rows are not those of the run");
  p.require_sound();
  const auto classes = static_cast<int>(p.names.names().size());  // delayed labels may be of classes still to be learnt
  p.learner.require_sound(waiting, classes);
  p.learner.require_sound(p.validation, p.learner.classes());
  p.delayed.assign(waiting.begin(), waiting.end());
}

// A learner's parts point at each other: what is saved does not.
Fit copy_of(Fit& fit) {
  Archive saved;
  fit.fields(saved);
  Fit copy(fit.options());
  Fit::Parts &from = *fit.parts_, &to = *copy.parts_;
  to.validation = from.validation;
  to.learner.follow(from.learner.path());
  Archive loaded(saved.bytes());
  copy.fields(loaded);
  to.columns = from.columns;  // with the reader's
  return copy;
}

FitTask fit_task(std::span<const std::string> labels) {
  std::set<std::string> different;
  bool whole = true;
  for (const std::string& label : labels) {
    const std::optional<double> number = label_number(label);
    if (!number) return FitTask::classes;
    whole = whole && *number == std::floor(*number);
    different.insert(canonical_label(label));
  }
  constexpr std::size_t many = 100;
  return !whole || different.size() > many ? FitTask::numbers : FitTask::classes;
}

}  // namespace obolus
