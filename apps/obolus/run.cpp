// obolus run CONFIG.toml: one run, into a folder.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <thread>

#include "about.hpp"
#include "keys.hpp"
#include "live/view.hpp"
#include "obolus/core/error.hpp"
#include "obolus/run/experiment.hpp"
#include "run/variation_text.hpp"
#include "run_folder.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

struct Arguments {
  std::string config, out;
  std::vector<std::string> set;
  std::int64_t seed = -1, rounds = -1;
  int threads = 1;
  bool resume = false, force = false, quiet = false, verbose = false;
  std::optional<std::string> live;  // the address; empty: any on this machine
};

// What happened that the theory does not allow for, and the remedy.
template <class Line>
void guards(const RunSummary& s, Line&& line) {
  if (!s.convex) line("inner problem", "not convex: no theorem applies, and the regret depends on how ∇F is found");
  if (s.capped_rounds > 0)
    line("at the cap", fmt::format("{} rounds: a tolerance was not reached; raise max_inner or the tolerances",
                                   count(s.capped_rounds)));
  if (s.indefinite_rounds > 0)
    line("indefinite", fmt::format("{} rounds: g_yy had negative curvature; set damping or system_solver = \"gd\"",
                                   count(s.indefinite_rounds)));
  constexpr double apart = 0.5;
  if (s.measured.separation > apart)
    line("y and z",
         fmt::format("are far apart, |y − z| = {} |z|: λ(g_x(y) − g_x(z)) is then no gradient; use warm_start = "
                     "\"tied\" or \"dual\", a smaller τ, or a bounded domain",
                     number(s.measured.separation)));
}

void print_summary(const RunSummary& s, const std::string& directory) {
  Table table({"", ""}, "ll");
  const auto line = [&](const char* name, const std::string& value) { table.row({name, value}); };
  line("optimiser on problem", s.optimiser + " on " + s.problem);
  line("rounds", count(s.end.rounds));
  const auto measured = [](double v) { return std::isnan(v) ? "not measured" : number(v); };
  if (s.has_regret)
    line("regret", fmt::format("{} (γ = {}, {})", measured(s.regret), number(s.regret_gamma),
                               s.closed_form ? "closed-form hypergradients" : "reference hypergradients"));
  else line("last f, g", number(s.measured.f) + ", " + number(s.measured.g));
  if (s.window)
    line("window-averaged regret",
         fmt::format("{} at the current x, {} with each round at its own (w = {}, δ = {})", measured(s.window->current),
                     measured(s.window->trailing), count(s.window->window), number(s.window->decay)));
  for (const auto& [name, value] : s.evaluated.evaluation) line(name.c_str(), number(value));
  if (s.bound) line("theorem's bound", number(s.bound->value) + " as printed; see summary.json for what it assumes");
  if (s.untrusted > 0)
    line("untrusted",
         count(s.untrusted) +
             " rounds: the reference solve missed its tolerance, met negative curvature or was not finite");
  if (s.left_out > 0)
    line("left out of the regret",
         count(s.left_out) + " rounds: ∇F is not finite, or g_yy is singular to rounding; g may have no minimiser");
  if (s.measured.has_regret) line("last hypergradient error", number(s.measured.hypergradient_error));
  line("inner iterations", count(s.inner_steps) + (s.iteration_bound ? fmt::format("; theorem's bound {} as printed",
                                                                                   number(s.iteration_bound->value))
                                                                     : std::string()));
  guards(s, line);
  line("gradients of f, of g; products",
       fmt::format("{}, {}; {}", count(s.last.counts.grad_f()), count(s.last.counts.grad_g()),
                   count(s.last.counts.hvp_yy + s.last.counts.hvp_xy)));
  if (s.variation) {
    const VariationSummary& v = *s.variation;
    line("V_T", variation_text(v.V, v.points));
    line("H_2T", variation_text(v.H2, v.points));
    for (const auto& [name, total] : variation_totals) line(name, variation_text((v.*total)(), v.points));
  }
  line("time in updates", duration(s.last.seconds));
  line("files", directory + "/{config.toml, trace.jsonl, summary.json, checkpoint}");
  fmt::print(stderr, "{}", without_heading(table));
}

// Before a run with options from the theory: the theorem's conditions that they violate.
void warn_of_conditions(const Experiment& experiment) {
  for (const Condition& c : experiment.theory_conditions())
    if (!c.holds) fmt::print(stderr, "obolus: warning: the theorem's condition {} is violated: {}\n", c.name, c.detail);
}

// The run with what watches and steers it: the terminal's line, the browser and the keys.
RunSummary watched_run(const Arguments& a, const Experiment& experiment, RunControl& control) {
  std::optional<LiveView> live;
  if (a.live) live.emplace(*a.live, experiment, control.directory);
  if (live && control.resume) live->recall(control.directory);
  Keys keys;
  Progress progress(std::filesystem::path(a.config).stem().string(), experiment.rounds(), !a.quiet, keys.there());
  if (live) control.on_profile = [&](const Profile& x) { live->profile(x); };
  double f = Row::absent;  // of the last measured round
  control.on_row = [&](const Row& row) {
    if (row.measured) f = row.f;
    const auto show = [&] {
      progress.pause(keys.paused());
      progress.show(row.t, row.has_regret ? "regret" : "f", row.has_regret ? row.regret : f);
      if (live) live->progress(progress.pace(), row.t, experiment.rounds());
    };
    keys.look();
    if (live) live->row(row, row.t == experiment.rounds());
    for (show(); keys.paused() && Interruption::signal() == 0; show()) keys.wait(std::chrono::milliseconds(100));
    return Interruption::signal() == 0;
  };
  RunSummary summary = experiment.run(control);
  if (live) live->end(summary);
  return summary;
}

int run(const Arguments& a) {
  if (a.resume && a.out.empty()) throw ConfigError("--resume requires --out DIR, the run to resume");
  std::vector<std::string> overrides = a.set;
  if (a.seed >= 0) overrides.push_back(fmt::format("problem.seed={}", a.seed));
  if (a.rounds >= 0) overrides.push_back(fmt::format("problem.rounds={}", a.rounds));
  const Experiment experiment = Experiment::load(a.config, overrides);
  if (!a.quiet) warn_of_conditions(experiment);
  RunControl control;
  control.directory = a.out.empty() ? free_directory(a.config) : a.out;
  control.resume = a.resume;
  control.force = a.force;
  control.threads = a.threads;
  control.about = about_line();
  const Interruption interruption;
  const RunSummary summary = watched_run(a, experiment, control);
  if (summary.end.status == RunStatus::diverged) {
    fmt::print(stderr,
               "obolus: the run diverged in round {}: {}\n"
               "Smaller steps (optimiser.alpha, optimiser.gamma) or a slower multiplier (optimiser.tau) may help.\n",
               summary.end.rounds + 1, summary.end.quantity);
    return diverged;
  }
  if (summary.end.status == RunStatus::stopped) {
    fmt::print(stderr,
               "obolus: stopped after round {} of {} and saved; to continue:\n  obolus run {} --out {} --resume\n",
               summary.end.rounds, experiment.rounds(), shell_quoted(control.directory + "/config.toml"),
               shell_quoted(control.directory));
    return Interruption::exit_code();
  }
  if (a.verbose || (!a.quiet && is_terminal(STDERR_FILENO))) print_summary(summary, control.directory);
  return success;
}

}  // namespace

void add_run(Verb& app, int& code) {
  Verb* verb = app.add_subcommand("run", "run one optimiser on one problem, as described in a config file");
  auto a = std::make_shared<Arguments>();
  verb->add_option("config", a->config, "the config file (TOML); `obolus list` shows the options of every section")
      ->required();
  verb->add_option("--set", a->set, "change one value: --set optimiser.alpha=0.05 (repeatable)")
      ->type_name("KEY=VALUE")
      ->one_value();
  verb->add_option("--out", a->out, "the run's folder; default: runs/NAME-OF-CONFIG, numbered if it exists");
  verb->add_option("--seed", a->seed, "the same as --set problem.seed=N")
      ->check(whole_number(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  verb->add_option("--rounds", a->rounds, "the same as --set problem.rounds=T")
      ->check(whole_number(std::int64_t{1}, std::int64_t{1'000'000'000'000'000}));
  verb->add_option("--threads", a->threads, "threads to use; results do not depend on it")->check(whole_number(1, 256));
  Flag* resume = verb->add_flag(
      "--resume", a->resume, "continue from the checkpoint in --out; the results are the same bits as without a break");
  verb->add_flag("--force", a->force, "replace the run in --out")->excludes(resume);
  add_live(*verb, a->live);
  verb->add_flag("-q,--quiet", a->quiet, "print nothing but errors");
  verb->add_flag("-v,--verbose", a->verbose, "print the summary even when standard error is not a terminal");
  verb->footer(
      "A run folder holds config.toml (complete; reproduces the run), trace.jsonl (one object per round),\n"
      "summary.json and checkpoint. Ctrl-C saves and says how to continue. In a terminal, p pauses and resumes the\n"
      "run, q does what Ctrl-C does. --live prints the address of a page that shows the run as it proceeds.\n"
      "Exit codes: 0 done, 2 wrong arguments or config, 3 bad data, 4 diverged, 130 interrupted and saved.");
  verb->callback([a, &code] { code = run(*a); });
}

}  // namespace obolus::cli
