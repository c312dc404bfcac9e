// obolus growth CONFIG.toml…: how the regret grows with the horizon.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>

#include "obolus/core/error.hpp"
#include "obolus/run/experiment.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

struct Arguments {
  std::vector<std::string> configs, set;
  std::vector<std::int64_t> rounds{100, 1000, 10000, 100000};
  bool csv = false;
};

struct Cell {
  double regret = 0, gradients = 0, error = 0;
  bool ok = false;
};

Cell measure(const std::string& config, const Arguments& a, std::int64_t rounds) {
  std::vector<std::string> overrides = a.set;
  overrides.push_back(fmt::format("problem.rounds={}", rounds));
  const Experiment experiment = Experiment::load(config, overrides);
  Progress progress(std::filesystem::path(config).stem().string(), rounds, true);
  RunControl control;
  control.on_row = [&](const Row& row) {
    progress.show(row.t, row.regret);
    return Interruption::signal() == 0;
  };
  const RunSummary s = experiment.run(control);
  return {s.last.regret, static_cast<double>(s.last.counts.grad_f() + s.last.counts.grad_g()),
          s.last.hypergradient_error, s.end.status == RunStatus::finished};
}

// The exponent of regret ~ T^p between the last two horizons.
std::string slope(const std::vector<Cell>& cells, const std::vector<std::int64_t>& rounds) {
  const std::size_t n = cells.size();
  if (n < 2 || !cells[n - 1].ok || !cells[n - 2].ok || !(cells[n - 2].regret > 0)) return "";
  const double p = std::log(cells[n - 1].regret / cells[n - 2].regret) /
                   std::log(static_cast<double>(rounds[n - 1]) / static_cast<double>(rounds[n - 2]));
  return fmt::format("{:.3f}", p);
}

int run(const Arguments& a) {
  if (!std::is_sorted(a.rounds.begin(), a.rounds.end(), std::less_equal<>()))
    throw ConfigError("--rounds: expected horizons in increasing order");
  std::vector<std::string> header{"config"};
  for (const auto T : a.rounds) header.push_back("T = " + count(T));
  header.insert(header.end(), {"last slope", "last increase", "gradients", "last error"});
  Table table(header);
  const Interruption interruption;
  if (a.csv) fmt::print("config,rounds,regret,gradients,hypergradient_error,status\n");
  bool all_finished = true;
  for (const std::string& config : a.configs) {
    const std::string name = std::filesystem::path(config).stem().string();
    std::vector<Cell> cells;
    std::vector<std::string> row{name};
    for (const auto T : a.rounds) {
      cells.push_back(measure(config, a, T));
      if (Interruption::signal() != 0) {
        fmt::print("{}", a.csv ? std::string() : table.text());
        fmt::print(stderr, "obolus: stopped in {} at T = {}\n", name, T);
        return Interruption::exit_code();
      }
      all_finished = all_finished && cells.back().ok;
      row.push_back(cells.back().ok ? number(cells.back().regret) : "diverged");
      if (a.csv)
        fmt::print("{},{},{},{},{},{}\n", name, T, cells.back().regret, cells.back().gradients, cells.back().error,
                   cells.back().ok ? "finished" : "diverged");
    }
    row.push_back(slope(cells, a.rounds));
    row.push_back(cells.size() < 2 ? "" : number(cells.back().regret - cells[cells.size() - 2].regret));
    row.push_back(number(cells.back().gradients));
    row.push_back(number(cells.back().error));
    table.row(row);
  }
  if (!a.csv)
    fmt::print(
        "Regret by horizon; slope and increase between the last two (a slope near 1 is linear growth, one that falls\n"
        "with T is slower than any power); gradients and hypergradient error at the longest.\n\n{}",
        table.text());
  return all_finished ? success : diverged;
}

}  // namespace

void add_growth(CLI::App& app, int& code) {
  CLI::App* verb = app.add_subcommand("growth", "run configs at several horizons and show how the regret grows");
  auto a = std::make_shared<Arguments>();
  verb->add_option("configs", a->configs, "config files (TOML)")->required();
  verb->add_option("--rounds", a->rounds, "horizons, as 100,1000,10000")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000'000'000}));
  verb->add_option("--set", a->set, "change one value in every config: --set optimiser.tau=0.5 (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  verb->add_flag("--csv", a->csv, "print comma-separated numbers instead of a table");
  verb->callback([a, &code] { code = run(*a); });
}

}  // namespace obolus::cli
