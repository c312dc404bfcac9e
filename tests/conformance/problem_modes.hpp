// Every registered problem in each of its modes: every word of every option that takes words is a mode.
#pragma once

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "obolus/any/any_oracle.hpp"
#include "tests/conformance/registered.hpp"

namespace obolus::test {

// One file for all tests of this program; quadratic_file reads it.
inline const std::string& stream_path() {
  static const TemporaryFolder folder;
  static const std::string path = [] {
    folder.write("stream.json", small_stream());
    return folder.file("stream.json");
  }();
  return path;
}

// A problem with its options, and what it offers.
struct ProblemMode {
  std::string problem;
  Keys keys;
  Capabilities can = {};
  bool knows_constants = false;

  // Then the mean of f over samples is not the f of all.
  [[nodiscard]] bool fits_a_scale() const {
    return std::find(keys.begin(), keys.end(), std::pair<std::string, std::string>{"temperature", quoted("fitted")}) !=
           keys.end();
  }
  friend void PrintTo(const ProblemMode& mode, std::ostream* out) {
    *out << mode.problem;
    for (const auto& [key, value] : mode.keys)
      if (key != "path") *out << ", " << key << " = " << value;  // a path of this process only: ctest keeps these names
  }
};

inline const ConvexSet& constants_box() {
  static const ConvexSet box = ConvexSet::box(-1.0, 1.0);
  return box;
}

// Data that must be downloaded first: tests/data has them.
inline bool fetched(const OptionListing& option, const std::string& word) {
  return option.name == "data" && word != "generated";
}

// Each problem as it comes, with noise, and with every word of every option that takes words.
inline std::vector<ProblemMode> make_problem_modes() {
  std::vector<ProblemMode> all;
  for (const Listing& l : list_problems()) {
    const Keys needed = known_to(l, {{"path", quoted(stream_path())}});
    const auto with = [&](const Keys& more) {
      ProblemMode mode{l.name, needed};
      mode.keys.insert(mode.keys.end(), more.begin(), more.end());
      const auto problem = prepare_problem(mode.problem, mode.keys)->make<double>(7);
      mode.can = problem->capabilities();
      mode.knows_constants = problem->constants(constants_box()).has_value();
      all.push_back(mode);
    };
    with({});
    with(known_to(l,
                  {{"noise", "0.3"}, {"noise_cross", "0.2"}, {"sine", "0.5"}, {"period", "3"}, {"evaluate", "true"}}));
    for (const OptionListing& option : l.options)
      for (const std::string& word : words_of(option))
        if (!fetched(option, word)) with({{option.name, quoted(word)}});
  }
  return all;
}

// Only the modes that a suite applies to are enrolled in it.
inline std::vector<ProblemMode> problem_modes_where(const std::function<bool(const ProblemMode&)>& applies) {
  static const std::vector<ProblemMode> all = make_problem_modes();
  std::vector<ProblemMode> chosen;
  for (const ProblemMode& mode : all)
    if (applies(mode)) chosen.push_back(mode);
  return chosen;
}

}  // namespace obolus::test
