// A comparison's config, read: its streams, optimisers, settings and seeds, and the config of each run.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "config/section_reader.hpp"
#include "obolus/core/error.hpp"
#include "obolus/run/comparison_result.hpp"

namespace obolus {

struct ComparisonPlan {
  static constexpr std::array run_sections{"problem", "start", "domain", "metrics"};

  struct Choice {
    std::string key;
    std::size_t index;  // into the key's list
  };
  struct Setting {
    std::vector<Choice> choices;
    std::string text;
  };
  struct Entry {
    std::string label, name;
    std::vector<std::string> shared;  // keys of [shared] that it has as options and does not give itself
    std::vector<Setting> settings;
    std::vector<std::size_t> streams;  // on which it runs
  };
  struct Stream {
    std::string name, problem;
    std::vector<std::string> dropped;  // keys of [problem] that the stream's own problem does not have
  };
  struct Cell {
    std::size_t stream = 0, entry = 0, setting = 0, seed = 0;
  };

  ComparisonPlan(const std::string& text, const std::string& source, const std::string& folder);

  // A config as `obolus run` takes it. Its values keep their places in the file, for errors.
  [[nodiscard]] toml::table root(const Cell& cell, Round rounds) const;
  [[nodiscard]] std::string name_of(const Cell& cell) const;
  [[nodiscard]] Round horizon() const { return horizons.back(); }
  [[nodiscard]] std::vector<Cell> cells() const;
  [[nodiscard]] Cell first_on(std::size_t stream) const;  // the first seed of the first optimiser that runs on it
  // The text with absolute paths: it can be run from anywhere.
  [[nodiscard]] std::string portable_text() const;

  std::string text, source, folder;
  std::vector<std::int64_t> seeds;
  std::vector<Round> horizons;
  Costs costs;
  Ranking ranking;
  std::string rank_place;  // in the text, for errors
  std::vector<Stream> streams;
  std::vector<Entry> entries;

 private:
  void read_compare(const toml::table& root);
  void read_ranking(const toml::table& root, config::SectionReader& reader);
  void read_streams(const toml::table& root);
  void read_stream(const toml::table& table, const toml::table* shared_problem);
  void read_optimisers(const toml::table& root);
  void read_optimiser(const toml::table& table, const toml::table* shared);
  [[nodiscard]] std::vector<std::size_t> streams_of(const toml::table& table) const;
  void require_few() const;
};

// Runs `work` on a cell and adds the cell's name to its errors.
template <class Work>
auto named(const ComparisonPlan& plan, const ComparisonPlan::Cell& cell, const Work& work) {
  const auto with_name = [&](const Error& e) { return std::string(e.what()) + " (" + plan.name_of(cell) + ")"; };
  try {
    return work();
  } catch (const ConfigError& e) {
    throw ConfigError(with_name(e));
  } catch (const DataError& e) {
    throw DataError(with_name(e));
  }
}

}  // namespace obolus
