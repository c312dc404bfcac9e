#include "live/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "obolus/core/to_size.hpp"

namespace obolus::cli {
namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

double number_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>() ? 1 : 0;
  return json.is_number() ? json.get<double>() : absent;
}

void write_list(std::string& out, const std::vector<double>& values, std::size_t rows) {
  out += '[';
  for (std::size_t i = 0; i < rows; ++i) {
    if (i > 0) out += ',';
    if (i < values.size() && std::isfinite(values[i])) fmt::format_to(std::back_inserter(out), "{}", values[i]);
    else out += "null";
  }
  out += ']';
}

template <class T>
void keep_of(std::vector<T>& values, const std::vector<bool>& kept) {
  std::size_t to = 0;
  for (std::size_t i = 0; i < std::min(values.size(), kept.size()); ++i)
    if (kept[i]) values[to++] = values[i];
  values.resize(to);
}

}  // namespace

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json RunName::json() const {
  return {{"stream", stream}, {"optimiser", optimiser}, {"setting", setting}, {"seed", seed}};
}

// Columns may end early: a name that is missing in the last rows costs nothing.
void Columns::put(Named& columns, const std::string& name, double value, std::size_t row) {
  auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.first == name; });
  if (found == columns.end()) found = columns.insert(columns.end(), {name, {}});
  found->second.resize(row, absent);
  found->second.push_back(value);
}

void Columns::append(const Json& row) {
  const std::size_t at = rows();
  const auto evaluation = row.find("evaluation");
  evaluated_.push_back(evaluation != row.end() && !evaluation->empty());
  for (const auto& [name, value] : row.items())
    if (!value.is_structured() && name != "x_size") put(columns_, name, number_of(value), at);
  if (evaluated_.back())
    for (const auto& [name, value] : evaluation->items()) put(evaluation_, name, number_of(value), at);
  append_x(row);
}

void Columns::append_x(const Json& row) {
  const bool whole = row.contains("x_values");
  if (!whole && !row.contains("x_quantiles")) return;
  const Json& list = row.at(whole ? "x_values" : "x_quantiles");
  if (x_.empty()) x_.resize(list.size()), quantiles_ = !whole, x_size_ = row.value("x_size", Index(list.size()));
  if (x_.size() != list.size()) return;
  x_t_.push_back(number_of(row.at("t")));
  for (std::size_t i = 0; i < list.size(); ++i) x_[i].push_back(number_of(list[i]));
}

void Columns::thin() {
  const auto evaluated = to_size(std::count(evaluated_.begin(), evaluated_.end(), true));
  const bool spare = evaluated <= rows() / 4;
  std::vector<bool> kept(rows());
  for (std::size_t i = 0; i < kept.size(); ++i)
    kept[i] = i % 2 == 0 || i + 1 == kept.size() || (spare && evaluated_[i]);
  keep(kept);
  if (x_t_.size() <= rows()) return;  // as many as rows at most, and the first and the last
  std::vector<bool> kept_x(x_t_.size());
  for (std::size_t i = 0; i < kept_x.size(); ++i) kept_x[i] = i % 2 == 0 || i + 1 == kept_x.size();
  for (auto& values : x_) keep_of(values, kept_x);
  keep_of(x_t_, kept_x);
}

void Columns::keep(const std::vector<bool>& kept) {
  for (Named* named : {&columns_, &evaluation_})
    for (auto& [name, values] : *named) keep_of(values, kept);
  std::size_t to = 0;
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i]) evaluated_[to++] = evaluated_[i];
  evaluated_.resize(to);
}

std::size_t Columns::numbers() const {
  std::size_t total = x_t_.size() * (x_.size() + 1);
  for (const Named* named : {&columns_, &evaluation_})
    for (const auto& [name, values] : *named) total += values.size();
  return total;
}

void Columns::write(std::string& out) const {
  const auto object = [&](const char* title, const Named& named) {
    fmt::format_to(std::back_inserter(out), "\"{}\":{{", title);
    const char* comma = "";
    for (const auto& [name, values] : named) {
      out += std::exchange(comma, ",") + text_of(name) + ":";
      write_list(out, values, rows());
    }
    out += '}';
  };
  object("columns", columns_), out += ',', object("evaluation", evaluation_);
  if (x_t_.empty()) return;
  fmt::format_to(std::back_inserter(out), R"(,"x":{{"size":{},"t":)", x_size_);
  write_list(out, x_t_, x_t_.size());
  out += quantiles_ ? R"(,"levels":[0,0.05,0.25,0.5,0.75,0.95,1],"quantiles":[)" : R"(,"values":[)";
  for (std::size_t i = 0; i < x_.size(); ++i) out += i > 0 ? "," : "", write_list(out, x_[i], x_t_.size());
  out += "]}";
}

std::string LiveRun::json() const {
  Json head = {{"source", 0}};
  head.update(name.json());
  head["status"] = status;
  if (!quantity.empty()) head["quantity"] = quantity;
  head["rounds"] = rounds, head["horizon"] = horizon, head["notes"] = notes;
  head.update(more);
  std::string out = text_of(head);
  out.back() = ',';  // the object goes on
  columns.write(out);
  return out + "}";
}

}  // namespace obolus::cli
