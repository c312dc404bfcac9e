#include "config/sections.hpp"
#include "obolus/data/generators.hpp"
#include "obolus/metrics/row.hpp"
#include "registry/registry.hpp"

namespace obolus {

void registry::OptionLister::add(std::string_view name, std::string type, std::string value, const Range& range,
                                 std::string_view help) {
  list.push_back({std::string(name), std::move(type), std::move(value),
                  range.unrestricted() ? std::string() : range.text(), std::string(help)});
}

std::vector<Listing> list_sets() {
  const auto options = registry::option_listing<config::DomainSection>();
  const auto with = [&](std::initializer_list<const char*> names) {
    std::vector<OptionListing> chosen;
    for (const OptionListing& o : options)
      for (const char* name : names)
        if (o.name == name) chosen.push_back(o);
    return chosen;
  };
  return {{"all", "the whole space", {}, {}},
          {"box", "lower ≤ x ≤ upper, bounds shared or per coordinate", {}, with({"lower", "upper"})},
          {"l2_ball", "|x| ≤ radius", {}, with({"radius"})},
          {"l1_ball", "Σ|x_i| ≤ radius", {}, with({"radius"})},
          {"simplex", "x ≥ 0 and Σ x_i = 1", {}, {}},
          {"nonnegative", "x ≥ 0", {}, {}}};
}

std::vector<Listing> list_sections() {
  return {
      {"[problem]", "besides the problem's own options", {}, registry::option_listing<config::ProblemSection>()},
      {"[start]", "where x, y and z start", {}, registry::option_listing<config::StartSection>()},
      {"[optimiser]", "besides the optimiser's own options", {}, registry::option_listing<config::OptimiserSection>()},
      {"[domain]", "the feasible set of x", {}, registry::option_listing<config::DomainSection>()},
      {"[metrics]", "what is measured", {}, registry::option_listing<config::MetricsSection>()},
      {"[log]", "what is written", {}, registry::option_listing<config::LogSection>()}};
}

std::vector<Listing> list_generators() {
  std::vector<Listing> list;
  const auto add = [&]<class Options>(const Options& options) {
    list.push_back({std::string(options.name), std::string(options.summary), std::string(options.citation),
                    registry::option_listing<Options>()});
  };
  for (const GeneratorOptions& options : generators()) std::visit(add, options);
  return list;
}

std::vector<Listing> list_metrics() {
  std::vector<Listing> list{{"t", "the round", {}, {}}};
  for (const RowColumn& column : row_columns)
    list.push_back({std::string(column.name), std::string(column.meaning), {}, {}});
  list.push_back({"evaluation",
                  "what the problem evaluates at the committed (x_t, y_t), and prequential_…: means of what it judged "
                  "so far",
                  {},
                  {}});
  list.push_back({"V_T, H_2T, E_f_y, E_g_y, E_f_x, E_g_yy, E_g_xy, P_T, E_2T, Psi_T",
                  "variation of the environment, in summary.json: in closed form, or an estimate that is labelled so",
                  {},
                  registry::option_listing<config::MetricsSection>()});
  return list;
}

}  // namespace obolus
