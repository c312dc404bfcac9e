// obolus plot FOLDER: the figure of a comparison, from its files alone.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "report/comparison_figure.hpp"
#include "run/durable_file.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

struct Arguments {
  std::string folder, out;
  std::vector<std::string> measures;
};

}  // namespace

void add_plot(CLI::App& app, int& code) {
  CLI::App* verb =
      app.add_subcommand("plot", "draw a comparison: measures over rounds, mean and standard deviation over seeds");
  auto a = std::make_shared<Arguments>();
  verb->add_option("folder", a->folder, "the folder of a comparison, finished or not")->required();
  verb->add_option("-o,--out", a->out, "the file (SVG); default: FOLDER/figure.svg");
  verb->add_option("--measure", a->measures,
                   "regret, or a name of the evaluations such as test_balanced; several may be given");
  verb->footer(
      "A row of panels a stream, a panel a measure, a curve an optimiser. Needs runs that evaluate ([metrics]\n"
      "evaluate_every). Exit codes: 0 done, 2 wrong arguments, 3 the folder holds no such thing.");
  verb->callback([a, &code] {
    const std::string out = a->out.empty() ? a->folder + "/figure.svg" : a->out;
    write_atomically(out, comparison_figure(a->folder, a->measures).svg());
    fmt::print("{}\n", out);
    code = success;
  });
}

}  // namespace obolus::cli
