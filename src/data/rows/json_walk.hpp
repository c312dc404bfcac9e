// Walks over one object of a row, by simdjson: what each value becomes. For json_row.cpp alone.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>
#include <vector>

#include "data/rows/csv_layout.hpp"
#include "data/rows/json_names.hpp"
#include "data/rows/json_text.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {

namespace json = simdjson::ondemand;

// What simdjson refuses; json_text.hpp then says where and why.
struct NotJson {};

template <class T, class Result>
T taken(Result&& result) {
  T value;
  if (std::forward<Result>(result).get(value) != simdjson::SUCCESS) throw NotJson{};
  return value;
}

// For messages.
[[nodiscard]] std::string got(json::value& value);

class JsonWalk {
 public:
  JsonWalk(JsonNames& names, const MissingValues& missing, bool cuts_label)
      : names_(names), missing_(missing), cuts_label_(cuts_label) {}

  // `text`: the whole, from which offsets count.
  void read(json::object object, std::string_view text, DataRow& row);
  [[nodiscard]] std::size_t offset(const char* at) const { return to_size(at - text_.data()); }
  // Where the row's id stands with its key, and its label if lines go without; in order.
  [[nodiscard]] const std::vector<JsonCut>& cuts() const { return cuts_; }

 private:
  void read_object(json::object object, std::uint32_t parent, std::size_t depth);
  [[nodiscard]] std::uint32_t name_of(json::field& field, std::uint32_t parent);
  void read_value(json::value& value, std::uint32_t name, std::size_t depth);
  void read_feature(json::value& value, json::json_type type, const JsonName& name);
  void read_array(json::value& value, const JsonName& name);
  void read_element(json::value& element, std::size_t position, const JsonName& name);
  void read_label(json::value& value, json::json_type type, const JsonName& name);
  void read_weight(json::value& value, json::json_type type, const JsonName& name);
  void read_id(json::value& value, json::json_type type, const JsonName& name);
  [[nodiscard]] std::string_view plain_text(json::value& value, const JsonName& name) const;
  void skip(json::value& value, std::size_t depth) const;
  void require_depth(json::value& value, std::size_t depth) const;
  [[nodiscard]] float number(json::value& value, json::json_type type, const JsonName& name) const;
  [[nodiscard]] float number_of_text(json::value& value, std::string_view written, const JsonName& name) const;
  void push(const JsonName& name, std::uint64_t key, float v) { row_->features.push_back({name.group, key, v}); }
  [[nodiscard]] std::size_t place_of(std::string_view part) const { return to_size(part.data() - text_.data()); }
  [[nodiscard]] std::size_t offset(json::value& value) const { return place_of(value.raw_json_token()); }
  [[noreturn]] void refuse(json::value& value, const JsonName& name, std::string_view expected) const;

  JsonNames& names_;
  const MissingValues& missing_;
  std::string_view text_;
  DataRow* row_ = nullptr;
  bool cuts_label_;
  std::vector<JsonCut> cuts_;
};

}  // namespace obolus
