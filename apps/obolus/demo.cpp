// obolus demo: the four algorithms of the paper side by side on two streams, from nothing but this program.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>

#include "obolus/core/error.hpp"
#include "obolus/run/experiment.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

struct Stream {
  const char *name, *about, *config;
};
struct Algorithm {
  const char *name, *options;
};

constexpr std::array streams{
    Stream{"oscillation", "the paper's example: the inner solution flips every round (optimum inside the domain)",
           "[problem]\nname = \"oscillation\"\nvariant = \"interior\"\nrounds = 5000\n"
           "[start]\nx = 0.3\n[domain]\nset = \"box\"\nlower = -1\nupper = 1\n"
           "[metrics]\ngamma = 0.02\n"},
    Stream{"quadratic", "ten inner variables, five outer ones; jumps every 500 rounds",
           "[problem]\nname = \"quadratic\"\ndrift = \"abrupt\"\nperiod = 500\nrounds = 5000\nsine = 0.5\nnoise_cross "
           "= 0.1\n"
           "[domain]\nset = \"box\"\nlower = -2\nupper = 2\n[metrics]\ngamma = 0.02\n"},
};

constexpr std::array algorithms{
    Algorithm{"f2obo", "inner_steps = 5\n"},
    Algorithm{"f2obo_sl", "gamma = { scale = 0.02, power = -0.3333333333333333 }\n"},
    Algorithm{"af2obo", "delta_y = 0.01\ndelta_z = 0.0001\n"},
    Algorithm{"sf2obo", "inner_steps = 5\nbatch = 64\n"},
};

int run(const std::string& folder) {
  const auto start = std::chrono::steady_clock::now();
  const Interruption interruption;
  std::string report = "# Obolus: the paper's four algorithms on two streams\n";
  for (const Stream& stream : streams) {
    Table table({"optimiser", "regret", "last increment", "last hypergradient error", "gradients", "products", "time"});
    for (const Algorithm& algorithm : algorithms) {
      const std::string text = fmt::format(
          "{}[optimiser]\nname = \"{}\"\nalpha = 0.15\nlambda1 = 10.0\n{}{}", stream.config, algorithm.name,
          std::string_view(algorithm.options).find("gamma") == std::string_view::npos ? "gamma = 0.02\n" : "",
          algorithm.options);
      const Experiment experiment(text, fmt::format("demo {} {}", stream.name, algorithm.name), ".");
      RunControl control;
      control.directory = fmt::format("{}/{}-{}", folder, stream.name, algorithm.name);
      control.force = true;
      Progress progress(fmt::format("{} on {}", algorithm.name, stream.name), experiment.rounds(), true);
      control.on_row = [&](const Row& row) {
        progress.show(row.t, row.regret);
        return Interruption::signal() == 0;
      };
      const RunSummary s = experiment.run(control);
      if (Interruption::signal() != 0) {
        fmt::print(stderr, "obolus: stopped in {} on {}\n", algorithm.name, stream.name);
        return Interruption::exit_code();
      }
      table.row({algorithm.name, number(s.last.regret), number(s.last.regret_increment),
                 number(s.last.hypergradient_error), count(s.last.counts.grad_f() + s.last.counts.grad_g()),
                 count(s.last.counts.hvp + s.last.counts.cross), duration(s.last.seconds)});
    }
    fmt::print("{}: {}\n\n{}\n", stream.name, stream.about, table.text());
    report += fmt::format("\n## {}\n\n{}.\n\n{}", stream.name, stream.about, table.markdown());
  }
  report +=
      "\nRegret is Σ |G_X(x_t, ∇F_t(x_t), γ)|² with the true hypergradient; gradients counts those of f and g;\n"
      "products counts Hessian-vector products, which none of the four needs. Each run's folder holds its config,\n"
      "its trace (one JSON object a round), its summary and a checkpoint.\n";
  const std::string path = folder + "/report.md";
  if (!(std::ofstream(path) << report).flush()) throw DataError(path + ": cannot be written");
  fmt::print("Took {}. Each run has a folder under {}/ (config.toml, trace.jsonl, summary.json).\nReport: {}\n",
             duration(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()), folder,
             std::filesystem::absolute(path).lexically_normal().string());
  return success;
}

}  // namespace

void add_demo(CLI::App& app, int& code) {
  CLI::App* verb =
      app.add_subcommand("demo", "the paper's four algorithms side by side on two streams, in a few seconds");
  auto folder = std::make_shared<std::string>("runs/demo");
  verb->add_option("--out", *folder, "where the runs and the report go")->capture_default_str();
  verb->callback([folder, &code] { code = run(*folder); });
}

}  // namespace obolus::cli
