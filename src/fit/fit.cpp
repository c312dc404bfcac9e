#include "obolus/fit/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <set>

#include "fit/class_names.hpp"
#include "fit/columns.hpp"
#include "fit/feature_table.hpp"
#include "fit/learner.hpp"
#include "fit/tuning.hpp"
#include "obolus/core/error.hpp"

namespace obolus {
namespace {

using namespace fit;

constexpr int most_groups = 16;  // with an L2 of their own; the others share the last

double number_of(const std::string& label) {
  const char *first = label.data() + (label.starts_with('+') ? 1 : 0), *last = label.data() + label.size();
  double number = 0;
  const auto [end, error] = std::from_chars(first, last, number);
  if (error != std::errc() || end != last || !std::isfinite(number) || !std::isfinite(static_cast<float>(number)))
    throw DataError(fmt::format("label: got '{}', expected a finite number", label));
  return number;
}

LearnerOptions learner_options(const FitOptions& o, bool softmax) {
  LearnerOptions l;
  l.loss = o.task == FitTask::numbers ? Loss::numbers : Loss::classes;
  l.replay = o.replay, l.buffer = o.buffer, l.steps = o.steps;
  l.power = o.scale == FitScale::none ? 0.0 : o.feature_power;
  l.memory = o.memory, l.l2_memory = o.l2_memory, l.replay_memory = o.replay_memory,
  l.limit = o.task == FitTask::numbers ? std::min(o.limit, 1.9) : o.limit;
  l.balanced = o.judge == FitJudge::balanced, l.decayed = o.decay, l.softmax = softmax;
  return l;
}

const FitOptions& sound(const FitOptions& o) {
  validate(o, "fit");
  if (o.task == FitTask::automatic) throw ConfigError("fit.task: got auto, expected classes or numbers here");
  return o;
}

}  // namespace

struct Fit::Parts {
  explicit Parts(const FitOptions& o)
      : options(sound(o)),
        names(o.task == FitTask::numbers ? "" : o.classes),
        table(static_cast<int>(o.hash_bits)),
        tuning(tuning_of(o, names.names().size())),
        learner(learner_options(o, tuning.classes), tuning.hyperparameters, static_cast<std::uint64_t>(o.seed)) {
    learner.grow_features(table.slots());
    if (names.fixed()) learner.grow_classes(static_cast<int>(names.names().size()));
  }

  // `learning`: new features and columns are taken up.
  void featurise(const DataRow& row, bool learning, LearnerRow& out);
  void require_sound(const DataRow& row) const;  // a row that is refused leaves no trace
  void require_sound() const;                    // what was loaded
  void sort_by_group(LearnerRow& out, bool learning);
  void label(const DataRow& row, LearnerRow& out);
  void predict(const LearnerRow& row, std::span<const float> logits);
  void judge(const DataRow& row, const LearnerRow& out);
  void learn(LearnerRow&& row);
  void train_when_full();
  [[nodiscard]] bool classifies() const { return options.task == FitTask::classes; }

  FitOptions options;
  ClassNames names;
  Columns columns;
  bool has_columns = false;
  FeatureTable table;
  Tuning tuning;
  Learner<float> learner;
  std::deque<LearnerRow> delayed;
  std::vector<LearnerRow> judges;  // rows of their own for judging, if any
  std::int64_t next_judge = 0;
  std::int64_t rows = 0;
  Prediction prediction;
  LearnerRow row_;
  std::vector<std::int32_t> group_;  // of every entry
};

// Before anything of the row is taken up: rows may be refused and left out.
void Fit::Parts::require_sound(const DataRow& row) const {
  if (!(row.weight >= 0) || row.weight > static_cast<double>(std::numeric_limits<float>::max()))
    throw DataError(fmt::format("weight: got {}, expected a finite number, 0 or more", row.weight));
  for (const RowFeature& f : row.features)
    if (!std::isfinite(f.value)) throw DataError("got a value that is not a finite number, expected one");
  if (row.label.empty()) return;
  if (!classifies()) (void)number_of(row.label);
  else names.require(row.label);
}

// After loading.
void Fit::Parts::require_sound() const {
  if (learner.slots() != table.slots()) throw DataError("saved state: weights and features differ in number");
  if (static_cast<std::size_t>(learner.classes()) != names.names().size() || (tuning.classes && !names.fixed()))
    throw DataError("saved state: weights and classes differ in number");
  if (!tuning.per_group && learner.weights().groups() > 1)
    throw DataError("saved state: groups have an L2 of their own, expected one for all");
  if (rows < 0 || rows >= std::int64_t{1} << 53) throw DataError("saved state: got an impossible number of rows");
}

void Fit::Parts::featurise(const DataRow& row, bool learning, LearnerRow& out) {
  out.entries.clear(), out.group_ends.clear(), group_.clear();
  out.weight = static_cast<float>(row.weight);
  for (const RowFeature& f : row.features) {
    const std::int32_t group = columns.of_reader(f.group);
    const bool number = has_columns && f.key == f.group && columns.knows(f.group);
    float value = f.value;
    if (number && options.scale == FitScale::automatic) {
      if (learning) columns.see(group, static_cast<double>(value));
      value = columns.standardised(group, static_cast<double>(value));
    }
    if (value == 0) continue;
    const std::uint64_t key = number ? columns.key(group) : f.key;
    const std::int32_t slot = learning ? table.slot(key) : table.known(key);
    if (slot < 0) continue;
    out.entries.push_back({slot, value});
    if (tuning.per_group) group_.push_back(std::min(group, most_groups - 1));
  }
  if (learning && table.slots() > learner.slots()) learner.grow_features(table.slots());
  if (tuning.per_group) sort_by_group(out, learning);
}

void Fit::Parts::sort_by_group(LearnerRow& out, bool learning) {
  std::vector<Entry> sorted;
  sorted.reserve(out.entries.size());
  Weights<float>& weights = learner.weights();
  for (std::size_t i = 0; i < group_.size(); ++i)
    group_[i] = learning ? weights.set_group(out.entries[i].slot, group_[i]) : weights.group(out.entries[i].slot);
  for (int g = 0; g < weights.groups(); ++g) {
    for (std::size_t i = 0; i < group_.size(); ++i)
      if (group_[i] == g) sorted.push_back(out.entries[i]);
    out.group_ends.push_back(static_cast<std::int32_t>(sorted.size()));
  }
  out.entries.swap(sorted);
}

void Fit::Parts::label(const DataRow& row, LearnerRow& out) {
  if (!classifies()) {
    out.target = static_cast<float>(number_of(row.label));
    return;
  }
  out.label = names.number(row.label);
  learner.grow_classes(static_cast<int>(names.names().size()));
}

void Fit::Parts::predict(const LearnerRow& row, std::span<const float> logits) {
  Prediction& p = prediction;
  p.features = row.entries.size();
  p.truth = -1, p.best = -1, p.truth_number = p.truth_probability = 0;
  if (!classifies()) {
    p.number = static_cast<double>(logits[0]);
    return;
  }
  const double warmth = 1 / learner.hyperparameters().value(Tunable::temperature, 1.0);
  const std::size_t classes = names.names().size();
  p.probabilities.assign(classes, classes == 0 ? 0.0 : 1.0);
  if (learner.outputs() == 1 && classes == 2) {
    p.probabilities[1] = 1 / (1 + std::exp(-warmth * static_cast<double>(logits[0])));
    p.probabilities[0] = 1 / (1 + std::exp(warmth * static_cast<double>(logits[0])));
  } else if (learner.outputs() > 1) {
    const double most =
        static_cast<double>(*std::max_element(logits.begin(), logits.begin() + static_cast<std::ptrdiff_t>(classes)));
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c)
      sum += p.probabilities[c] = std::exp(warmth * (static_cast<double>(logits[c]) - most));
    for (double& q : p.probabilities) q /= sum;
  }
  if (classes > 0)
    p.best = static_cast<std::int32_t>(std::ranges::max_element(p.probabilities) - p.probabilities.begin());
}

// What the prediction gave the truth. A class that was not known then: as if it had been one row of all so far.
void Fit::Parts::judge(const DataRow& row, const LearnerRow& out) {
  Prediction& p = prediction;
  if (!classifies()) {
    p.truth_number = number_of(row.label), p.truth = 0;
    return;
  }
  p.truth = out.label;
  const auto k = static_cast<std::size_t>(out.label);
  p.truth_probability = k < p.probabilities.size() ? p.probabilities[k] : 1.0 / static_cast<double>(rows + 2);
}

void Fit::Parts::learn(LearnerRow&& row) {
  learner.add(std::move(row));
  train_when_full();
}

void Fit::Parts::train_when_full() {
  if (static_cast<std::int64_t>(learner.waiting()) < options.batch) return;
  for (std::int64_t i = 0; !judges.empty() && i < options.batch; ++i) {
    learner.add(LearnerRow(judges[static_cast<std::size_t>(next_judge)]));
    next_judge = (next_judge + 1) % static_cast<std::int64_t>(judges.size());
  }
  learner.train();
}

Fit::Fit(const FitOptions& options) : parts_(std::make_unique<Parts>(options)) {}
Fit::Fit(Fit&&) noexcept = default;
Fit& Fit::operator=(Fit&&) noexcept = default;
Fit::~Fit() = default;

void Fit::set_groups(std::span<const std::string> names, bool columns) {
  Parts& p = *parts_;
  p.has_columns = columns;
  p.columns.set_groups(names);
  const int wanted = std::min(static_cast<int>(p.columns.names().size()), most_groups);
  while (p.tuning.per_group && p.learner.weights().groups() < wanted) p.learner.add_l2_group();
}

const Prediction& Fit::predict(const DataRow& row) {
  Parts& p = *parts_;
  p.require_sound(row);
  p.featurise(row, false, p.row_);
  const auto& logits = p.learner.predict(p.row_);
  p.predict(p.row_, {logits.data(), logits.size()});
  return p.prediction;
}

// A new class changes the logits: the row is judged before its label is looked at.
const Prediction& Fit::learn(const DataRow& row) {
  if (row.label.empty()) return predict(row);
  Parts& p = *parts_;
  p.require_sound(row);
  p.featurise(row, true, p.row_);
  p.learner.see(p.row_);
  const bool now = p.options.delay == 0 && (!p.classifies() || p.names.known(row.label) >= 0);
  LearnerRow learnt = p.row_;
  if (now) p.label(row, learnt);
  const bool held_out = p.options.hold_out > 0 && (p.rows + 1) % p.options.hold_out == 0;
  if (!p.judges.empty()) learnt.role = Role::inner;
  else if (p.options.hold_out > 0) learnt.role = held_out ? Role::outer : Role::inner;
  const auto& logits = now ? p.learner.add(LearnerRow(learnt)) : p.learner.predict(learnt);
  p.predict(learnt, {logits.data(), logits.size()});
  if (!now) p.label(row, learnt);
  p.judge(row, learnt);
  ++p.rows;
  if (!now) {
    p.delayed.push_back(std::move(learnt));
    if (static_cast<std::int64_t>(p.delayed.size()) <= p.options.delay) return p.prediction;
    learnt = std::move(p.delayed.front());
    p.delayed.pop_front();
    p.learner.add(std::move(learnt));
  }
  p.train_when_full();
  return p.prediction;
}

void Fit::judge_by(std::span<const DataRow> rows) {
  Parts& p = *parts_;
  for (const DataRow& row : rows) {
    if (row.label.empty()) continue;
    p.require_sound(row);
    LearnerRow judge;
    p.featurise(row, true, judge);
    p.learner.see(judge);
    p.label(row, judge);
    judge.role = Role::outer;
    p.judges.push_back(std::move(judge));
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
  for (; !p.delayed.empty(); p.delayed.pop_front()) p.learn(std::move(p.delayed.front()));
  p.learner.train();
}

const FitOptions& Fit::options() const { return parts_->options; }
const std::vector<std::string>& Fit::classes() const { return parts_->names.names(); }
const std::vector<std::string>& Fit::groups() const { return parts_->columns.names(); }
std::int64_t Fit::features() const { return parts_->table.slots(); }
std::int64_t Fit::rows() const { return parts_->rows; }
std::int64_t Fit::rounds() const { return parts_->learner.rounds(); }
double Fit::outer_loss() const { return parts_->learner.outer_loss(); }

std::vector<FitHyperparameter> Fit::hyperparameters() const {
  const Parts& p = *parts_;
  std::vector<FitHyperparameter> result;
  const auto at = [](const std::vector<std::string>& list, std::int32_t i) {
    return static_cast<std::size_t>(i) < list.size() ? list[static_cast<std::size_t>(i)] : std::to_string(i);
  };
  for (const Hyperparameter& h : p.learner.hyperparameters().list) {
    std::string name;
    switch (h.kind) {
      case Tunable::rate: name = "rate"; break;
      case Tunable::l2: name = p.tuning.per_group ? "l2 of " + at(groups(), h.index) : "l2"; break;
      case Tunable::temperature: name = "temperature"; break;
      case Tunable::replay: name = "replay"; break;
      case Tunable::shift: name = "shift of " + at(classes(), h.index); break;
      case Tunable::scale: name = "scale of " + at(classes(), h.index); break;
    }
    result.push_back({std::move(name), h.value(), h.tuned});
  }
  return result;
}

std::vector<Fit::Weight> Fit::largest_weights(std::size_t count) const {
  const Parts& p = *parts_;
  const auto& weights = p.learner.weights();
  std::vector<Weight> all;
  if (count == 0) return all;
  const auto smaller = [](const Weight& a, const Weight& b) { return std::abs(a.value) > std::abs(b.value); };
  const auto add = [&](std::uint64_t key, std::int32_t slot) {
    for (int c = 0; c < weights.outputs(); ++c) {
      const Weight w{key, 0, c, weights.number(slot, 0, c)};
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

std::vector<double> Fit::constants() const {
  const auto& c = parts_->learner.weights().constant();
  return {c.begin(), c.begin() + parts_->learner.outputs()};
}

void Fit::model_fields(Archive& a) {
  Parts& p = *parts_;
  a("names", p.names), a("columns", p.columns), a("has_columns", p.has_columns), a("table", p.table);
  p.learner.model_fields(a);
  a("rows", p.rows);
  p.require_sound();
}

void Fit::fields(Archive& a) {
  Parts& p = *parts_;
  a("names", p.names), a("columns", p.columns), a("has_columns", p.has_columns), a("table", p.table);
  p.learner.fields(a);
  a("rows", p.rows);
  std::vector<LearnerRow> waiting(p.delayed.begin(), p.delayed.end());
  saved_list(a, "delayed", waiting);
  a("next_judge", p.next_judge);
  if (p.next_judge < 0 || (p.next_judge > 0 && p.next_judge >= static_cast<std::int64_t>(p.judges.size())))
    throw DataError("saved state: expected other rows to judge by");
  p.require_sound();
  p.learner.require_sound(waiting), p.learner.require_sound(p.judges);
  p.delayed.assign(waiting.begin(), waiting.end());
}

FitTask fit_task(std::span<const std::string> labels) {
  std::set<std::string> different;
  bool whole = true;
  for (const std::string& label : labels) {
    double number = 0;
    const char *first = label.data() + (label.starts_with('+') ? 1 : 0), *last = label.data() + label.size();
    const auto [end, error] = std::from_chars(first, last, number);
    if (error != std::errc() || end != last || !std::isfinite(number)) return FitTask::classes;
    whole = whole && number == std::floor(number);
    different.insert(canonical_label(label));
  }
  constexpr std::size_t many = 100;
  return !whole || different.size() > many ? FitTask::numbers : FitTask::classes;
}

}  // namespace obolus
