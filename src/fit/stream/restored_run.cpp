#include "fit/stream/restored_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/document.hpp"
#include "config/section_reader.hpp"
#include "data/durable_file.hpp"
#include "fit/stream/fit_state.hpp"
#include "obolus/core/error.hpp"
#include "run/run_directory.hpp"

namespace obolus::fit {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& folder, std::string_view got, std::string_view expected) {
  throw ConfigError(fmt::format("{}: got {}, expected {}", folder, got, expected));
}

void require_fit(const toml::table& config, const std::string& folder) {
  constexpr std::string_view expected = "the folder of a run of `obolus fit`";
  if (fs::exists(folder + "/cells.jsonl")) refuse(folder, "a comparison", expected);
  if (!config["fit"].is_table() || config["problem"]["name"].value_or(std::string()) != "rows")
    refuse(folder, "a run of `obolus run`", expected);
  for (const char* key : {"validation", "follow"})
    if (config["problem"][key])
      refuse(folder, fmt::format("a run with --{}", key), fmt::format("a run without --{}", key));
}

template <class Options>
Options options_of(const toml::table& config, const char* section) {
  Options options;
  config::SectionReader reader(config, section);
  options.describe(reader);
  reader.finish();
  return options;
}

RowOptions row_options(const toml::table& config) {
  RowOptions options;
  config::SectionReader reader(config, "problem");
  options.describe([&]<class T>(std::string_view name, T& value, std::string_view help) {
    const auto node = config["problem"][name];
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      const toml::array* list = node.as_array();
      if (!list) return;
      value.clear();
      for (const toml::node& item : *list)
        if (const auto text = item.value<std::string>()) value.push_back(*text);
    } else if constexpr (std::is_same_v<T, char>) {
      const auto text = node.template value<std::string>();
      value = text && !text->empty() ? text->front() : '\0';
    } else {
      reader(name, value, help);
    }
  });
  return options;
}

// By its summary: a run that diverges keeps the checkpoint from before.
bool has_diverged(const std::string& folder) {
  const std::string path = folder + "/summary.json";
  if (!fs::exists(path)) return false;
  const auto summary = nlohmann::json::parse(read_whole_file(path, 1 << 28), nullptr, false);
  return summary.is_object() && summary.value("status", nlohmann::json()) == "diverged";
}

void load(FitState& state, const std::string& folder) {
  auto bytes = read_checkpoint(folder);
  if (!bytes) refuse(folder, "no checkpoint", "one, which `obolus fit` writes within 30 seconds, and when it ends");
  std::uint64_t trace_bytes = 0;
  PredictionFile predictions("", false);
  RowsRead read;
  try {
    Archive a(std::move(*bytes));
    state.fields(a, trace_bytes, predictions, read);
    a.finish();
  } catch (const DataError& e) {
    throw DataError(fmt::format("{}/checkpoint: {}", folder, e.what()));
  }
}

}  // namespace

RestoredRun restore_run(const std::string& folder) {
  const std::string path = folder + "/config.toml";
  if (!fs::exists(path)) refuse(folder, "no config.toml", "the folder of a run of `obolus fit`");
  const toml::table config = config::parse(config::read_document(path), path);
  require_fit(config, folder);
  const auto options = options_of<FitOptions>(config, "fit");
  auto evaluation = options_of<EvaluationOptions>(config, "evaluation");
  FitState state(options, evaluation);
  load(state, folder);
  if (has_diverged(folder) || !std::isfinite(state.fit.outer_loss()))
    refuse(folder, "a run that diverged", "one whose model is finite");
  return {std::move(evaluation), row_options(config), std::move(state.fit), std::move(state.evaluation), state.rows};
}

}  // namespace obolus::fit
