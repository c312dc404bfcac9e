#include "obolus/run/comparison_result.hpp"

#include <algorithm>
#include <cmath>

#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_evaluated = std::numeric_limits<double>::quiet_NaN();

double last_regret(const SettingResult& s) {
  return s.diverged() > 0 ? infinite : last_spread(s, quantity::regret).mean;
}

double evaluations_per_round(const SettingResult& s, const Costs& costs) {
  return last_spread(s, quantity::evaluations(costs)).mean / static_cast<double>(s.seeds.front().horizons.back().t);
}

// A best regret of 0 cannot be divided by: others that reached it are as good, the rest infinitely worse.
double ratio(double regret, double min) { return regret == min ? 1.0 : regret / min; }

}  // namespace

std::size_t SettingResult::diverged() const {
  return to_size(std::count_if(seeds.begin(), seeds.end(), [](const auto& c) { return c.diverged; }));
}

double Costs::evaluations(const OracleCounts& c) const {
  return static_cast<double>(c.grad_f() + c.grad_g()) + product * static_cast<double>(c.hvp_yy + c.hvp_xy) +
         value * static_cast<double>(c.values);
}

namespace quantity {
double regret(const Reading& r) { return r.regret; }
double window_regret(const Reading& r) { return r.window_regret; }
double trailing_regret(const Reading& r) { return r.trailing_regret; }
double f(const Reading& r) { return r.f; }
double gradients(const Reading& r) { return static_cast<double>(r.counts.grad_f() + r.counts.grad_g()); }
double products(const Reading& r) { return static_cast<double>(r.counts.hvp_yy + r.counts.hvp_xy); }
double values(const Reading& r) { return static_cast<double>(r.counts.values); }
double samples(const Reading& r) { return static_cast<double>(r.counts.samples); }
double seconds(const Reading& r) { return r.seconds; }
Quantity evaluations(const Costs& costs) {
  return [costs](const Reading& r) { return costs.evaluations(r.counts); };
}
Quantity measure(const std::string& name) {
  return [name](const Reading& r) { return r.evaluation.find(name).value_or(not_evaluated); };
}
}  // namespace quantity

Spread spread(const SettingResult& setting, std::size_t horizon, const Quantity& quantity) {
  const auto n = static_cast<double>(setting.seeds.size());
  Spread result;
  for (const CellResult& cell : setting.seeds) result.mean += quantity(cell.horizons[horizon]) / n;
  if (!std::isfinite(result.mean)) return {result.mean, infinite};
  if (setting.seeds.size() < 2) return result;
  double squares = 0;
  for (const CellResult& cell : setting.seeds) squares += std::pow(quantity(cell.horizons[horizon]) - result.mean, 2);
  result.sd = std::sqrt(squares / (n - 1));
  return result;
}

Spread last_spread(const SettingResult& setting, const Quantity& quantity) {
  return spread(setting, setting.seeds.front().horizons.size() - 1, quantity);
}

std::optional<Growth> growth(const SettingResult& setting, const Quantity& quantity) {
  if (setting.diverged() > 0) return std::nullopt;
  std::vector<GrowthPoints> runs;
  for (const CellResult& cell : setting.seeds) {
    GrowthPoints& points = runs.emplace_back();
    for (const Reading& r : cell.horizons) points.emplace_back(static_cast<double>(r.t), quantity(r));
  }
  return growth(runs);
}

bool always_zero(const SettingResult& setting, const Quantity& quantity) {
  for (const CellResult& cell : setting.seeds)
    for (const Reading& r : cell.horizons)
      if (quantity(r) != 0) return false;
  return true;
}

double score(const SettingResult& setting, const Ranking& ranking) {
  if (setting.diverged() > 0) return infinite;
  const Quantity quantity = ranking.by.empty() ? Quantity(quantity::regret) : quantity::measure(ranking.by);
  const double mean = last_spread(setting, quantity).mean;
  if (std::isnan(mean)) return 0.0;  // not measured: all are equal
  return ranking.rank == Rank::max ? -mean : mean;
}

std::size_t best(const OptimiserResult& optimiser, const Ranking& ranking) {
  const auto& all = optimiser.settings;
  const auto min = std::min_element(
      all.begin(), all.end(), [&](const auto& a, const auto& b) { return score(a, ranking) < score(b, ranking); });
  return to_size(min - all.begin());
}

std::optional<std::size_t> best_within_budget(const OptimiserResult& optimiser, const Costs& costs,
                                              const Ranking& ranking) {
  if (!costs.budget) return std::nullopt;
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < optimiser.settings.size(); ++i) {
    const SettingResult& s = optimiser.settings[i];
    // A diverged run stopped early: its counts say nothing.
    if (s.diverged() > 0 || evaluations_per_round(s, costs) > *costs.budget) continue;
    if (!chosen || score(s, ranking) < score(optimiser.settings[*chosen], ranking)) chosen = i;
  }
  return chosen;
}

double min_evaluations(const OptimiserResult& optimiser, const Costs& costs) {
  double min = infinite;
  for (const SettingResult& s : optimiser.settings)
    if (s.diverged() == 0) min = std::min(min, evaluations_per_round(s, costs));
  return min;
}

std::vector<std::string> ComparisonResult::measures(const StreamResult& stream) {
  for (const OptimiserResult& o : stream.optimisers)
    for (const SettingResult& s : o.settings)
      for (const CellResult& cell : s.seeds)
        if (!cell.horizons.back().evaluation.empty()) {  // a diverged run has none
          std::vector<std::string> names;
          for (const auto& [name, value] : cell.horizons.back().evaluation) names.push_back(name);
          return names;
        }
  return {};
}

std::vector<std::string> ComparisonResult::measures() const {
  std::vector<std::string> names;
  for (const StreamResult& stream : streams)
    for (std::string& name : measures(stream))
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  return names;
}

bool ComparisonResult::has_window() const {
  for (const StreamResult& stream : streams)
    for (const OptimiserResult& o : stream.optimisers)
      for (const SettingResult& s : o.settings)
        for (const CellResult& cell : s.seeds)
          for (const Reading& r : cell.horizons)
            if (!std::isnan(r.window_regret) || !std::isnan(r.trailing_regret)) return true;
  return false;
}

std::vector<Relative> ComparisonResult::relative(bool within_budget) const {
  std::vector<Relative> rows;
  const auto row_of = [&](const std::string& label) -> Relative& {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const Relative& r) { return r.label == label; });
    if (found != rows.end()) return *found;
    return rows.emplace_back(Relative{label, std::vector<double>(streams.size(), not_evaluated), 0, 0});
  };
  for (std::size_t s = 0; s < streams.size(); ++s) {
    if (streams[s].optimisers.size() < 2) continue;  // nothing to compare with
    std::vector<std::pair<std::string, double>> regrets;
    double min = infinite;
    for (const OptimiserResult& o : streams[s].optimisers) {
      const auto setting = within_budget ? best_within_budget(o, costs, ranking) : std::optional(best(o, ranking));
      regrets.emplace_back(o.label, setting ? last_regret(o.settings[*setting]) : infinite);
      min = std::min(min, regrets.back().second);
    }
    for (const auto& [label, regret] : regrets)
      row_of(label).streams[s] = std::isfinite(regret) ? ratio(regret, min) : infinite;
  }
  for (Relative& row : rows) {
    double sum = 0;
    for (const double r : row.streams)
      if (!std::isnan(r)) {
        sum += std::log(r);
        ++row.ran_on;
      }
    row.geometric_mean = std::exp(sum / static_cast<double>(row.ran_on));
  }
  // Means over different streams do not compare: optimisers that ran on more streams come first.
  std::stable_sort(rows.begin(), rows.end(), [](const Relative& a, const Relative& b) {
    return a.ran_on != b.ran_on ? a.ran_on > b.ran_on : a.geometric_mean < b.geometric_mean;
  });
  return rows;
}

}  // namespace obolus
