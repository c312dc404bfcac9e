#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

#include "about.hpp"
#include "obolus/core/error.hpp"
#include "obolus/version.hpp"
#include "verbs.hpp"

namespace {

constexpr const char* description =
    "Obolus: online bilevel optimisation.\n"
    "In each round a system commits hyperparameters x and a model y, then sees an outer loss f (validation) and an\n"
    "inner loss g (training). Its task is to keep x near the best choice while the data drifts.";

constexpr const char* footer =
    "Try:\n"
    "  obolus demo                              compare ten methods on two streams\n"
    "  obolus fit DATA                          train a self-tuning model on your own rows\n"
    "  obolus serve runs/DATA                   let other programs ask and teach it, over HTTP\n"
    "  obolus list optimisers                   list every optimiser with its options\n"
    "  obolus list optimisers f2obo             the same for one of them\n"
    "  obolus run CONFIG.toml --out runs/first  run one optimiser on one problem, into a folder\n"
    "  obolus compare CONFIG.toml               compare methods, settings and seeds, in parallel\n"
    "  obolus check CONFIG.toml                 check the gradients of a problem\n"
    "  obolus report runs/FOLDER                write charts and tables into one HTML file\n"
    "  obolus plot runs/FOLDER                  draw a figure for a paper\n"
    "  obolus data get 20news                   fetch a corpus that some problems read\n"
    "`obolus VERB --help` describes each verb.\n"
    "\n"
    "Exit codes: 0 success, 1 internal error, 2 wrong arguments or config, 3 bad data file, 4 the run diverged,\n"
    "5 a check failed, 130 or 143 interrupted after saving.";

int run(int argc, char** argv) {
  using namespace obolus;
  cli::Verb app("obolus", description);
  app.version(fmt::format("obolus {}", version_text));
  app.footer(footer);
  int code = cli::success;
  cli::add_fit(app, code);
  cli::add_predict(app, code);
  cli::add_serve(app, code);
  cli::add_inspect(app, code);
  cli::add_run(app, code);
  cli::add_list(app, code);
  cli::add_check(app, code);
  cli::add_compare(app, code);
  cli::add_plot(app, code);
  cli::add_report(app, code);
  cli::add_data(app, code);
  cli::add_demo(app, code);
  const int parsed = app.parse(argc, argv);
  return parsed == cli::success ? code : parsed;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace obolus;
  try {
    cli::remember_command(argc, argv);
    return run(argc, argv);
  } catch (const ConfigError& e) {
    fmt::print(stderr, "obolus: {}\n", e.what());
    return cli::usage_error;
  } catch (const DataError& e) {
    fmt::print(stderr, "obolus: {}\n", e.what());
    return cli::data_error;
  } catch (const std::exception& e) {
    fmt::print(stderr, "obolus: internal error: {}\n", e.what());
    return cli::internal_error;
  }
}
