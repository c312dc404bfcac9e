// Experiment::run: the loop, with its trace, checkpoints and summary.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "obolus/metrics/bound_inputs.hpp"
#include "obolus/metrics/round_meter.hpp"
#include "obolus/run/experiment.hpp"
#include "obolus/run/run.hpp"
#include "run/experiment_parts.hpp"
#include "run/run_recorder.hpp"
#include "run/trace.hpp"

namespace obolus {
namespace {

// What the summary shows of the rounds so far and the checkpoint keeps.
struct Tally {
  Row first, last, measured, evaluated;  // the first round, the last one, the last measured, the last evaluated
  std::int64_t inner_steps = 0;
  std::int64_t capped = 0, indefinite = 0;  // as the meter counts them
  double max_distance_y = 0, max_distance_z = 0;

  template <class Meter>
  void add(const Row& row, const Meter& meter) {
    last = row;
    if (row.t == 1) first = row;
    if (row.measured) measured = row;
    if (!row.evaluation.empty()) evaluated = row;
    inner_steps += row.inner_steps;
    capped = meter.capped_rounds();
    indefinite = meter.indefinite_rounds();
    max_distance_y = std::fmax(max_distance_y, row.distance_y);  // fmax ignores NaN
    max_distance_z = std::fmax(max_distance_z, row.distance_z);
  }
  void fields(Archive& a) {
    a("first", first);
    a("last", last);
    a("measured", measured);
    a("evaluated", evaluated);
    a("inner_steps", inner_steps);
    a("capped", capped);
    a("indefinite", indefinite);
    a("distance_y", max_distance_y);
    a("distance_z", max_distance_z);
  }
};

// The γ of the regret; without a regret it means nothing.
double gamma_of(const Experiment::Parts& parts) {
  if (parts.metrics.gamma) return *parts.metrics.gamma;
  return parts.prepared_optimiser->first_gamma().value_or(Row::absent);
}

ReferenceSteps reference_of(const Experiment::Parts& parts) {
  const auto& m = parts.metrics;
  return {m.reference_steps, m.reference_alpha, m.reference_damping, m.reference_products};
}

template <class S>
class ExperimentRun {
 public:
  using P = AnyOracle<S>;

  ExperimentRun(const Experiment::Parts& parts, P& problem, const RunControl& control)
      : parts_(parts),
        problem_(problem),
        control_(control),
        session_(open(parts, problem)),
        meter_(problem, parts.set, gamma_of(parts),
               {parts.metrics.regret, parts.metrics.residuals, parts.metrics.every, parts.metrics.evaluate_every,
                control.evaluated, reference_of(parts), parts.constants.value_or(Constants{}), parts.metrics.window,
                parts.metrics.window_decay}),
        format_(parts.log.vectors) {
    problem_.set_threads(control.threads);
    if (parts.metrics.variation)
      variation_.emplace(problem, parts.set, parts.metrics.samples, rng_.child("variation"),
                         parts.metrics.variation_solves);
    if (!control_.directory.empty()) open_recorder();
  }

  RunSummary run() {
    const Round last = parts_.problem.rounds;
    RunEnd end{RunStatus::finished, tally_.last.t, {}};
    if (tally_.last.t < last) {
      if (recorder_) recorder_->append_about(control_.about);
      end = obolus::run(problem_, *session_, meter_, rng_.child("optimiser"), tally_.last.t + 1, last,
                        tally_.last.seconds, [&](const Row& row, const RoundMeter<P>& m) { return on_row(row, m); });
    }
    // A diverged run keeps its last good checkpoint: its current state is of no use.
    if (recorder_ && end.status != RunStatus::diverged) save();
    if (control_.on_end) tell_end();
    RunSummary summary = summarise(end);
    if (recorder_) recorder_->finish(summary.json());
    return summary;
  }

 private:
  static std::unique_ptr<AnySession<S>> open(const Experiment::Parts& parts, P& problem) {
    const auto start = parts.start_on(problem);
    return parts.prepared_optimiser->open(problem, parts.set, start.x, start.y);
  }

  void open_recorder() {
    const auto& log = parts_.log;
    recorder_.emplace(RunRecorder::Options{control_.directory, control_.resume, control_.force, log.checkpoint_every,
                                           log.checkpoint_seconds},
                      parts_.config());
    recorder_->restore([this](Archive& a, std::uint64_t& trace_bytes) { fields(a, trace_bytes); },
                       [this] {
                         if (tally_.last.t > parts_.problem.rounds)
                           throw ConfigError(fmt::format("{}: has done {} rounds already, cannot resume to {}",
                                                         control_.directory, tally_.last.t, parts_.problem.rounds));
                       });
  }

  void fields(Archive& a, std::uint64_t& trace_bytes) {
    std::uint64_t data = parts_.data_checksum;
    a("data", data);
    a("trace_bytes", trace_bytes);
    a("tally", tally_);
    if (data != parts_.data_checksum)
      throw DataError(control_.directory + ": cannot resume: the problem's data file has changed since the checkpoint");
    a("session", *session_);
    a("regret", meter_);
    if (variation_) a("variation", *variation_);
  }

  void save() {
    recorder_->save([this](Archive& a, std::uint64_t& trace_bytes) { fields(a, trace_bytes); });
  }

  void tell_end() {
    Vector<S> y(parts_.dims.y);
    session_->read_y(y);
    control_.on_end(session_->x().template cast<double>(), y.template cast<double>());
  }

  bool on_row(const Row& row, const RoundMeter<P>& meter) {
    tally_.add(row, meter);
    if (variation_) variation_->add(problem_, row.t);
    const auto& log = parts_.log;
    std::optional<Profile> profile;
    if ((recorder_ || control_.on_profile) && row.t % log.every == 0 && profiled(row.t / log.every))
      profile = profile_of(row.t, session_->x());
    if (profile && control_.on_profile) control_.on_profile(*profile);
    if (recorder_) {
      if (row.t % log.every == 0 || row.t == parts_.problem.rounds || !row.evaluation.empty())
        recorder_->append_trace(format_.line(row, meter.x(), meter.y(), profile ? &*profile : nullptr));
      if (recorder_->checkpoint_due(row.t)) save();
    }
    return !control_.on_row || control_.on_row(row);
  }

  [[nodiscard]] RunSummary summarise(const RunEnd& end) const {
    RunSummary s;
    s.problem = parts_.problem.name;
    s.optimiser = parts_.optimiser.name;
    s.end = end;
    s.horizon = parts_.problem.rounds;
    s.last = tally_.last;
    s.measured = tally_.measured;
    s.evaluated = tally_.evaluated;
    s.has_regret = parts_.metrics.regret;
    s.regret = meter_.regret();
    s.regret_gamma = meter_.gamma();
    s.closed_form = meter_.closed_form();
    s.untrusted = meter_.untrusted();
    s.left_out = meter_.left_out();
    s.window = meter_.window();
    s.inner_steps = tally_.inner_steps;
    s.capped_rounds = tally_.capped;
    s.indefinite_rounds = tally_.indefinite;
    s.convex = parts_.convex;
    s.reference = reference_of(parts_);
    s.max_distance_y = tally_.max_distance_y;
    s.max_distance_z = tally_.max_distance_z;
    s.preset = parts_.optimiser.preset;
    s.constants = parts_.constants;
    s.x = distribution_of(session_->x());
    if (variation_) s.variation = variation_->summary();
    // Some conditions take time in proportion to the horizon: they are left out after Ctrl-C.
    if (!s.constants || end.status != RunStatus::finished) return s;
    s.conditions = parts_.conditions();
    if (s.variation && s.has_regret && parts_.metrics.bound) add_bounds(s, *s.constants, *s.variation);
    return s;
  }

  void add_bounds(RunSummary& s, const Constants& k, const VariationSummary& v) const {
    const auto inputs = bound_inputs(k, v, tally_.first, parts_.problem.rounds, meter_.gamma());
    if (!inputs) return;
    s.bound = parts_.prepared_optimiser->bound(k, *inputs);
    if (s.bound) note_estimates(*s.bound, v);
    s.iteration_bound = parts_.prepared_optimiser->iteration_bound(k, *inputs);
    if (s.iteration_bound) note_estimates(*s.iteration_bound, v, iteration_variations);
  }

  const Experiment::Parts& parts_;
  P& problem_;
  const RunControl& control_;
  Rng rng_{static_cast<std::uint64_t>(parts_.problem.seed)};
  std::unique_ptr<AnySession<S>> session_;
  RoundMeter<P> meter_;
  std::optional<VariationMeter<P>> variation_;  // its samples take memory
  TraceFormatter format_;
  Tally tally_;
  std::optional<RunRecorder> recorder_;
};

}  // namespace

RunSummary Experiment::run(const RunControl& control) const {
  return std::visit(
      [&]<class S>(const std::shared_ptr<AnyOracle<S>>& p) { return ExperimentRun<S>(*parts_, *p, control).run(); },
      parts_->oracle);
}

}  // namespace obolus
