// Registered things, made the way the command line makes them: from the text of a config section.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/section_reader.hpp"
#include "config/sections.hpp"
#include "config/toml.hpp"
#include "obolus/any/listing.hpp"
#include "registry/registry.hpp"
#include "tests/temporary_folder.hpp"

namespace obolus::test {

using Keys = std::vector<std::pair<std::string, std::string>>;  // key and value, as TOML

inline std::string quoted(const std::string& word) { return '"' + word + '"'; }

inline toml::table section_table(const std::string& section, const Keys& keys) {
  std::string text = "[" + section + "]\n";
  for (const auto& [key, value] : keys) text.append(key).append(" = ").append(value).append("\n");
  return toml::parse(text);
}

// Those of `keys` that the listed thing has: what is registered tomorrow may have other options.
inline Keys known_to(const Listing& listing, const Keys& keys) {
  Keys known;
  for (const auto& key : keys)
    for (const OptionListing& option : listing.options)
      if (option.name == key.first) known.push_back(key);
  return known;
}

inline std::vector<std::string> names(const std::vector<Listing>& list) {
  std::vector<std::string> found;
  for (const Listing& l : list) found.push_back(l.name);
  return found;
}

inline Listing listing_of(const std::vector<Listing>& list, const std::string& name) {
  for (const Listing& l : list)
    if (l.name == name) return l;
  throw std::out_of_range("no listing of " + name);
}

inline std::unique_ptr<registry::PreparedOptimiser> prepare_optimiser(const std::string& name, const Keys& keys) {
  const toml::table root = section_table("optimiser", keys);
  config::SectionReader reader(root, "optimiser");
  auto prepared = registry::optimiser(name).read(reader, {Preset::standard, Constants{}, 100});
  reader.finish();
  return prepared;
}

inline std::unique_ptr<registry::PreparedProblem> prepare_problem(const std::string& name, const Keys& keys) {
  const toml::table root = section_table("problem", keys);
  config::SectionReader reader(root, "problem");
  auto prepared = registry::problem(name).read(reader, "");
  reader.finish();
  return prepared;
}

// Each registered set with a radius or bounds that bite.
inline ConvexSet make_set(const std::string& name, Index dim_x) {
  Keys keys = known_to(listing_of(list_sets(), name), {{"lower", "-0.2"}, {"upper", "0.25"}, {"radius", "0.5"}});
  keys.emplace_back("set", quoted(name));
  const toml::table root = section_table("domain", keys);
  config::SectionReader reader(root, "domain");
  config::DomainSection domain;
  domain.describe(reader);
  reader.finish();
  return domain.make(dim_x);
}

// An option that takes one of a few words lists them as its type: "separate | tied | dual".
inline std::vector<std::string> words_of(const OptionListing& option) {
  std::vector<std::string> words;
  if (option.type.find(" | ") == std::string::npos) return words;
  for (std::size_t start = 0;;) {
    const std::size_t end = option.type.find(" | ", start);
    words.push_back(option.type.substr(start, end - start));
    if (end == std::string::npos) return words;
    start = end + 3;
  }
}

// Three rounds of a quadratic stream in two and three dimensions; A, b, c, w and e change.
inline std::string small_stream() {
  const auto round = [](const std::string& b, double w, double s) {
    return R"({"A":[[2,0.5,0],[0.5,3,0.25],[0,0.25,1.5]],"B":[[1,0],[0,1],[0.5,-0.5]],"b":)" + b + R"(,"w":)" +
           std::to_string(w) + R"(,"c":[0.5,-0.25,1],"s":)" + std::to_string(s) + R"(,"r":0.5,"e":[0.25,-0.75]})";
  };
  return R"({"dims":{"x":2,"y":3},"rounds":[)" + round("[1,0,-1]", 1.0, 0.25) + "," + round("[0,1,0.5]", 1.0, 0.25) +
         "," + round("[0.5,0.5,0.5]", 2.0, 0.0) + "]}";
}

// Bits, not values: −0 is not 0 here, and a NaN equals itself.
inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}
inline void append(std::vector<double>& to, const Vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace obolus::test
