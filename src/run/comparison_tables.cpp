// A comparison's tables, for people: on a terminal and in Markdown.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "obolus/run/comparison_result.hpp"
#include "run/variation_text.hpp"

namespace obolus {
namespace {

constexpr std::size_t max_setting_width = 44;  // a table stays within 140 columns

std::string shortened(const std::string& text) {
  std::string out;
  std::size_t width = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80 && ++width > max_setting_width) return out + "…";
    out += c;
  }
  return out;
}

std::string spread_text(const SettingResult& s, const Quantity& q) {
  if (s.diverged() > 0) return fmt::format("diverged ({} of {})", s.diverged(), s.seeds.size());
  const Spread r = last_spread(s, q);
  if (s.seeds.size() < 2) return number(r.mean);
  const bool rounding = r.sd < 1e-9 * std::abs(r.mean);
  return fmt::format("{} ± {:.2g}", number(r.mean), rounding ? 0.0 : r.sd);
}

// The number beside a setting: the regret, or else f of the last committed pair.
const char* main_name(const ComparisonResult& r) { return r.has_regret ? "regret" : "f"; }
std::string main_text(const ComparisonResult& r, const SettingResult& s) {
  return spread_text(s, r.has_regret ? quantity::regret : quantity::f);
}

std::string growth_text(const SettingResult& s, const Quantity& q) {
  if (s.diverged() > 0) return {};
  if (always_zero(s, q)) return "0";
  const auto fit = growth(s, q);
  return fit ? fmt::format("{:.3f} ± {:.3f}", fit->exponent, fit->half_width) : std::string();
}

std::string count_text(const SettingResult& s, const Quantity& q) {
  if (s.diverged() > 0) return {};  // it stopped early
  const double mean = last_spread(s, q).mean;
  return mean < 1e15 ? count(std::llround(mean)) : number(mean);
}

// Optimisers with the chosen setting, the best first; those without one come last.
struct Chosen {
  const OptimiserResult* optimiser;
  const SettingResult* setting;  // none fits the budget
};

std::vector<Chosen> ranked(std::vector<Chosen> all, const Ranking& ranking) {
  const auto rank = [&](const Chosen& c) {
    if (!c.setting) return std::pair{2, 0.0};
    return c.setting->diverged() > 0 ? std::pair{1, 0.0} : std::pair{0, score(*c.setting, ranking)};
  };
  std::stable_sort(all.begin(), all.end(), [&](const Chosen& a, const Chosen& b) { return rank(a) < rank(b); });
  return all;
}

std::vector<Chosen> at_equal_rounds(const ComparisonResult& r, const StreamResult& stream) {
  std::vector<Chosen> all;
  for (const OptimiserResult& o : stream.optimisers) all.push_back({&o, &o.settings[best(o, r.ranking)]});
  return ranked(std::move(all), r.ranking);
}

std::string variations_text(const StreamResult& stream) {
  if (stream.variation.empty()) return {};
  const auto text = [&](VariationSum VariationSums::* member) {
    VariationSum mean;
    for (const auto& seed : stream.variation) {
      const VariationSum& part = seed.back().*member;
      mean = {mean.sum + part.sum / static_cast<double>(stream.variation.size()), mean.exact && part.exact};
    }
    return variation_text(mean, stream.variation.front().back().points);
  };
  return fmt::format(" (V_T: {}, H_2T: {})", text(&VariationSums::V), text(&VariationSums::H2));
}

TitledTable equal_rounds(const ComparisonResult& r, const StreamResult& stream) {
  std::vector<std::string> header{"optimiser", "best setting", main_name(r)};
  if (r.has_regret) header.emplace_back("growth");
  for (const char* name : {"gradients", "products", "evaluations", "time"}) header.emplace_back(name);
  Table table(header, "llrrrrrr");
  for (const auto& [o, s] : at_equal_rounds(r, stream)) {
    std::vector<std::string> cells{o->label, shortened(s->text), main_text(r, *s)};
    if (r.has_regret) cells.push_back(growth_text(*s, quantity::regret));
    for (const Quantity& q :
         {Quantity(quantity::gradients), Quantity(quantity::products), quantity::evaluations(r.costs)})
      cells.push_back(count_text(*s, q));
    cells.push_back(s->diverged() > 0 ? "" : duration(last_spread(*s, quantity::seconds).mean));
    table.row(cells);
  }
  return {fmt::format("Equal rounds, T = {}: {}{}", count(r.horizons.back()), stream.name, variations_text(stream)),
          table};
}

TitledTable measures_at_end(const ComparisonResult& r, const StreamResult& stream) {
  const std::vector<std::string> names = ComparisonResult::measures(stream);
  std::vector<std::string> header{"optimiser"};
  header.insert(header.end(), names.begin(), names.end());
  Table table(header);
  for (const auto& [o, s] : at_equal_rounds(r, stream)) {
    std::vector<std::string> cells{o->label};
    for (const std::string& name : names) cells.push_back(spread_text(*s, quantity::measure(name)));
    table.row(cells);
  }
  return {fmt::format("Measures at T = {}: {}", count(r.horizons.back()), stream.name), table};
}

TitledTable by_horizon(const ComparisonResult& r, const StreamResult& stream) {
  std::vector<std::string> header{"optimiser"};
  for (const Round T : r.horizons) header.push_back("T = " + count(T));
  Table table(header);
  for (const auto& [o, s] : at_equal_rounds(r, stream)) {
    std::vector<std::string> cells{o->label};
    for (std::size_t h = 0; h < r.horizons.size(); ++h) cells.push_back(number(spread(*s, h, quantity::regret).mean));
    table.row(cells);
  }
  return {fmt::format("Regret by horizon: {}", stream.name), table};
}

TitledTable windows(const ComparisonResult& r) {
  Table table({"stream", "optimiser", "setting", "regret", "window, current x", "growth", "window, own x"}, "lllrrrr");
  const auto text = [](const SettingResult& s, const Quantity& q) {
    return s.diverged() == 0 && std::isnan(last_spread(s, q).mean) ? std::string("not measured") : spread_text(s, q);
  };
  for (const StreamResult& stream : r.streams)
    for (const auto& [o, s] : at_equal_rounds(r, stream))
      table.row({stream.name, o->label, shortened(s->text), text(*s, quantity::regret),
                 text(*s, quantity::window_regret), growth_text(*s, quantity::window_regret),
                 text(*s, quantity::trailing_regret)});
  return {fmt::format("Window-averaged regret, T = {}", count(r.horizons.back())), table};
}

TitledTable equal_budget(const ComparisonResult& r, const StreamResult& stream) {
  Table table({"optimiser", "setting", main_name(r), "evaluations", "a round"}, "llrrr");
  const auto T = static_cast<double>(r.horizons.back());
  const Quantity evaluations = quantity::evaluations(r.costs);
  std::vector<Chosen> all;
  for (const OptimiserResult& o : stream.optimisers) {
    const auto chosen = best_within_budget(o, r.costs, r.ranking);
    all.push_back({&o, chosen ? &o.settings[*chosen] : nullptr});
  }
  for (const auto& [o, s] : ranked(std::move(all), r.ranking)) {
    const double min = min_evaluations(*o, r.costs);
    if (s)
      table.row({o->label, shortened(s->text), main_text(r, *s), count_text(*s, evaluations),
                 number(last_spread(*s, evaluations).mean / T)});
    else table.row({o->label, "", std::isfinite(min) ? "needs " + number(min) : "diverged"});
  }
  return {fmt::format("Equal budget, {} evaluations a round, {} in all: {}", number(*r.costs.budget),
                      count(std::llround(*r.costs.budget * T)), stream.name),
          table};
}

TitledTable queries(const ComparisonResult& r) {
  Table table({"stream", "optimiser", "gradients", "products", "samples", "evaluations"}, "llrrrr");
  for (const StreamResult& stream : r.streams)
    for (const auto& [o, s] : at_equal_rounds(r, stream))
      table.row({stream.name, o->label, growth_text(*s, quantity::gradients), growth_text(*s, quantity::products),
                 growth_text(*s, quantity::samples), growth_text(*s, quantity::evaluations(r.costs))});
  return {"Queries: exponents p of ~ T^p, best settings", table};
}

TitledTable overall(const ComparisonResult& r, bool within_budget) {
  std::vector<std::string> header{"optimiser", "geometric mean"};
  for (const StreamResult& stream : r.streams) header.push_back(stream.name);
  Table table(header);
  const auto text = [&](double v) {
    if (std::isnan(v)) return std::string();
    return std::isfinite(v) ? fmt::format("{:.3g}", v) : std::string(within_budget ? "none" : "diverged");
  };
  for (const Relative& row : r.relative(within_budget)) {
    std::vector<std::string> cells{row.label, text(row.geometric_mean)};
    for (const double v : row.streams) cells.push_back(text(v));
    table.row(cells);
  }
  return {fmt::format("Overall: regret over the best optimiser's, equal {}", within_budget ? "budget" : "rounds"),
          table};
}

std::string legend(const ComparisonResult& r) {
  std::string text;
  if (!r.ranking.by.empty())
    text = fmt::format("Settings are chosen, and optimisers ordered, by the {} {} at T, mean over seeds.\n",
                       name_of(r.ranking.rank), r.ranking.by);
  return text + fmt::format(
                    "Mean ± standard deviation over {} seed{}. Growth: p of ~ T^p with the half-width of its 95 % "
                    "interval, from {}\n"
                    "horizon{} and all seeds, each with a level of its own; products: g_yy v and g_xy v; evaluations: "
                    "gradients + {} "
                    "products + {} values.\n",
                    r.seeds.size(), r.seeds.size() == 1 ? "" : "s", r.horizons.size(),
                    r.horizons.size() == 1 ? "" : "s", number(r.costs.product), number(r.costs.value));
}

}  // namespace

std::vector<TitledTable> ComparisonResult::tables() const {
  std::vector<TitledTable> all;
  for (const StreamResult& stream : streams) {
    all.push_back(equal_rounds(*this, stream));
    if (!measures(stream).empty()) all.push_back(measures_at_end(*this, stream));
    if (has_regret && horizons.size() > 1) all.push_back(by_horizon(*this, stream));
    if (costs.budget) all.push_back(equal_budget(*this, stream));
  }
  if (has_window()) all.push_back(windows(*this));
  if (horizons.size() * seeds.size() >= 3 && horizons.size() > 1) all.push_back(queries(*this));
  const bool several =
      has_regret && std::any_of(streams.begin(), streams.end(), [](const auto& s) { return s.optimisers.size() > 1; });
  if (several) all.push_back(overall(*this, false));
  if (several && costs.budget) all.push_back(overall(*this, true));
  return all;
}

std::string ComparisonResult::text() const {
  std::string out;
  for (const TitledTable& t : tables()) out += t.title + "\n\n" + t.table.text() + "\n";
  return out + legend(*this);
}

std::string ComparisonResult::markdown() const {
  std::string out = "# Comparison\n\n";
  for (const TitledTable& t : tables()) out += "## " + t.title + "\n\n" + t.table.markdown() + "\n";
  return out + legend(*this);
}

}  // namespace obolus
