// obolus data list and path; the verb also holds get and rows.
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
                     fmt::format("generated: obolus data rows {}", o.name)});
        },
        generator);
  fmt::print("{}", table.text());
}

void print_path(const std::string& name) {
  if (name.empty()) return fmt::print("{}\n", data_folder());
  const DataSet& set = data_set_named(name);
  if (!is_here(set))
    throw DataError(fmt::format("{}: not found at {}; to fetch it:\n  obolus data get {}", name, set.path(), name));
  fmt::print("{}\n", set.path());
}

}  // namespace

void add_data(Verb& app, int& code) {
  Verb* verb = app.add_subcommand("data", "fetch, list and locate data sets, or write them as rows");
  verb->require_subcommand();
  add_data_get(*verb, code);
  verb->add_subcommand("list", "list the data sets, their licences and which of them are here")->callback(list);
  Verb* path = verb->add_subcommand("path", "print the folder of all data, or the path of one data set");
  auto name = std::make_shared<std::string>();
  path->add_option("name", *name, "name of a data set; default: the folder of all")->check(one_of(data_set_names()));
  path->callback([name] { print_path(*name); });
  add_data_rows(*verb, code);
  verb->footer(
      "Data is kept in $OBOLUS_DATA, else in $XDG_CACHE_HOME/obolus, else in ~/.cache/obolus.\n"
      "Exit codes: 0 done, 2 wrong arguments, 3 the data cannot be fetched or is not what it should be.");
}

}  // namespace obolus::cli
