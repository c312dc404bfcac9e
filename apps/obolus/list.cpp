// obolus list [KIND [NAME]]
#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "obolus/any/listing.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/nearest.hpp"
#include "option_flags.hpp"
#include "row_flags.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

struct Kind {
  std::string_view name, singular, heading;
  std::vector<Listing> (*list)();
};

constexpr std::array<Kind, 7> kinds{{
    {"optimisers", "an optimiser", "Optimisers ([optimiser] name = …)", list_optimisers},
    {"problems", "a problem", "Problems ([problem] name = …)", list_problems},
    {"sets", "a set", "Sets ([domain] set = …)", list_sets},
    {"sections", "a section", "Sections that every config may have", list_sections},
    {"metrics", "a metric", "Metrics (columns of trace.jsonl, entries of summary.json)", list_metrics},
    {"formats", "a format", "Formats of rows (--format of `obolus fit` and `obolus predict`)", list_formats},
    {"generators", "a generator", "Generated streams (`obolus data rows NAME`, `obolus fit --generate NAME`)",
     list_generators},
}};

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  names.reserve(kinds.size());
  for (const Kind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

void print(const Listing& thing) {
  fmt::print("\n  {}  {}\n", thing.name, thing.title);
  if (!thing.citation.empty()) fmt::print("  {}\n", thing.citation);
  if (thing.options.empty()) return;
  Table table({"option", "default", "values", "meaning"}, "llll", 4);
  for (const OptionListing& o : thing.options)
    table.row(
        {o.name, o.standard.empty() ? "unset" : o.standard, o.range.empty() ? o.type : o.type + " " + o.range, o.help});
  fmt::print("{}", table.text());
}

void print(const Kind& kind) {
  fmt::print("{}\n", kind.heading);
  for (const Listing& thing : kind.list()) print(thing);
  fmt::print("\n");
}

// An entry may stand for several names, "f, g", and a section is known without its brackets, too.
std::vector<std::string> names_of(const Listing& thing) {
  std::vector<std::string> names(1);
  for (const char c : thing.name)
    if (c == ',') names.emplace_back();
    else if (c != ' ' && c != '[' && c != ']') names.back() += c;
  names.push_back(thing.name);
  return names;
}

void print(const Kind& kind, const std::string& wanted) {
  std::vector<std::string> known;
  for (const Listing& thing : kind.list())
    for (const std::string& name : names_of(thing)) {
      if (name == wanted) {
        fmt::print("{}", kind.heading);
        return print(thing);
      }
      known.push_back(name);
    }
  throw ConfigError(fmt::format("list {}: got '{}', expected the name of {}{}", kind.name, wanted, kind.singular,
                                suggestion(wanted, known)));
}

}  // namespace

void add_list(Verb& app, int&) {
  Verb* verb = app.add_subcommand(
      "list",
      "list optimisers, problems, sets, config sections, metrics, row formats and generators, with every option");
  struct Arguments {
    std::string kind, name;
  };
  auto a = std::make_shared<Arguments>();
  verb->add_option("kind", a->kind, fmt::format("{}; default: all of them", fmt::join(kind_names(), ", ")))
      ->check(one_of(kind_names()));
  verb->add_option("name", a->name, "only the entry of this name");
  verb->footer(
      "  obolus list optimisers        every optimiser with its options\n"
      "  obolus list optimisers f2obo  one of them\n"
      "Exit codes: 0 done, 2 no such kind or name.");
  verb->callback([a] {
    for (const Kind& kind : kinds)
      if (a->kind.empty() || (a->kind == kind.name && a->name.empty())) print(kind);
      else if (a->kind == kind.name) print(kind, a->name);
  });
}

}  // namespace obolus::cli
