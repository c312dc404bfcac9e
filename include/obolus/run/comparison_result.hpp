// What a comparison measured, and what follows from it: means over seeds, the best setting, growth with the horizon.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "obolus/core/options.hpp"
#include "obolus/metrics/growth.hpp"
#include "obolus/metrics/row.hpp"
#include "obolus/run/experiment.hpp"
#include "obolus/run/table.hpp"

namespace obolus {

// One run after round t. In a round that a diverged run did not reach, the regret is infinite, counts and seconds are
// those it ended with, and all else is absent.
struct Reading : Row {
  bool reached = true;

  [[nodiscard]] double number(const RowColumn& column) const {
    return reached || column.is(RowColumn::total) ? column.number(*this) : absent;
  }
};

// One run: a stream, an optimiser, a setting, a seed.
struct CellResult {
  bool diverged = false;
  std::string quantity;  // what stopped being finite
  Round rounds = 0;      // finished
  bool has_regret = true;
  std::int64_t untrusted = 0;
  std::vector<Reading> horizons;  // one each
  // Empty when a directory holds them:
  std::vector<Reading> curve;        // rounds in about equal ratios, and in equal steps
  std::vector<Reading> evaluations;  // every evaluated round
  std::vector<Profile> profiles;     // x over the rounds
  Distribution x;                    // after the last

  void forget_paths() {
    curve.clear();
    evaluations.clear();
    profiles.clear();
    x = {};
  }
};

struct SettingResult {
  std::string text;               // what the grid gives: "gamma=0.05, inner_steps=2"
  std::vector<CellResult> seeds;  // in the order of the comparison's seeds

  [[nodiscard]] std::size_t diverged() const;
};

struct OptimiserResult {
  std::string label, name;
  std::vector<SettingResult> settings;
};

struct StreamResult {
  std::string name, problem;
  std::vector<OptimiserResult> optimisers;
  std::vector<std::vector<VariationSummary>> variation;  // by seed and horizon; empty when not measured
};

// What oracle calls cost, in gradients.
struct Costs {
  std::optional<double> budget;  // evaluations per round
  double product = 2.0;          // g_yy v or g_xy v
  double value = 0.5;            // f or g alone

  [[nodiscard]] double evaluations(const OracleCounts& counts) const;
};

enum class Rank : std::uint8_t { min, max };
template <>
struct EnumNames<Rank> {
  static constexpr std::array<std::pair<Rank, std::string_view>, 2> values{{{Rank::min, "least"}, {Rank::max, "most"}}};
};

// What settings are chosen and optimisers ordered by: the mean over seeds at the largest horizon.
struct Ranking {
  std::string by;  // the name of an evaluation's number; empty: the regret, or nothing where there is none
  Rank rank = Rank::min;
};

struct Spread {
  double mean = 0;
  double sd = 0;  // of the sample, with n − 1; 0 for one seed
};

using Quantity = std::function<double(const Reading&)>;

namespace quantity {
[[nodiscard]] double regret(const Reading& r);
[[nodiscard]] double window_regret(const Reading& r);  // NaN where not measured
[[nodiscard]] double trailing_regret(const Reading& r);
[[nodiscard]] double f(const Reading& r);
[[nodiscard]] double gradients(const Reading& r);  // of f and g
[[nodiscard]] double products(const Reading& r);   // g_yy v and g_xy v
[[nodiscard]] double values(const Reading& r);
[[nodiscard]] double samples(const Reading& r);
[[nodiscard]] double seconds(const Reading& r);
[[nodiscard]] Quantity evaluations(const Costs& costs);
[[nodiscard]] Quantity measure(const std::string& name);  // of the problem's evaluation; NaN where absent
}  // namespace quantity

// Over seeds; infinite as soon as one of them is.
[[nodiscard]] Spread spread(const SettingResult& setting, std::size_t horizon, const Quantity& quantity);
[[nodiscard]] Spread last_spread(const SettingResult& setting, const Quantity& quantity);
// Over horizons and seeds, each seed with its own level; nothing when a seed diverged. The horizons of one run are not
// independent: the interval is only a guide.
[[nodiscard]] std::optional<Growth> growth(const SettingResult& setting, const Quantity& quantity);
// True when the quantity was 0 in every run at every horizon, where no exponent exists.
[[nodiscard]] bool always_zero(const SettingResult& setting, const Quantity& quantity);

// Least for the best setting; infinite when a seed diverged.
[[nodiscard]] double score(const SettingResult& setting, const Ranking& ranking);
// The setting with the least score, the first of several; one with a diverged seed loses against one without.
[[nodiscard]] std::size_t best(const OptimiserResult& optimiser, const Ranking& ranking = {});
// The same among settings whose mean evaluations at the largest horizon T are at most budget · T.
[[nodiscard]] std::optional<std::size_t> best_within_budget(const OptimiserResult& optimiser, const Costs& costs,
                                                            const Ranking& ranking = {});
// Evaluations per round of the setting that needs the fewest.
[[nodiscard]] double min_evaluations(const OptimiserResult& optimiser, const Costs& costs);

struct Relative {
  std::string label;
  std::vector<double> streams;  // mean regret divided by the best one's, at the best settings; NaN: not run
  double geometric_mean = 0;    // over the streams that it shared with others
  std::size_t ran_on = 0;       // how many those are
};

struct TitledTable {
  std::string title;
  Table table;
};

struct ComparisonResult {
  std::vector<std::int64_t> seeds;
  std::vector<Round> horizons;
  Costs costs;
  std::vector<StreamResult> streams;
  Ranking ranking = {};
  bool has_regret = true;

  // The names of what was evaluated, in the problem's order; of all streams, or of one.
  [[nodiscard]] std::vector<std::string> measures() const;
  [[nodiscard]] static std::vector<std::string> measures(const StreamResult& stream);
  [[nodiscard]] bool has_window() const;                                   // some run measured a window-averaged regret
  [[nodiscard]] std::vector<Relative> relative(bool within_budget) const;  // the best first
  [[nodiscard]] std::vector<TitledTable> tables() const;
  [[nodiscard]] std::string text() const;      // the tables for a terminal
  [[nodiscard]] std::string markdown() const;  // and as a document
  [[nodiscard]] std::string csv() const;       // one line per stream and optimiser
  [[nodiscard]] std::string json() const;      // everything but the curves
};

}  // namespace obolus
