#include "data/rows/json_row.hpp"

#include <algorithm>

#include "data/rows/json_text.hpp"
#include "data/rows/json_walk.hpp"
#include "data/rows/line_source.hpp"

namespace obolus {

namespace {

void require_end(json::document& document) {
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) throw NotJson{};
}

}  // namespace

static_assert(JsonRowParser::padding >= simdjson::SIMDJSON_PADDING);

struct JsonRowParser::Parts {
  Parts(const JsonRowOptions& options, const std::vector<JsonGroup>& known);

  template <class Read>
  void guarded(Read read);
  void read_root(std::string_view object, DataRow& into, std::string* line);
  std::size_t read_rows(DataRow& into, const Take& take, std::string* line);  // of an array
  [[nodiscard]] json::document opened();
  void write(std::size_t begin, std::string& line) const;

  json::parser parser;
  JsonNames names;
  MissingValues missing;
  JsonWalk walk;
  std::string label;
  std::string_view text;  // the whole, from which offsets count
};

JsonRowParser::Parts::Parts(const JsonRowOptions& o, const std::vector<JsonGroup>& known)
    : missing(o.missing), walk(names, missing, !o.labelled), label(o.label.empty() && o.labelled ? "label" : o.label) {
  if (!label.empty()) names.set_role(label, JsonRole::label);
  if (!o.weight.empty()) names.set_role(o.weight, JsonRole::weight);
  if (!o.id.empty()) names.set_role(o.id, JsonRole::id);
  for (const std::string& name : o.ignore) names.set_role(name, JsonRole::ignored);
  for (const std::string& name : o.numeric) names.set_kind(name, JsonKind::numeric);
  for (const std::string& name : o.categorical) names.set_kind(name, JsonKind::categorical);
  for (const JsonGroup& group : known) names.add_group(group);
}

// A fault leaves no new names, and one of syntax gets its place.
template <class Read>
void JsonRowParser::Parts::guarded(Read read) {
  const JsonNames::Mark mark = names.mark();
  try {
    read();
  } catch (const NotJson&) {
    names.restore(mark);
    JsonFault fault;
    if (!find_json_fault(text, fault)) fault = {0, "JSON that could not be read", "an object"};
    throw fault;
  } catch (...) {
    names.restore(mark);
    throw;
  }
}

void JsonRowParser::Parts::read_root(std::string_view object, DataRow& into, std::string* line) {
  text = object;
  const std::size_t first = to_size(std::find_if_not(text.begin(), text.end(), is_json_blank) - text.begin());
  if (first == text.size()) throw JsonFault{first, "the end of the text", "an object"};
  if (text[first] == '[') throw JsonFault{first, "an array", "an object"};
  if (text[first] != '{') throw JsonFault{first, shown(json_trimmed(text)), "an object"};
  auto document = opened();
  walk.read(taken<json::object>(document.get_object()), text, into);
  require_end(document);
  if (line) write(first, *line);
}

json::document JsonRowParser::Parts::opened() {
  return taken<json::document>(
      parser.iterate(simdjson::padded_string_view(text.data(), text.size(), text.size() + padding)));
}

void JsonRowParser::Parts::write(std::size_t begin, std::string& line) const {
  line.clear();
  append_on_one_line(text, begin, walk.cuts(), line);
}

std::size_t JsonRowParser::Parts::read_rows(DataRow& into, const Take& take, std::string* line) {
  auto document = opened();
  std::size_t count = 0;
  for (auto&& next : taken<json::array>(document.get_array())) {
    auto value = taken<json::value>(std::forward<decltype(next)>(next));
    const std::size_t begin = to_size(value.raw_json_token().data() - text.data());
    if (taken<json::json_type>(value.type()) != json::json_type::object)
      throw JsonFault{begin, got(value), "an object"};
    walk.read(taken<json::object>(value.get_object()), text, into);
    if (line) write(begin, *line);
    take(count++);
  }
  require_end(document);
  return count;
}

JsonRowParser::JsonRowParser(const JsonRowOptions& options, const std::vector<JsonGroup>& known)
    : parts_(std::make_unique<Parts>(options, known)) {}
JsonRowParser::JsonRowParser(JsonRowParser&&) noexcept = default;
JsonRowParser& JsonRowParser::operator=(JsonRowParser&&) noexcept = default;
JsonRowParser::~JsonRowParser() = default;

void JsonRowParser::set_usual_kind(const std::string& name, JsonKind kind) { parts_->names.set_usual_kind(name, kind); }
const std::vector<std::string>& JsonRowParser::groups() const { return parts_->names.groups(); }
void JsonRowParser::forget_groups_after(std::size_t count) { parts_->names.forget_groups_after(count); }
const std::string& JsonRowParser::label() const { return parts_->label; }

void JsonRowParser::parse(std::string_view object, DataRow& row, std::string* line) {
  parts_->guarded([&] { parts_->read_root(object, row, line); });
}

std::size_t JsonRowParser::parse_json(std::string_view text, DataRow& row, const Take& take, std::string* line) {
  const auto first = std::find_if_not(text.begin(), text.end(), is_json_blank);
  std::size_t count = 0;
  if (first == text.end() || *first != '[') {
    parts_->guarded([&] {
      parts_->read_root(text, row, line);
      take(count++);
    });
    return count;
  }
  parts_->text = text;
  try {
    parts_->guarded([&] { count = parts_->read_rows(row, take, line); });
  } catch (JsonFault& fault) {
    place_in_array(text, fault);
    throw;
  }
  return count;
}

std::size_t JsonRowParser::parse_lines(std::string_view text, DataRow& row, const Take& take, std::string* line) {
  const JsonNames::Mark mark = parts_->names.mark();
  std::size_t count = 0, begin = 0;
  try {
    for (std::size_t end = 0; begin < text.size(); begin = end + 1) {
      end = std::min(text.find('\n', begin), text.size());
      const std::string_view object = text.substr(begin, end - begin);
      if (json_trimmed(object).empty()) continue;
      parse(object, row, line);
      take(count++);
    }
  } catch (JsonFault& fault) {
    parts_->names.restore(mark);
    fault.offset += begin;
    fault.row = count;
    fault.row_begin = begin;
    throw;
  } catch (...) {
    parts_->names.restore(mark);
    throw;
  }
  return count;
}

}  // namespace obolus
