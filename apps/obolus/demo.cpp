// obolus demo: compares ten methods on two streams; needs nothing but this program.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "about.hpp"
#include "data/durable_file.hpp"
#include "obolus/core/error.hpp"
#include "obolus/run/comparison.hpp"
#include "terminal.hpp"
#include "verbs.hpp"
#include "write_report.hpp"

namespace obolus::cli {
namespace {

// Two streams with opposite needs: `flip` rewards inner loops that end at a tolerance, `jumps` steps that track.
constexpr const char* config = R"(
[compare]
seeds = [1, 2, 3]
horizons = [625, 1250, 2500, 5000]
budget = 24.0

[problem]
name = "quadratic"
[domain]
set = "box"
lower = -2.0
upper = 2.0
[metrics]
gamma = 0.02
[shared]
alpha = 0.15
gamma = [0.02, 0.1, 0.5]
lambda1 = 20.0

[[stream]]
name = "flip"
problem = { name = "oscillation", variant = "interior" }
domain = { set = "box", lower = -1.0, upper = 1.0 }
start = { x = 0.3 }
[[stream]]
name = "jumps"
problem = { drift = "abrupt", period = 500, sine = 0.5, noise = 0.1 }

[[optimiser]]
name = "f2obo"
[[optimiser]]
name = "f2obo_sl"
[[optimiser]]
name = "af2obo"
[[optimiser]]
name = "sf2obo"
[[optimiser]]
label = "af2obo order 2"
name = "af2obo"
order = 2
tau = 0.0
inner_solver = "nesterov"
[[optimiser]]
name = "sobow"
[[optimiser]]
name = "obbo"
[[optimiser]]
name = "fsobo"
[[optimiser]]
name = "aobo"
[[optimiser]]
name = "sogd"
y_step = 0.15
v_step = 0.15
)";

// The demo may replace its own folder, and no other.
bool holds_demo(const std::string& folder) {
  std::ifstream file(folder + "/config.toml");
  return std::string(std::istreambuf_iterator<char>(file), {}) == config;
}

// A program built without the report's page still writes tables.
std::string report_of(const std::string& folder) {
  try {
    return write_report({folder});
  } catch (const ConfigError& e) {
    fmt::print(stderr, "obolus: no HTML report: {}\n", e.what());
    return std::filesystem::absolute(folder + "/tables.md").lexically_normal().string();
  }
}

int run(const std::string& folder) {
  const auto start = std::chrono::steady_clock::now();
  const Interruption interruption;
  const Comparison comparison(config, "demo", ".");
  if (holds_results(folder) && !holds_demo(folder))
    throw ConfigError(folder + ": holds a run that is not the demo's; choose another folder with --out");
  ComparisonControl control;
  control.directory = folder;
  control.force = holds_demo(folder);
  control.about = about_line();
  control.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::optional<ComparisonResult> result;
  {
    JobProgress progress("demo", true);
    control.on_progress = [&](std::size_t done, std::size_t of) {
      progress.show(done, of);
      return Interruption::signal() == 0;
    };
    result = comparison.run(control);
  }
  if (!result) {
    fmt::print(stderr, "obolus: stopped\n");
    return Interruption::exit_code();
  }
  fmt::print(
      "flip: the inner solution changes sign every round while F stands still (the paper's example).\n"
      "jumps: a quadratic with ten inner and five outer variables that jumps every 500 rounds.\n\n{}\n"
      "Took {}. To change the comparison, edit {}/config.toml and run `obolus compare` on it.\nReport: {}\n",
      result->text(), duration(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()), folder,
      report_of(folder));
  return success;
}

}  // namespace

void add_demo(Verb& app, int& code) {
  Verb* verb = app.add_subcommand("demo", "compare ten methods on two streams, in a few seconds");
  auto folder = std::make_shared<std::string>("runs/demo");
  verb->add_option("--out", *folder, "folder for the runs and the report")->capture_default_str();
  verb->callback([folder, &code] { code = run(*folder); });
}

}  // namespace obolus::cli
