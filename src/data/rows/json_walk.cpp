#include "data/rows/json_walk.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "data/rows/json_text.hpp"
#include "data/rows/line_source.hpp"
#include "data/rows/number_text.hpp"
#include "data/rows/words.hpp"

namespace obolus {
namespace {

std::string_view token_of(json::value& value) { return json_trimmed(value.raw_json_token()); }

void require_null(json::value& value) {
  if (!taken<bool>(value.is_null())) throw NotJson{};
}

// A number's or a boolean's, as written.
std::string_view scalar_text(json::value& value, json::json_type type) {
  const std::string_view token = token_of(value);
  if (type == json::json_type::boolean) (void)taken<bool>(value.get_bool());
  else if (!is_json_number(token)) throw NotJson{};
  return token;
}

bool is_categorical(const JsonName& name) {
  return name.kind == JsonKind::categorical || name.kind == JsonKind::usually_categorical;
}

}  // namespace

std::string got(json::value& value) {
  const std::string_view token = token_of(value);
  switch (taken<json::json_type>(value.type())) {
    case json::json_type::object: return "an object";
    case json::json_type::array: return "an array";
    case json::json_type::string: return shown(token.substr(1, token.size() - 2));
    default: return std::string(token.substr(0, 40));
  }
}

void JsonWalk::read(json::object object, std::string_view text, DataRow& row) {
  text_ = text;
  row_ = &row;
  row.label.clear();
  row.tag.clear();
  row.weight = 1;
  row.features.clear();
  cuts_.clear();
  names_.begin_row();
  read_object(object, JsonName::none, 1);
}

void JsonWalk::refuse(json::value& value, const JsonName& name, std::string_view expected) const {
  const std::size_t at = offset(value);
  throw JsonFault{at, fmt::format("{} in {}", got(value), shown(name.text)), std::string(expected)};
}

void JsonWalk::read_object(json::object object, std::uint32_t parent, std::size_t depth) {
  for (auto next : object) {
    auto field = taken<json::field>(std::move(next));
    const char* quote = field.key().raw() - 1;
    const std::uint32_t name = name_of(field, parent);
    if (!names_.first_in_row(name))
      throw JsonFault{offset(quote), "the name " + shown(names_[name].text) + " again", "each name once in a row"};
    const JsonRole role = names_[name].role;
    if (role == JsonRole::id || (role == JsonRole::label && cuts_label_)) {
      const std::string_view token = token_of(field.value());
      cuts_.push_back({offset(quote), place_of(token) + token.size()});
    }
    if (role == JsonRole::ignored) {
      skip(field.value(), depth + 1);
    } else if (role == JsonRole::id) {
      read_id(field.value(), taken<json::json_type>(field.value().type()), names_[name]);
    } else {
      read_value(field.value(), name, depth);
    }
  }
}

std::uint32_t JsonWalk::name_of(json::field& field, std::uint32_t parent) {
  const char* raw = field.key().raw();
  const std::uint32_t guess = names_.guess(parent, text_.substr(offset(raw)));
  if (guess != JsonName::none) return guess;
  const auto part = taken<std::string_view>(field.unescaped_key());
  if (part.find('\0') != std::string_view::npos) throw JsonFault{offset(raw) - 1, "a NUL character in a name", "text"};
  const std::uint32_t name = names_.find(parent, part);
  if (name == JsonName::none)
    throw JsonFault{
        offset(raw) - 1, "one more name, " + shown(part),
        fmt::format("at most {} names of at most {} bytes", JsonRowParser::max_names, JsonRowParser::max_name)};
  return name;
}

void JsonWalk::read_value(json::value& value, std::uint32_t name, std::size_t depth) {
  const auto type = taken<json::json_type>(value.type());
  switch (names_[name].role) {
    case JsonRole::label: return read_label(value, type, names_[name]);
    case JsonRole::weight: return read_weight(value, type, names_[name]);
    default: break;
  }
  if (type == json::json_type::object || type == json::json_type::array) require_depth(value, depth + 1);
  if (type == json::json_type::object) {
    return read_object(taken<json::object>(value.get_object()), name, depth + 1);
  }
  (void)names_.group_of(name);
  if (type == json::json_type::array) read_array(value, names_[name]);
  else read_feature(value, type, names_[name]);
}

void JsonWalk::read_feature(json::value& value, json::json_type type, const JsonName& name) {
  std::string_view written;
  if (type == json::json_type::null) {
    require_null(value);
  } else if (type == json::json_type::string) {
    written = taken<std::string_view>(value.get_string());
  } else if (!is_categorical(name)) {
    return push(name, name.group, number(value, type, name));
  } else {
    written = scalar_text(value, type);
  }
  if (type == json::json_type::null || missing_.has(written)) {
    if (name.kind != JsonKind::categorical) push(name, row_hash("missing", name.seed), 1);
  } else if (name.kind == JsonKind::numeric ||
             (name.kind == JsonKind::usually_numeric && float_of(trimmed(written)).fault == NumberFault::none)) {
    push(name, name.group, number_of_text(value, written, name));
  } else {
    push(name, row_hash(written, name.seed), 1);
  }
}

void JsonWalk::read_array(json::value& value, const JsonName& name) {
  std::size_t position = 0;
  for (auto&& next : taken<json::array>(value.get_array())) {
    auto element = taken<json::value>(std::forward<decltype(next)>(next));
    read_element(element, position++, name);
  }
}

// Words by what they are, numbers by their position.
void JsonWalk::read_element(json::value& element, std::size_t position, const JsonName& name) {
  std::array<char, 20> digits{};
  const auto key = [&] {
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), position).ptr;
    return row_hash({digits.data(), to_size(end - digits.data())}, name.seed);
  };
  const auto type = taken<json::json_type>(element.type());
  if (type == json::json_type::object || type == json::json_type::array)
    refuse(element, name, "texts, numbers, booleans or null within an array");
  if (type == json::json_type::null) {
    require_null(element);
  } else if (type == json::json_type::string) {
    const auto word = taken<std::string_view>(element.get_string());
    if (name.kind != JsonKind::numeric) push(name, row_hash(word, name.seed), 1);
    else if (!missing_.has(word)) push(name, key(), number_of_text(element, word, name));
  } else if (is_categorical(name)) {
    push(name, row_hash(scalar_text(element, type), name.seed), 1);
  } else {
    push(name, key(), number(element, type, name));
  }
}

float JsonWalk::number(json::value& value, json::json_type type, const JsonName& name) const {
  if (type == json::json_type::boolean) return taken<bool>(value.get_bool()) ? 1 : 0;
  double read = 0;
  const bool in_range = value.get_double().get(read) == simdjson::SUCCESS;
  if (!in_range && !is_json_number(token_of(value))) throw NotJson{};
  const auto single = static_cast<float>(read);
  if (!in_range || std::isinf(single)) refuse(value, name, expectation(NumberFault::too_large));
  return single;
}

float JsonWalk::number_of_text(json::value& value, std::string_view written, const JsonName& name) const {
  const NumberText number = float_of(trimmed(written));
  if (number.fault != NumberFault::none) refuse(value, name, expectation(number.fault));
  return static_cast<float>(number.value);
}

// As predictions are printed: in columns between tabs, a line each.
std::string_view JsonWalk::plain_text(json::value& value, const JsonName& name) const {
  const auto text = taken<std::string_view>(value.get_string());
  if (text.find_first_of(std::string_view("\t\n\r\0", 4)) != std::string_view::npos)
    refuse(value, name, "a text without tabs and line breaks");
  return text;
}

void JsonWalk::read_label(json::value& value, json::json_type type, const JsonName& name) {
  switch (type) {
    case json::json_type::null: return require_null(value);
    case json::json_type::object:
    case json::json_type::array: refuse(value, name, "a label: a text, a number, true, false or null");
    case json::json_type::string:
      if (const std::string_view written = plain_text(value, name); !missing_.has(written)) row_->label = written;
      return;
    default: row_->label = scalar_text(value, type);
  }
}

void JsonWalk::read_weight(json::value& value, json::json_type type, const JsonName& name) {
  constexpr std::string_view expected = "a weight, 0 or more";
  if (type != json::json_type::number) {
    if (type == json::json_type::null) require_null(value);
    if (type == json::json_type::boolean) (void)taken<bool>(value.get_bool());
    refuse(value, name, expected);
  }
  const NumberText weight = float_of(scalar_text(value, type));
  if (weight.fault != NumberFault::none || weight.value < 0) refuse(value, name, expected);
  row_->weight = weight.value;
}

void JsonWalk::read_id(json::value& value, json::json_type type, const JsonName& name) {
  switch (type) {
    case json::json_type::null: return require_null(value);
    case json::json_type::number: row_->tag = scalar_text(value, type); return;
    case json::json_type::string: row_->tag = plain_text(value, name); return;
    case json::json_type::boolean: (void)taken<bool>(value.get_bool()); [[fallthrough]];
    default: refuse(value, name, "a row's name: a text or a number");
  }
}

// Reads what is ignored: it must be JSON all the same.
void JsonWalk::skip(json::value& value, std::size_t depth) const {
  const auto type = taken<json::json_type>(value.type());
  if (type == json::json_type::object) {
    require_depth(value, depth);
    for (auto next : taken<json::object>(value.get_object())) {
      auto field = taken<json::field>(std::move(next));
      (void)taken<std::string_view>(field.unescaped_key());
      skip(field.value(), depth + 1);
    }
  } else if (type == json::json_type::array) {
    require_depth(value, depth);
    for (auto&& next : taken<json::array>(value.get_array())) {
      auto element = taken<json::value>(std::forward<decltype(next)>(next));
      skip(element, depth + 1);
    }
  } else if (type == json::json_type::string) {
    (void)taken<std::string_view>(value.get_string());
  } else if (type == json::json_type::null) {
    require_null(value);
  } else {
    (void)scalar_text(value, type);
  }
}

void JsonWalk::require_depth(json::value& value, std::size_t depth) const {
  if (depth > JsonRowParser::max_depth)
    throw JsonFault{offset(value), fmt::format("{} brackets within each other", depth),
                    fmt::format("at most {}", JsonRowParser::max_depth)};
}

}  // namespace obolus
