#include "obolus/run/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "config/document.hpp"
#include "data/checksum.hpp"
#include "obolus/version.hpp"
#include "run/comparison_cell.hpp"
#include "run/comparison_parts.hpp"

namespace obolus {
namespace {

using Cell = ComparisonPlan::Cell;

std::string digest(const std::string& config, std::uint64_t data) {
  std::string text = config::without_comments(config);
  text += std::to_string(data);
  text += version_text;  // another version may give other results
  return fmt::format("{:016x}", checksum(text.data(), text.size()));
}

std::string stream_checksum(Experiment::Parts& p) {
  p.problem.seed = 0;  // it is part of the name
  return digest(config::section_lines(p.problem) + p.prepared_problem->section() + config::section_lines(p.domain) +
                    config::section_lines(p.metrics),
                p.data_checksum);
}

// The names of what a run on the problem evaluates and judges, found by asking once at its start.
std::vector<std::string> measures_of(const Experiment::Parts& p) {
  std::vector<std::string> names;
  std::visit(
      [&]<class S>(const std::shared_ptr<AnyOracle<S>>& problem) {
        auto [x, y] = p.start_on(*problem);
        p.set.template project<S>(x);
        Evaluation evaluated, judged;
        problem->reveal(1);
        problem->evaluate(x, y, evaluated);
        problem->judge(x, y, judged);
        for (const auto& [name, value] : evaluated) names.push_back(name);
        for (const auto& [name, value] : judged) names.push_back("prequential_" + name);
      },
      p.oracle);
  return names;
}

// What was measured must be able to rank the settings.
void require_ranking(const ComparisonPlan& plan, const Experiment::Parts& p) {
  const auto several = std::find_if(plan.entries.begin(), plan.entries.end(),
                                    [](const ComparisonPlan::Entry& e) { return e.settings.size() > 1; });
  const bool undecided = plan.ranking.by.empty() && !p.metrics.regret && several != plan.entries.end();
  if (plan.ranking.by.empty() && !undecided) return;
  std::vector<std::string> known = measures_of(p);
  if (std::find(known.begin(), known.end(), plan.ranking.by) != known.end()) return;
  std::string list;
  for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
  const std::string expected = known.empty() ? p.problem.name + " evaluates nothing" : "expected one of " + list;
  if (!undecided)
    throw ConfigError(fmt::format("{}: compare.rank_by: got \"{}\", {}", plan.rank_place, plan.ranking.by, expected));
  throw ConfigError(
      fmt::format("{}: [compare] rank_by: not given, but optimiser '{}' has {} settings to choose from "
                  "and metrics.regret is off: {}",
                  plan.source, several->label, several->settings.size(), expected));
}

// Some requirements of an optimiser on the set and the start are checked only when it opens.
void open_once(const Experiment::Parts& run) {
  std::visit(
      [&]<class S>(const std::shared_ptr<AnyOracle<S>>& p) {
        const auto start = run.start_on(*p);
        (void)run.prepared_optimiser->open(*p, run.set, start.x, start.y);
      },
      run.oracle);
}

// Resolves a cell's runs with the first seed, which finds every error that they can have.
std::string cell_checksum(const ComparisonPlan& plan, const Cell& cell) {
  std::string text;
  std::uint64_t data = 0;
  for (const auto& run : cell_runs(plan, cell)) {
    if (run->metrics.regret && !run->metrics.gamma)
      throw ConfigError(
          plan.source +
          ": [metrics] gamma: not given, expected the γ of the regret; with each optimiser's own, regrets do not "
          "compare");
    open_once(*run);
    run->problem.seed = 0;
    text += run->config();
    data = run->data_checksum;
  }
  return digest(text, data);
}

}  // namespace

Comparison::Parts::Parts(const std::string& text, const std::string& source, const std::string& folder)
    : plan(text, source, folder) {
  add_streams();
  add_cells();
}

void Comparison::Parts::add_streams() {
  for (std::size_t s = 0; s < plan.streams.size(); ++s) {
    const Cell first = plan.first_on(s);
    const std::string sum = named(plan, first, [&] {
      Experiment::Parts p(plan.root(first, plan.horizon()), plan.folder);
      if (s == 0) has_regret = p.metrics.regret;
      if (p.metrics.regret != has_regret)
        throw ConfigError(plan.source + ": metrics.regret: got true and false, expected the same for all streams");
      require_ranking(plan, p);
      return stream_checksum(p);
    });
    for (std::size_t k = 0; k < plan.seeds.size(); ++k)
      jobs.push_back({{s, first.entry, 0, k}, {plan.streams[s].name, "", "", plan.seeds[k], plan.horizons, sum}});
  }
}

void Comparison::Parts::add_cells() {
  std::string sum;
  for (const Cell& cell : plan.cells()) {
    if (cell.seed == 0) sum = named(plan, cell, [&] { return cell_checksum(plan, cell); });
    const ComparisonPlan::Entry& entry = plan.entries[cell.entry];
    jobs.push_back({cell,
                    {plan.streams[cell.stream].name, entry.label, entry.settings[cell.setting].text,
                     plan.seeds[cell.seed], plan.horizons, sum}});
  }
}

ComparisonResult Comparison::Parts::assemble(std::vector<JobRecord> records) const {
  ComparisonResult result{plan.seeds, plan.horizons, plan.costs, {}, plan.ranking, has_regret};
  for (const ComparisonPlan::Stream& s : plan.streams) {
    StreamResult& stream = result.streams.emplace_back(StreamResult{s.name, s.problem, {}, {}});
    for (const ComparisonPlan::Entry& e : plan.entries) {
      OptimiserResult& optimiser = stream.optimisers.emplace_back(OptimiserResult{e.label, e.name, {}});
      for (const ComparisonPlan::Setting& setting : e.settings) optimiser.settings.push_back({setting.text, {}});
    }
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Cell& at = jobs[i].cell;
    StreamResult& stream = result.streams[at.stream];
    if (!jobs[i].measures_stream())
      stream.optimisers[at.entry].settings[at.setting].seeds.push_back(std::move(records[i].cell));
    else if (!records[i].variation.empty()) stream.variation.push_back(std::move(records[i].variation));
  }
  for (StreamResult& stream : result.streams)
    std::erase_if(stream.optimisers, [](const OptimiserResult& o) { return o.settings.front().seeds.empty(); });
  return result;
}

Comparison::Comparison(const std::string& text, const std::string& source, const std::string& folder)
    : parts_(std::make_unique<Parts>(text, source, folder)) {}

Comparison Comparison::load(const std::string& path) {
  return Comparison(config::read_document(path), path, std::filesystem::path(path).parent_path().string());
}

Comparison::Comparison(Comparison&&) noexcept = default;
Comparison& Comparison::operator=(Comparison&&) noexcept = default;
Comparison::~Comparison() = default;

std::size_t Comparison::cells() const {
  return parts_->jobs.size() - parts_->plan.streams.size() * parts_->plan.seeds.size();
}
Round Comparison::horizon() const { return parts_->plan.horizon(); }
std::string Comparison::config() const { return parts_->plan.portable_text(); }
const Ranking& Comparison::ranking() const { return parts_->plan.ranking; }
std::vector<Comparison::StreamName> Comparison::streams() const {
  std::vector<StreamName> names;
  for (const ComparisonPlan::Stream& s : parts_->plan.streams) names.push_back({s.name, s.problem});
  return names;
}

}  // namespace obolus
