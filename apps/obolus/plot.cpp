// obolus plot FOLDER…: runs and comparisons as a figure, from their files alone.
#include "report/plot.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "data/durable_file.hpp"
#include "obolus/core/error.hpp"
#include "render.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

struct Arguments {
  PlotOptions plot;
  std::string out, x = "rounds";
  double dpi = 300;
  bool list = false, log_y = false, linear_y = false, quiet = false;
};

int list(const Arguments& a) {
  for (const std::string& name : measures_of(a.plot)) fmt::print("{}\n", name);
  return success;
}

int run(Arguments a) {
  if (a.list) return list(a);
  if (a.out.empty() && a.plot.folders.size() > 1)
    throw ConfigError("-o: expected the figure's file (.svg, .png or .pdf) when several folders are drawn");
  const std::string out = a.out.empty() ? a.plot.folders.front() + "/figure.svg" : a.out;
  const ImageKind kind = image_kind(out);
  a.plot.x = a.x == "gradients" ? Abscissa::gradients : a.x == "seconds" ? Abscissa::seconds : Abscissa::rounds;
  if (a.log_y || a.linear_y) a.plot.log_y = a.log_y;
  const Plot drawn = plot(a.plot);
  write_atomically(out, rendered(drawn.figure.svg(), kind, a.dpi));
  if (!a.quiet)
    for (const std::string& remark : drawn.remarks) fmt::print(stderr, "obolus: {}\n", remark);
  fmt::print("{}\n", out);
  return success;
}

void add_axes(Verb& verb, Arguments& a) {
  verb.add_option("--x", a.x,
                  "the horizontal axis: rounds (default), gradients (a product counts as 2, a value as 0.5) or seconds")
      ->check(one_of({"rounds", "gradients", "seconds"}));
  verb.add_flag("--log-x", a.plot.log_x, "logarithmic horizontal axis; the legend then gives the slopes of regrets");
  Flag* log_y = verb.add_flag(
      "--log-y", a.log_y, "logarithmic vertical axes; default: for regrets, residuals and hypergradient_error only");
  verb.add_flag("--linear-y", a.linear_y, "linear vertical axes")->excludes(log_y);
}

void add_choices(Verb& verb, Arguments& a) {
  verb.add_option("--measure", a.plot.measures,
                  "the measure to draw (see --list); may be repeated; default: regret, f and up to two evaluations")
      ->one_value();
  verb.add_option(
      "--setting", a.plot.setting,
      "which settings of a comparison's grids: best (default, by summary.json; the first while there is none), all, "
      "or those with KEY=VALUE, …");
  verb.add_option("--stream", a.plot.stream, "only this stream of comparisons, or this problem of runs; default: all");
  verb.add_option("--only", a.plot.only, "only the curve with this label; may be repeated")->one_value();
}

}  // namespace

void add_plot(Verb& app, int& code) {
  Verb* verb = app.add_subcommand(
      "plot", "draw runs and comparisons for papers: SVG, PNG or PDF, with mean and standard deviation over seeds");
  auto a = std::make_shared<Arguments>();
  verb->add_option("folders", a->plot.folders, "folders of runs and comparisons, finished or not")->required();
  verb->add_option("-o,--out", a->out,
                   "the file, ending in .svg, .png or .pdf; default for one folder: FOLDER/figure.svg");
  verb->add_flag("--list", a->list, "print the measures in the folders, and draw nothing");
  add_choices(*verb, *a);
  add_axes(*verb, *a);
  verb->add_option("--width", a->plot.width_mm, "in mm; default: 170, a page of two columns; 85: one column")
      ->check(number_between(40.0, 1000.0));
  verb->add_option("--dpi", a->dpi, "pixels per inch of a PNG; default: 300")->check(number_between(30.0, 2400.0));
  verb->add_option("--title", a->plot.title, "above the figure; default: none");
  verb->add_flag("-q,--quiet", a->quiet, "do not print which settings were drawn");
  verb->footer(
      "One row of panels per stream, one panel per measure, one curve per optimiser. Runs that differ only by their\n"
      "seed are one curve.\n"
      "Exit codes: 0 done, 2 wrong arguments, 3 a folder does not hold what was asked for, or is damaged.");
  verb->callback([a, &code] { code = run(*a); });
}

}  // namespace obolus::cli
