// The verbs of the command line, one file each. A verb adds its subcommand, whose callback puts the exit code into
// `code`.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace obolus::cli {

enum ExitCode : int {
  success = 0,
  internal_error = 1,
  usage_error = 2,    // wrong arguments or configuration
  data_error = 3,     // a bad or missing data file
  diverged = 4,       // a number stopped being finite
  check_failed = 5,   // `obolus check` found a fault
  interrupted = 130,  // Ctrl-C, after saving
  terminated = 143,   // SIGTERM, after saving
};

void add_run(CLI::App& app, int& code);
void add_list(CLI::App& app, int& code);
void add_check(CLI::App& app, int& code);
void add_compare(CLI::App& app, int& code);
void add_plot(CLI::App& app, int& code);
void add_report(CLI::App& app, int& code);
void add_fit(CLI::App& app, int& code);
void add_predict(CLI::App& app, int& code);
void add_inspect(CLI::App& app, int& code);
void add_data(CLI::App& app, int& code);
void add_demo(CLI::App& app, int& code);

// --live [ADDR], the same for every verb that has it. The text is empty if no ADDR is given.
void add_live(CLI::App& verb, std::optional<std::string>& address);

}  // namespace obolus::cli
