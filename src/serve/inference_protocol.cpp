#include "serve/inference_protocol.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "obolus/core/to_size.hpp"
#include "serve/json_text.hpp"
#include "serve/refusal.hpp"

namespace obolus::serve {
namespace {

using Json = nlohmann::ordered_json;

const Json& member(const Json& json, const char* name, Json::value_t type, const std::string& where) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  if (!json.is_object() || found == json.end() || found->type() != type)
    throw Refusal(422, fmt::format("{}: expected a member {}", where, name));
  return *found;
}

// How many rows: the shape is [n] or [n, 1], and there are as many numbers.
std::size_t rows_of(const Json& input, const std::string& where) {
  const Json& shape = member(input, "shape", Json::value_t::array, where);
  const Json& data = member(input, "data", Json::value_t::array, where);
  const bool flat = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
  if (!flat || !shape[0].is_number_unsigned() || shape[0].get<std::size_t>() != data.size())
    throw Refusal(422, where + ": expected the shape [n] or [n, 1] and n values in data");
  return data.size();
}

enum class Kind : std::uint8_t { text, truth, number };

Kind kind_of(const std::string& type, const std::string& where) {
  if (type == "BYTES") return Kind::text;
  if (type == "BOOL") return Kind::truth;
  for (const char* number :
       {"FP64", "FP32", "FP16", "INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8"})
    if (type == number) return Kind::number;
  throw Refusal(422, where + ": expected a datatype such as FP64, INT64, BOOL or BYTES");
}

void require_kind(const Json& value, Kind kind, const std::string& where) {
  const bool fits = kind == Kind::text    ? value.is_string()
                    : kind == Kind::truth ? value.is_boolean()
                                          : value.is_number();
  if (!fits && !value.is_null())
    throw Refusal(422, fmt::format("{}: got {}, expected values of its datatype", where, value.type_name()));
}

// The rows of a request, as objects on lines.
std::string lines_of(const Json& request, std::size_t max_rows) {
  std::vector<std::string> rows;
  std::set<std::string> names;
  for (const Json& input : member(request, "inputs", Json::value_t::array, "the request")) {
    const auto name = member(input, "name", Json::value_t::string, "inputs").get<std::string>();
    const std::string where = "input " + name;
    const std::size_t count = rows_of(input, where);
    if (!names.insert(name).second) throw Refusal(422, where + ": got it twice");
    if (count > max_rows) throw Refusal(413, fmt::format("{}: got more than {} rows", where, max_rows));
    if (names.size() == 1) rows.resize(count);
    if (count != rows.size()) throw Refusal(422, where + ": expected as many values as the input before it has");
    const Kind kind = kind_of(member(input, "datatype", Json::value_t::string, where).get<std::string>(), where);
    const Json& data = input["data"];
    for (std::size_t i = 0; i < count; ++i) {
      require_kind(data[i], kind, where);
      rows[i] += rows[i].empty() ? '{' : ',';
      append_json(rows[i], name);
      rows[i] += ':' + data[i].dump(-1, ' ', false, Json::error_handler_t::replace);
    }
  }
  std::string lines;
  for (const std::string& row : rows) lines += row + "}\n";
  return lines;
}

Json output(const char* name, Json shape, const char* type, Json data) {
  return {{"name", name}, {"shape", std::move(shape)}, {"datatype", type}, {"data", std::move(data)}};
}

}  // namespace

std::string protocol_about(const ServedModel& model) {
  const auto state = model.state().read();
  const bool numbers = state->fit.options().task == FitTask::numbers;
  Json inputs = Json::array();
  for (const bool number : {true, false})
    for (const std::string& name : state->fit.columns(number))
      inputs.push_back({{"name", name}, {"datatype", number ? "FP64" : "BYTES"}, {"shape", {-1}}});
  Json outputs = Json::array({{{"name", "prediction"}, {"datatype", numbers ? "FP64" : "BYTES"}, {"shape", {-1}}}});
  if (!numbers) outputs.push_back({{"name", "probabilities"}, {"datatype", "FP64"}, {"shape", {-1, -1}}});
  return Json{{"name", model.name()}, {"platform", "obolus"}, {"inputs", inputs}, {"outputs", outputs}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

std::string protocol_error(std::string_view message) {
  std::string text = R"({"error":)";
  append_json(text, message);
  return text + "}\n";
}

std::string protocol_answer(ServedModel& model, std::string_view body) {
  const Json request = Json::parse(body, nullptr, false);
  if (request.is_discarded()) throw Refusal(400, "got no valid JSON");
  Json predictions = Json::array(), probabilities = Json::array();
  std::size_t classes = 0;
  bool numbers = false;
  model.predict(lines_of(request, model.max_rows()), [&](const Prediction& p, const Fit& fit) {
    numbers = fit.options().task == FitTask::numbers;
    if (numbers) predictions.push_back(p.informed ? Json(p.number) : Json(nullptr));
    else predictions.push_back(p.best >= 0 ? Json(fit.classes()[to_size(p.best)]) : Json(nullptr));
    classes = p.probabilities.size();
    for (const double q : p.probabilities) probabilities.push_back(q);
  });
  const std::size_t rows = predictions.size();
  Json answer{{"model_name", model.name()}};
  if (const auto id = request.find("id"); id != request.end() && id->is_string()) answer["id"] = *id;
  answer["outputs"] = {output("prediction", {rows}, numbers ? "FP64" : "BYTES", std::move(predictions))};
  if (!numbers) answer["outputs"].push_back(output("probabilities", {rows, classes}, "FP64", std::move(probabilities)));
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace obolus::serve
