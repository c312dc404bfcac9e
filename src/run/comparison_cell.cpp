#include "run/comparison_cell.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "config/toml.hpp"

namespace obolus {
namespace {

using Cell = ComparisonPlan::Cell;
using Parts = Experiment::Parts;

// For logarithmic axes and for linear ones.
constexpr int equal_ratios = 60, equal_steps = 100;

std::vector<Round> curve_rounds(Round last) {
  std::vector<Round> rounds;
  for (int i = 0; i < equal_ratios; ++i)
    rounds.push_back(std::llround(std::pow(static_cast<double>(last), static_cast<double>(i) / (equal_ratios - 1))));
  for (int i = 1; i <= equal_steps; ++i)
    rounds.push_back(std::max<Round>(1, std::llround(static_cast<double>(last) * i / equal_steps)));
  std::sort(rounds.begin(), rounds.end());
  rounds.erase(std::unique(rounds.begin(), rounds.end()), rounds.end());
  std::erase_if(rounds, [&](Round t) { return t > last; });
  return rounds;
}

Reading reading_of(const Row& row) {
  Reading reading{row};
  reading.judged.clear();
  return reading;
}

// Keeps the rows of some rounds.
class Recorder {
 public:
  explicit Recorder(std::vector<Round> rounds) : rounds_(std::move(rounds)) {}
  void see(const Row& row) {
    if (readings_.size() < rounds_.size() && rounds_[readings_.size()] == row.t) readings_.push_back(reading_of(row));
  }
  // The rounds that a diverged run did not reach have infinite regret, and the counts it ended with.
  [[nodiscard]] std::vector<Reading> complete(const Row& last) && {
    while (readings_.size() < rounds_.size()) {
      Reading missing;
      missing.reached = false;
      missing.t = rounds_[readings_.size()];
      missing.regret = std::numeric_limits<double>::infinity();
      missing.counts = last.counts;
      missing.seconds = last.seconds;
      readings_.push_back(missing);
    }
    return std::move(readings_);
  }
  [[nodiscard]] std::vector<Reading> seen() && { return std::move(readings_); }

 private:
  std::vector<Round> rounds_;
  std::vector<Reading> readings_;
};

template <class S>
std::optional<std::vector<VariationSummary>> measure(const Parts& parts, AnyOracle<S>& problem,
                                                     const std::vector<Round>& horizons, const StopToken& token) {
  const Rng rng(static_cast<std::uint64_t>(parts.problem.seed));
  VariationMeter<AnyOracle<S>> meter(problem, parts.set, parts.metrics.samples, rng.child("variation"),
                                     parts.metrics.variation_solves);
  std::vector<VariationSummary> summaries;
  for (Round t = 1; t <= horizons.back(); ++t) {
    if (token.stop_requested()) return std::nullopt;
    problem.reveal(t);
    meter.add(problem, t);
    if (t == horizons[summaries.size()]) summaries.push_back(meter.summary());
  }
  return summaries;
}

}  // namespace

bool StopToken::stop_requested() const {
  while (pause && pause->load(std::memory_order_relaxed) && !stop.load(std::memory_order_relaxed))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return stop.load(std::memory_order_relaxed);
}

std::vector<std::unique_ptr<Parts>> cell_runs(const ComparisonPlan& plan, const Cell& cell) {
  std::vector<std::unique_ptr<Parts>> runs;
  runs.push_back(std::make_unique<Parts>(plan.root(cell, plan.horizon()), plan.folder));
  if (runs.front()->optimiser.preset == Preset::standard) return runs;
  const std::string options = runs.front()->prepared_optimiser->section();
  for (std::size_t i = 0; i + 1 < plan.horizons.size(); ++i) {
    auto shorter = std::make_unique<Parts>(plan.root(cell, plan.horizons[i]), plan.folder);
    if (shorter->prepared_optimiser->section() != options) runs.push_back(std::move(shorter));
  }
  return runs;
}

std::optional<CellResult> run_cell(const ComparisonPlan& plan, const Cell& cell, const StopToken& token) {
  auto runs = cell_runs(plan, cell);
  std::vector<Round> rounds = plan.horizons;
  for (std::size_t i = 1; i < runs.size(); ++i) std::erase(rounds, runs[i]->problem.rounds);
  CellResult result;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i]->metrics.variation = runs[i]->metrics.bound = false;  // the stream's, measured once
    Recorder horizons(i == 0 ? rounds : std::vector{runs[i]->problem.rounds});
    Recorder curve(i == 0 ? curve_rounds(plan.horizon()) : std::vector<Round>{});
    RunControl control;
    control.evaluated = plan.horizons;
    if (i == 0) control.on_profile = [&](const Profile& p) { result.profiles.push_back(p); };
    control.on_row = [&](const Row& row) {
      horizons.see(row);
      curve.see(row);
      if (i == 0 && !row.evaluation.empty()) result.evaluations.push_back(reading_of(row));
      return !token.stop_requested();
    };
    const RunSummary summary = Experiment(std::move(runs[i])).run(control);
    if (summary.end.status == RunStatus::stopped) return std::nullopt;
    if (summary.end.status == RunStatus::diverged) {
      result.diverged = true;
      result.quantity = summary.end.quantity;
    }
    if (i == 0) {
      result.rounds = summary.end.rounds;
      result.curve = std::move(curve).seen();
      result.x = summary.x;
    }
    result.has_regret = summary.has_regret;
    result.untrusted += summary.untrusted;
    for (Reading& r : std::move(horizons).complete(summary.last)) {
      // A sum that lacks rounds would beat complete ones.
      if (summary.has_regret && summary.left_out > 0) r.regret = std::numeric_limits<double>::infinity();
      result.horizons.push_back(r);
    }
  }
  std::sort(result.horizons.begin(), result.horizons.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  return result;
}

std::optional<std::vector<VariationSummary>> measure_stream(const ComparisonPlan& plan, const Cell& cell,
                                                            const StopToken& token) {
  const toml::table root = plan.root(cell, plan.horizon());
  config::MetricsSection metrics;
  config::SectionReader reader(root, "metrics");
  metrics.describe(reader);
  if (!metrics.variation) return std::vector<VariationSummary>{};  // before making the problem, which may be large
  const Parts parts(root, plan.folder);
  return std::visit([&](const auto& problem) { return measure(parts, *problem, plan.horizons, token); }, parts.oracle);
}

}  // namespace obolus
