#include "serve/row_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "obolus/core/error.hpp"
#include "serve/json_text.hpp"
#include "serve/refusal.hpp"

namespace obolus::serve {
namespace {

using Json = nlohmann::json;  // objects of strangers: a map, not a list that is searched

constexpr std::size_t max_text = 1024;  // bytes of a label or an id

JsonRowOptions unlabelled(JsonRowOptions options) {
  options.labelled = false;
  return options;
}

std::string place_of(const JsonFault& fault, BodyForm form) {
  const std::size_t column = fault.offset - std::min(fault.offset, fault.row_begin) + 1;
  return form == BodyForm::lines ? fmt::format("row {}, column {}", fault.row + 1, column)
                                 : fmt::format("row {}, byte {}", fault.row + 1, fault.offset + 1);
}

// Whether what cannot be read is JSON at all.
int status_of(const JsonFault& fault, std::string_view text, BodyForm form) {
  if (form == BodyForm::lines) text = text.substr(fault.row_begin, text.find('\n', fault.row_begin) - fault.row_begin);
  return Json::accept(text) ? 422 : 400;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Feedback feedback_of(const Json& json, const std::string& label, std::size_t row) {
  const auto refuse = [&](const char* expected) {
    throw Refusal(422, fmt::format(R"(row {}: expected {{"id": …, "label": …}}, {})", row + 1, expected));
  };
  if (!json.is_object()) refuse("an object");
  const auto id = json.find("id");
  auto value = json.find("label");
  if (value == json.end()) value = json.find(label);
  if (id == json.end() || !(id->is_string() || id->is_number())) refuse("the id a text or a number");
  if (value == json.end() || value->is_null() || value->is_structured()) refuse("the label a text, number or boolean");
  return {text_of(*id), value->dump(-1, ' ', false, Json::error_handler_t::replace)};
}

}  // namespace

RowKeys keys_of(const Fit& model, KeysFrom from, const RowOptions& rows, const std::string& id) {
  if (model.label_name().empty() && model.groups() == std::vector<std::string>{""})
    throw ConfigError(
        "got a model of svmlight rows, expected one of rows whose features have names: a table, JSON "
        "lines or Vowpal Wabbit's namespaces");
  RowKeys keys;
  keys.options.label = model.label_name().empty() ? "label" : model.label_name();
  keys.options.weight = rows.weight;
  keys.options.id = id;
  keys.options.missing = rows.missing;
  keys.options.ignore = rows.ignore;
  if (from == KeysFrom::run && !model.has_kinds()) {
    keys.options.numeric = rows.numeric;
    keys.options.categorical = rows.categorical;
    return keys;
  }
  // A model alone knows less than a run: that a number was seen, not that there may be no text.
  const bool strict = from == KeysFrom::run;
  for (const std::string& name : model.columns(true))
    keys.known.push_back({name, strict ? JsonKind::numeric : JsonKind::usually_numeric});
  for (const std::string& name : model.columns(false))
    keys.known.push_back({name, strict ? JsonKind::categorical : JsonKind::usually_categorical});
  return keys;
}

RowRequests::RowRequests(const RowKeys& keys)
    : known_(keys.known.size()),
      learning_(keys.options, keys.known),
      predicting_(unlabelled(keys.options), keys.known) {}

RowBatch RowRequests::read(std::string_view body, BodyForm form, RowUse use, std::size_t max_rows) {
  JsonRowParser& parser = use == RowUse::learn ? learning_ : predicting_;
  RowBatch batch;
  text_.assign(body);
  text_.append(JsonRowParser::padding, ' ');
  const std::string_view text(text_.data(), body.size());
  const auto take = [&](std::size_t i) {
    if (i == max_rows) throw Refusal(413, fmt::format("got more than {} rows, expected at most that many", max_rows));
    if (use == RowUse::learn && row_.label.empty())
      throw Refusal(422, fmt::format("row {}: got no label, expected one under {}", i + 1, parser.label()));
    if (row_.label.size() > max_text || row_.tag.size() > max_text)
      throw Refusal(422, fmt::format("row {}: got a label or id of more than {} bytes", i + 1, max_text));
    const std::size_t begin = batch.lines.size();
    batch.lines += line_;
    batch.lines += '\n';
    batch.rows.push_back({row_, parser.groups().size(), begin, batch.lines.size()});
  };
  try {
    if (form == BodyForm::json) (void)parser.parse_json(text, row_, take, &line_);
    else (void)parser.parse_lines(text, row_, take, &line_);
  } catch (const JsonFault& fault) {
    throw Refusal(status_of(fault, text, form),
                  fmt::format("{}: got {}, expected {}", place_of(fault, form), fault.got, fault.expected));
  } catch (...) {
    parser.forget_groups_after(known_);
    throw;
  }
  batch.groups = parser.groups();
  parser.forget_groups_after(known_);
  return batch;
}

std::vector<Feedback> read_feedback(std::string_view body, BodyForm form, const std::string& label,
                                    std::size_t max_rows) {
  std::vector<Feedback> found;
  const auto add = [&](const Json& json) {
    if (found.size() == max_rows) throw Refusal(413, fmt::format("got more than {} rows", max_rows));
    found.push_back(feedback_of(json, label, found.size()));
  };
  try {
    if (form == BodyForm::json) {
      const Json json = Json::parse(body);
      if (json.is_array()) std::ranges::for_each(json, add);
      else add(json);
      return found;
    }
    for (std::size_t begin = 0; begin < body.size();) {
      const std::size_t end = std::min(body.find('\n', begin), body.size());
      const std::string_view line = body.substr(begin, end - begin);
      if (line.find_first_not_of(" \t\r") != line.npos) add(Json::parse(line));
      begin = end + 1;
    }
  } catch (const Json::exception&) {
    throw Refusal(400, fmt::format("row {}: got no valid JSON", found.size() + 1));
  }
  return found;
}

std::string with_label(const std::string& line, const std::string& label, const std::string& value) {
  std::string with = line.substr(0, line.rfind('}'));
  with += with.ends_with('{') ? "" : ",";
  append_json(with, label);
  return with + ":" + value + "}\n";
}

}  // namespace obolus::serve
