#include "obolus/run/experiment.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "config/document.hpp"
#include "run/experiment_parts.hpp"

namespace obolus {
namespace {

template <class Options>
void read_section(const toml::table& root, const char* name, Options& options) {
  config::SectionReader reader(root, name);
  options.describe(reader);
  reader.finish();
}

}  // namespace

Experiment::Parts::Parts(const std::string& text, const std::string& source, const std::string& folder,
                         const std::vector<std::string>& overrides) {
  toml::table root = config::parse(text, source);
  for (const std::string& o : overrides) config::apply_override(root, o);
  if (const toml::node* comparison = root.get("compare"))
    throw ConfigError(config::place_of(*comparison) + ": [compare] makes this a comparison: use `obolus compare`");
  config::refuse_unknown(root, "section [{}]", {"problem", "start", "optimiser", "domain", "metrics", "log"});
  resolve(root, folder);
}

void Experiment::Parts::resolve(const toml::table& root, const std::string& folder) {
  config::SectionReader problem_reader(root, "problem");
  problem.describe(problem_reader);
  if (problem.name.empty()) problem_reader.reject("name", "the name of a problem: see `obolus list problems`");
  if (!prepared_problem) prepared_problem = registry::problem(problem.name).read(problem_reader, folder);
  problem_reader.finish();
  data_checksum = prepared_problem->data_checksum();
  read_section(root, "start", start);
  config::SectionReader domain_reader(root, "domain");
  domain.describe(domain_reader);
  domain_reader.finish();
  for (const char* name : {"lower", "upper", "radius"})
    if (domain_reader.has(name) && !domain_reader.has("set"))
      domain_reader.reject("set", fmt::format("the name of a set, since {} is given", name));
  read_metrics(root);
  read_section(root, "log", log);
  config::SectionReader optimiser_reader(root, "optimiser");
  optimiser.describe(optimiser_reader);
  if (optimiser.name.empty()) optimiser_reader.reject("name", "the name of an optimiser: see `obolus list optimisers`");
  const registry::OptimiserEntry& entry = registry::optimiser(optimiser.name);

  const auto seed = static_cast<std::uint64_t>(problem.seed);
  if (problem.precision == Precision::single) oracle = prepared_problem->make<float>(seed);
  else oracle = prepared_problem->make<double>(seed);
  std::visit(
      [&](auto& p) {
        dims = p->dims();
        set = domain.make(dims.x);
        set.check_dimension(dims.x);
        constants = p->constants(set);
        const Capabilities can = p->capabilities();
        convex = can.convex;
        if (entry.info.needs_hvp && !can.hvp)
          throw ConfigError(
              fmt::format("{} needs Hessian-vector products, which {} does not offer", optimiser.name, problem.name));
      },
      oracle);
  if (start.x) config::require_length(*start.x, dims.x, "start.x");
  if (start.y) config::require_length(*start.y, dims.y, "start.y");

  std::optional<double> L_g1;  // both an option of the algorithm and a constant of the theory
  optimiser_reader("L_g1", L_g1, "", Range::positive());
  Constants known = constants.value_or(Constants{});
  optimiser.overlay(known, L_g1);
  if (optimiser.preset == Preset::practical)
    std::visit([&](auto& p) { known.L_yy = L_g1.value_or(p->inner_smoothness(set)); }, oracle);
  const bool anything = constants || optimiser.L_f0 || optimiser.L_f1 || L_g1 || optimiser.mu_g;
  if (anything) constants = known;
  prepared_optimiser = entry.read(optimiser_reader, {optimiser.preset, known, problem.rounds});
  optimiser_reader.finish();
  require_capabilities();
}

// What the optimiser needs of the problem, and what the regret needs of both.
void Experiment::Parts::require_capabilities() const {
  if (metrics.regret && metrics.reference_steps == 0 && !convex)
    throw ConfigError(
        fmt::format("metrics.reference_steps: got 0, expected 1 or more, or regret = false: the inner problem of {} is "
                    "not convex and cannot be solved to rounding",
                    problem.name));
  const bool samples = std::visit([](const auto& p) { return p->capabilities().stochastic; }, oracle);
  if (prepared_optimiser->draws() && !samples)
    throw ConfigError(fmt::format("{} draws samples, which {} does not offer: use samples = \"given\", or f2obo",
                                  optimiser.name, problem.name));
  if (metrics.regret && !metrics.gamma && !prepared_optimiser->first_gamma())
    throw ConfigError(
        fmt::format("metrics.gamma: not given, expected the γ of the regret, or regret = false: {} has no γ > 0 "
                    "of its own in round 1",
                    optimiser.name));
}

void Experiment::Parts::read_metrics(const toml::table& root) {
  config::SectionReader reader(root, "metrics");
  metrics.describe(reader);
  reader.finish();
  if (metrics.regret && metrics.every > 1 && metrics.reference_steps == 0)
    reader.reject("every", "1, or regret = false, or reference_steps: the regret is a sum over all rounds");
  if (metrics.window > 0 && (!metrics.regret || metrics.every > 1))
    reader.reject("window", "0, or regret = true and every = 1: it needs the reference hypergradient of every round");
  if (metrics.regret && problem.rounds % metrics.every != 0)
    reader.reject("every",
                  fmt::format("a divisor of the {} rounds: each measured round stands for as many", problem.rounds));
}

std::string Experiment::Parts::config() const {
  return "# Complete: running this file again gives the same run.\n\n[problem]\n" + config::section_lines(problem) +
         prepared_problem->section() + "\n[start]\n" + config::section_lines(start) + "\n[optimiser]\n" +
         config::section_lines(optimiser) + prepared_optimiser->section() + "\n[domain]\n" +
         config::section_lines(domain) + "\n[metrics]\n" + config::section_lines(metrics) + "\n[log]\n" +
         config::section_lines(log);
}

Experiment::Experiment(const std::string& text, const std::string& source, const std::string& folder,
                       const std::vector<std::string>& overrides)
    : parts_(std::make_unique<Parts>(text, source, folder, overrides)) {}
Experiment::Experiment(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Experiment Experiment::load(const std::string& path, const std::vector<std::string>& overrides) {
  return Experiment(config::read_document(path), path, std::filesystem::path(path).parent_path().string(), overrides);
}

Experiment::Experiment(Experiment&&) noexcept = default;
Experiment& Experiment::operator=(Experiment&&) noexcept = default;
Experiment::~Experiment() = default;

std::string Experiment::config() const { return parts_->config(); }
Round Experiment::rounds() const { return parts_->problem.rounds; }
const std::string& Experiment::problem() const { return parts_->problem.name; }
const std::string& Experiment::optimiser() const { return parts_->optimiser.name; }
std::int64_t Experiment::seed() const { return parts_->problem.seed; }
std::vector<Condition> Experiment::theory_conditions() const {
  return parts_->optimiser.preset == Preset::theory ? parts_->conditions() : std::vector<Condition>{};
}

}  // namespace obolus
