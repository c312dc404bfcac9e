// obolus report FOLDER…: one HTML file to look at, mail and print.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "about.hpp"
#include "data/durable_file.hpp"
#include "page.hpp"
#include "report/report_json.hpp"
#include "verbs.hpp"
#include "write_report.hpp"

namespace obolus::cli {
namespace {

struct Arguments {
  std::vector<std::string> folders;
  std::string out;
};

}  // namespace

std::string write_report(const std::vector<std::string>& folders, std::string out) {
  static_cast<void>(page());  // throws before anything is read
  if (out.empty()) out = folders.front() + "/report.html";
  write_atomically(out, page_with(report_json(folders, {command_line(), now()})));
  return std::filesystem::absolute(out).lexically_normal().string();
}

void add_report(Verb& app, int& code) {
  Verb* verb = app.add_subcommand("report", "write one HTML file of runs and comparisons: charts, tables, configs");
  auto a = std::make_shared<Arguments>();
  verb->add_option("folders", a->folders, "folders of `obolus run` and `obolus compare`, finished or not")->required();
  verb->add_option("-o,--out", a->out, "the file; default: report.html in the first folder");
  verb->footer(
      "The file needs no network and no other file: open it, mail it, print it. Runs that differ only by their seed\n"
      "are shown as mean and standard deviation; other runs are named by the options in which they differ.\n"
      "Exit codes: 0 done, 2 wrong arguments or built without the page, 3 a folder holds no run, or a damaged one.");
  verb->callback([a, &code] {
    fmt::print("{}\n", write_report(a->folders, a->out));
    code = success;
  });
}

}  // namespace obolus::cli
