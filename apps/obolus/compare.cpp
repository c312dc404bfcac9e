// obolus compare CONFIG.toml: runs optimisers × streams × settings × seeds in parallel, into one folder.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "about.hpp"
#include "keys.hpp"
#include "live/view.hpp"
#include "obolus/core/error.hpp"
#include "obolus/run/comparison.hpp"
#include "run_folder.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

struct Arguments {
  std::string config, out;
  int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  bool resume = false, force = false, csv = false, quiet = false;
  std::optional<std::string> live;  // the address; empty: any free port of this machine
};

struct Count {
  std::size_t done = 0, of = 0;
};

// Runs the comparison with its progress line, the live page and the keys that pause and stop it.
std::optional<ComparisonResult> watched_run(const Arguments& a, const Comparison& comparison,
                                            ComparisonControl& control, Count& jobs) {
  std::optional<LiveView> live;
  if (a.live) live.emplace(*a.live, comparison, control.directory);
  if (live) control.on_cell = [&](const std::string& line) { live->cell(line); };
  Keys keys;
  JobProgress progress(std::filesystem::path(a.config).stem().string(), !a.quiet, keys.there());
  std::atomic<bool> paused = false;
  control.pause = &paused;
  control.on_progress = [&](std::size_t done, std::size_t of) {
    jobs = {done, of};
    keys.look();
    paused = keys.paused();
    progress.pause(keys.paused());
    progress.show(done, of);
    if (live) live->progress(progress.pace(), static_cast<std::int64_t>(done), static_cast<std::int64_t>(of));
    return Interruption::signal() == 0;
  };
  auto result = comparison.run(control);
  if (live) live->end(result.has_value());
  return result;
}

int run(const Arguments& a) {
  if (a.resume && a.out.empty()) throw ConfigError("--resume requires --out DIR, the comparison to resume");
  const Interruption interruption;  // reading the data may take long, too
  const Comparison comparison = Comparison::load(a.config);
  ComparisonControl control;
  control.directory = a.out.empty() ? free_directory(a.config) : a.out;
  control.resume = a.resume;
  control.force = a.force;
  control.threads = a.threads;
  control.about = about_line();
  Count jobs;
  const std::optional<ComparisonResult> result = watched_run(a, comparison, control, jobs);
  if (!result) {
    fmt::print(stderr,
               "obolus: stopped with {} of {} jobs done and saved; to resume:\n  obolus compare {} --out {} --resume\n",
               jobs.done, jobs.of, shell_quoted(control.directory + "/config.toml"), shell_quoted(control.directory));
    return Interruption::exit_code();
  }
  if (a.csv) fmt::print("{}", result->csv());
  else if (!a.quiet) fmt::print("{}", result->text());
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw DataError("cannot write to standard output");
  if (!a.quiet)
    fmt::print(stderr, "Files: {}/{{config.toml, cells.jsonl, tables.md, tables.csv, summary.json}}\n",
               control.directory);
  return success;
}

}  // namespace

void add_compare(Verb& app, int& code) {
  Verb* verb = app.add_subcommand(
      "compare", "compare optimisers over streams, settings and seeds, at equal rounds and at equal oracle budget");
  auto a = std::make_shared<Arguments>();
  verb->add_option("config", a->config, "config file of the comparison (TOML); docs/command-line.md describes it")
      ->required();
  verb->add_option("--out", a->out, "folder to write; default: runs/NAME-OF-CONFIG, numbered if it exists");
  verb->add_option("--threads", a->threads,
                   "number of parallel runs; default: the number of cores; results do not depend on it")
      ->check(whole_number(1, 1024));
  Flag* resume = verb->add_flag("--resume", a->resume, "run only what the folder --out does not contain yet");
  verb->add_flag("--force", a->force, "replace the run in --out")->excludes(resume);
  add_live(*verb, a->live);
  verb->add_flag("--csv", a->csv, "print comma-separated numbers instead of tables");
  verb->add_flag("-q,--quiet", a->quiet, "print no tables (with --csv: only the numbers)");
  verb->footer(
      "The folder holds config.toml, cells.jsonl (one object per finished run), tables.md, tables.csv and\n"
      "summary.json. A run that diverges counts as a result. Ctrl-C keeps the finished runs and prints how to resume.\n"
      "In a terminal, p pauses and resumes the comparison, and q does the same as Ctrl-C. --live prints the address "
      "of\n"
      "a page that shows finished runs as they come in.\n"
      "Exit codes: 0 done, 2 wrong arguments or config, 3 bad data, 130 interrupted and saved.");
  verb->callback([a, &code] { code = run(*a); });
}

}  // namespace obolus::cli
