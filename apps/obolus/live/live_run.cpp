#include "live/live_run.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "data/append_format.hpp"

namespace obolus::cli {
namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

double number_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>() ? 1 : 0;
  return json.is_number() ? json.get<double>() : absent;
}

// `number(i)` for i up to the size.
template <class Number>
void write_list(std::string& out, std::size_t size, const Number& number) {
  out += '[';
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) out += ',';
    if (const double v = number(i); std::isfinite(v)) append_format(out, "{}", v);
    else out += "null";
  }
  out += ']';
}

void write_columns(std::string& out, const std::vector<TraceColumns::Column>& columns, std::size_t rows) {
  out += '{';
  const char* comma = "";
  for (const auto& c : columns) {
    out += std::exchange(comma, ",") + text_of(c.name) + ":";
    write_list(out, rows, [&](std::size_t i) { return c.at(i); });
  }
  out += '}';
}

}  // namespace

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json RunName::json() const {
  return {{"stream", stream}, {"optimiser", optimiser}, {"setting", setting}, {"seed", seed}};
}

void LiveColumns::append(const Json& json) {
  TraceRow row;
  for (const auto& [name, value] : json.items())
    if (name == "t") row.t = value.get<Round>();
    else if (name == "alarm") row.alarm = value.get<std::string>();
    else if (!value.is_structured() && name != "x_size") row.numbers.push_back({name, number_of(value), false});
  if (const auto evaluation = json.find("evaluation"); evaluation != json.end())
    for (const auto& [name, value] : evaluation->items()) row.numbers.push_back({name, number_of(value), true});
  for (const char* name : {"x_values", "x_quantiles"})
    if (const auto list = json.find(name); list != json.end()) {
      row.x = {json.value("x_size", static_cast<Index>(list->size())), name == std::string_view("x_quantiles"), {}};
      for (const Json& v : *list) row.x->numbers.push_back(number_of(v));
    }
  append(row);
}

void LiveColumns::write(std::string& out) const {
  out += R"("columns":)";
  write_columns(out, numbers(), rows());
  out += R"(,"evaluation":)";
  write_columns(out, evaluation(), rows());
  Json list = Json::array();
  for (const Alarm& alarm : alarms()) list.push_back({{"t", alarm.t}, {"text", alarm.by}});
  if (!list.empty()) out += R"(,"alarms":)" + text_of(list);
  const std::vector<Profile> x = profiles();
  if (x.empty()) return;
  append_format(out, R"(,"x":{{"size":{},"t":)", x.front().size);
  write_list(out, x.size(), [&](std::size_t i) { return static_cast<double>(x[i].t); });
  out += profiles_are_quantiles() ? R"(,"levels":[0,0.05,0.25,0.5,0.75,0.95,1],"quantiles":[)" : R"(,"values":[)";
  for (std::size_t k = 0; k < x.front().numbers.size(); ++k) {
    if (k > 0) out += ',';
    write_list(out, x.size(), [&](std::size_t i) { return x[i].numbers[k]; });
  }
  out += "]}";
}

std::string LiveRun::json() const {
  Json head = {{"source", 0}};
  head.update(name.json());
  head["status"] = status;
  if (!quantity.empty()) head["quantity"] = quantity;
  head["rounds"] = rounds;
  head["horizon"] = horizon;
  head["notes"] = notes;
  head.update(more);
  std::string out = text_of(head);
  out.back() = ',';  // the object continues
  columns.write(out);
  return out + "}";
}

}  // namespace obolus::cli
