// The verbs of the command line, one file each. A verb adds its subcommand, whose callback puts the exit code into
// `code`.
#pragma once

#include <optional>
#include <string>

#include "verb.hpp"

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

void add_run(Verb& app, int& code);
void add_list(Verb& app, int& code);
void add_check(Verb& app, int& code);
void add_compare(Verb& app, int& code);
void add_plot(Verb& app, int& code);
void add_report(Verb& app, int& code);
void add_fit(Verb& app, int& code);
void add_predict(Verb& app, int& code);
void add_serve(Verb& app, int& code);
void add_inspect(Verb& app, int& code);
void add_data(Verb& app, int& code);
void add_demo(Verb& app, int& code);

// --live [ADDR], the same for every verb that has it. The text is empty if no ADDR is given.
void add_live(Verb& verb, std::optional<std::string>& address);

}  // namespace obolus::cli
