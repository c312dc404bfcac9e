// Runs as the page shows them: numbers over rounds by name. NaN stands for what was not measured.
#pragma once

#include <compare>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "obolus/core/types.hpp"

namespace obolus::cli {

using Json = nlohmann::ordered_json;

// On one line, whatever bytes a stranger put into a name.
[[nodiscard]] std::string text_of(const Json& json);

struct RunName {
  std::string stream, optimiser, setting;
  std::int64_t seed = 0;

  auto operator<=>(const RunName&) const = default;
  [[nodiscard]] Json json() const;
};

class Columns {
 public:
  // An object with "t" and further numbers, and where they were taken "evaluation" (an object of numbers) and "x_values"
  // or "x_quantiles" (a list; "x_size" says how many are behind it).
  void append(const Json& row);
  // Drops about every second row, the evaluated ones only where they are the most; the first and the last stay.
  void thin();

  [[nodiscard]] std::size_t rows() const { return evaluated_.size(); }
  [[nodiscard]] std::size_t numbers() const;  // held in all
  // "columns":{…},"evaluation":{…} and, where there is any, ,"x":{…}
  void write(std::string& out) const;

 private:
  using Named = std::vector<std::pair<std::string, std::vector<double>>>;

  static void put(Named& columns, const std::string& name, double value, std::size_t row);
  void append_x(const Json& row);
  void keep(const std::vector<bool>& kept);

  Named columns_{{"t", {}}}, evaluation_;  // the page counts on t
  std::vector<bool> evaluated_;
  Index x_size_ = 0;
  bool quantiles_ = false;
  std::vector<double> x_t_;
  std::vector<std::vector<double>> x_;
};

struct LiveRun {
  RunName name;
  std::string status = "running", quantity = {};
  Round rounds = 0, horizon = 0;
  std::vector<std::string> notes = {};
  Json more = Json::object();  // further members of a Run
  Columns columns = {};

  [[nodiscard]] std::string json() const;
};

}  // namespace obolus::cli
