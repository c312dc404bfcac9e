// obolus inspect MODEL: the contents of a model of `obolus fit`.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "config/option_text.hpp"
#include "fit/model/model_file.hpp"
#include "fit/stream/fit_run.hpp"
#include "obolus/run/table.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

struct Arguments {
  std::string model;
  std::size_t weights = 20;
  bool json = false;
};

void print_json(Fit& model, std::size_t weights) {
  using Json = nlohmann::ordered_json;
  Json out;
  out["task"] = name_of(model.options().task);
  out["rows"] = model.rows();
  out["rounds"] = model.rounds();
  out["features"] = model.features();
  out["classes"] = model.classes();
  out["groups"] = model.groups();
  Json h = Json::object();
  for (const FitHyperparameter& one : model.hyperparameters()) h[one.name] = one.value;
  out["hyperparameters"] = h;
  if (const auto p = model.penalties())
    out["l2_of_features"] = {{"least", p->min}, {"middle", p->middle}, {"most", p->max}};
  if (const auto s = model.shares()) out["predicted_by"] = {{"model", s->model}, {"mean_label", s->mean_label}};
  out["constants"] = model.constants();
  Json list = Json::array();
  for (const fit::NamedWeight& w : fit::largest_weights(model, weights))
    list.push_back({{"feature", w.feature}, {"for", w.output}, {"weight", w.value}});
  out["largest_weights"] = list;
  fmt::print("{}\n", out.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_text(Fit& model, const Arguments& a) {
  Table table({"", ""}, "ll");
  const auto line = [&](const std::string& name, const std::string& value) { table.row({name, value}); };
  line("task", std::string(name_of(model.options().task)));
  line("rows learnt", count(model.rows()));
  line("rounds", count(model.rounds()));
  line("features", count(model.features()) + (model.options().hash_bits > 0 ? " (hashed)" : ""));
  std::string classes;
  for (const std::string& name : model.classes()) classes += (classes.empty() ? "" : ", ") + name;
  if (!classes.empty()) line("classes", classes.size() > 100 ? classes.substr(0, 100) + " …" : classes);
  for (const FitHyperparameter& h : model.hyperparameters())
    line(h.name, number(h.value) + (h.tuned ? "" : " (fixed)"));
  if (const auto p = model.penalties()) line("l2 of features", fit::text_of(*p));
  if (const auto s = model.shares()) line("predicted by", fit::text_of(*s));
  for (std::size_t c = 0; c < model.constants().size() && c < a.weights; ++c)
    line("constant of " + fit::output_name(model, static_cast<std::int32_t>(c)), number(model.constants()[c]));
  fmt::print("{}", without_heading(table));
  Table top({"feature", "for", "weight"}, "llr");
  const auto weights = fit::largest_weights(model, a.weights);
  for (const fit::NamedWeight& w : weights) top.row({w.feature, w.output, number(w.value)});
  if (!weights.empty()) fmt::print("\nlargest weights\n{}", top.text());
}

}  // namespace

void add_inspect(Verb& app, int& code) {
  Verb* verb = app.add_subcommand("inspect", "show the contents of a model of `obolus fit`");
  auto a = std::make_shared<Arguments>();
  verb->add_option("model", a->model, "the model, a file that `obolus fit` wrote")->required();
  verb->add_option("--weights", a->weights, "number of largest weights to list")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
  verb->add_flag("--json", a->json, "print JSON");
  verb->footer(
      "Reading a model executes nothing. Exit codes: 0 done, 2 wrong arguments, 3 not a model, or a damaged one.");
  verb->callback([a, &code] {
    Fit model = fit::load_model(a->model);
    if (a->json) print_json(model, a->weights);
    else print_text(model, *a);
    code = success;
  });
}

}  // namespace obolus::cli
