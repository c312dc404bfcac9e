// obolus data list|path, and the verb that holds get and rows.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "data_sets.hpp"
#include "obolus/core/error.hpp"
#include "obolus/data/generators.hpp"
#include "obolus/data/newsgroups.hpp"
#include "option_flags.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

bool is_here(const DataSet& set) {
  std::error_code none;
  return std::filesystem::exists(set.path(), none);
}

std::string state_of(const DataSet& set) {
  if (!is_here(set)) return "no: obolus data get " + set.name;
  try {
    return set.sizes();
  } catch (const DataError&) {
    return "damaged, or of another version: obolus data get " + set.name;
  }
}

void list() {
  Table table({"name", "what", "licence", "here"}, "llll");
  for (const DataSet& set : data_sets()) table.row({set.name, set.what, set.licence, state_of(set)});
  for (const GeneratorOptions& generator : generators())
    std::visit(
        [&](const auto& o) {
          table.row({std::string(o.name), std::string(o.summary), "none needed",
                     fmt::format("made on the spot: obolus data rows {}", o.name)});
        },
        generator);
  fmt::print("{}", table.text());
}

void print_path(const std::string& name) {
  if (name.empty()) return fmt::print("{}\n", data_folder());
  const DataSet& set = data_set_named(name);
  if (!is_here(set))
    throw DataError(fmt::format("{}: not at {}; to bring it there:\n  obolus data get {}", name, set.path(), name));
  fmt::print("{}\n", set.path());
}

}  // namespace

void add_data(CLI::App& app, int& code) {
  CLI::App* verb = app.add_subcommand("data", "data to learn from: fetch, list, find, write as rows");
  verb->require_subcommand(1);
  add_data_get(*verb, code);
  verb->add_subcommand("list", "what there is, under which licence, and what is here")->callback(list);
  CLI::App* path = verb->add_subcommand("path", "the folder where data is kept, or where one of it is");
  auto name = std::make_shared<std::string>();
  path->add_option("name", *name, "which; none: the folder of all")->check([](const std::string& given) {
    return fault_of_name(given, data_set_names());
  });
  path->callback([name] { print_path(*name); });
  add_data_rows(*verb, code);
  verb->footer(
      "Data is kept in $OBOLUS_DATA, or else in $XDG_CACHE_HOME/obolus, or else in ~/.cache/obolus.\n"
      "Exit codes: 0 done, 2 wrong arguments, 3 the data cannot be had or is not what it should be.");
}

}  // namespace obolus::cli
