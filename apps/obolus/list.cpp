// obolus list [optimisers|problems|sets|metrics|sections]
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "obolus/any/listing.hpp"
#include "obolus/core/nearest.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

void print(const char* heading, const std::vector<Listing>& things) {
  fmt::print("{}\n", heading);
  for (const Listing& thing : things) {
    fmt::print("\n  {}  {}\n", thing.name, thing.title);
    if (!thing.citation.empty()) fmt::print("  {}\n", thing.citation);
    if (thing.options.empty()) continue;
    Table table({"option", "default", "values", "meaning"}, "llll", 4);
    for (const OptionListing& o : thing.options)
      table.row({o.name, o.standard.empty() ? "unset" : o.standard, o.range.empty() ? o.type : o.type + " " + o.range,
                 o.help});
    fmt::print("{}", table.text());
  }
  fmt::print("\n");
}

}  // namespace

void add_list(CLI::App& app, int&) {
  CLI::App* verb = app.add_subcommand(
      "list", "what there is: optimisers, problems, sets, metrics and config sections, with every option");
  auto what = std::make_shared<std::string>("everything");
  verb->add_option("what", *what, "optimisers, problems, sets, metrics or sections; all when left out")
      ->check([](const std::string& word) {
        const std::vector<std::string> valid{"optimisers", "problems", "sets", "metrics", "sections"};
        if (std::find(valid.begin(), valid.end(), word) != valid.end()) return std::string();
        return "got '" + word + "', expected optimisers, problems, sets, metrics or sections" + suggestion(word, valid);
      });
  verb->callback([what] {
    const bool all = *what == "everything";
    if (all || *what == "optimisers") print("Optimisers ([optimiser] name = …)", list_optimisers());
    if (all || *what == "problems") print("Problems ([problem] name = …)", list_problems());
    if (all || *what == "sets") print("Sets ([domain] set = …)", list_sets());
    if (all || *what == "sections") print("Sections that every config may have", list_sections());
    if (all || *what == "metrics") print("Metrics (columns of trace.jsonl, entries of summary.json)", list_metrics());
  });
}

}  // namespace obolus::cli
