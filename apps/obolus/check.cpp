// obolus check CONFIG.toml: checks a problem's gradients, second-order products and hypergradient.
#include <fmt/format.h>

#include <memory>

#include "obolus/run/experiment.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

namespace obolus::cli {

void add_check(Verb& app, int& code) {
  Verb* verb = app.add_subcommand(
      "check", "check the problem of a config: derivatives against finite differences, convexity on samples");
  struct Arguments {
    std::string config;
    std::vector<std::string> set;
  };
  auto a = std::make_shared<Arguments>();
  verb->add_option("config", a->config, "the config file (TOML)")->required();
  verb->add_option("--set", a->set, "change one value: --set problem.seed=2 (repeatable)")
      ->type_name("KEY=VALUE")
      ->one_value();
  verb->footer("Exit codes: 0 every check passed, 2 wrong config, 3 bad data, 5 a check failed.");
  verb->callback([a, &code] {
    const auto lines = Experiment::load(a->config, a->set).check();
    Table table({"check", "", "error", "tolerance", "where"}, "llrrl");
    bool ok = true;
    for (const auto& line : lines) {
      table.row({line.what, line.ok ? "ok" : "FAILED", number(line.error), number(line.tolerance), line.where});
      ok = ok && line.ok;
    }
    fmt::print("{}", table.text());
    if (!ok) fmt::print(stderr, "obolus: a check failed\n");
    code = ok ? success : check_failed;
  });
}

}  // namespace obolus::cli
