// Rows as JSON objects, one at a time: numbers, texts, booleans, nested objects (names joined by dots) and arrays of
// these become features of the key's group. docs/rows.md says how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "obolus/data/rows.hpp"

namespace obolus {

// Thrown. Offsets count bytes of the text from 0.
struct JsonFault {
  std::size_t offset = 0;
  std::string got, expected;
  // Of several rows: which one, from 0, and the offset where it begins (its line, if each has one).
  std::size_t row = 0, row_begin = 0;
};

struct JsonRowOptions {
  std::string label{}, weight{}, id{};  // names; none if empty
  bool labelled = true;                 // the label is called `label` unless named otherwise
  std::vector<std::string> ignore{}, numeric{}, categorical{}, missing{"", "NA", "NaN", "?", "null"};
};

enum class JsonKind : std::uint8_t {
  by_value,             // numbers and booleans are numbers, texts are categories
  numeric,              // texts are read as numbers
  categorical,          // numbers and booleans are categories by their text as written; null is nothing
  usually_numeric,      // by value, but texts that are numbers are read as such
  usually_categorical,  // as categorical, but null is a missing value, as it is by value
};

struct JsonGroup {
  std::string name;
  JsonKind kind = JsonKind::by_value;
};

class JsonRowParser {
 public:
  static constexpr std::size_t padding = 64;  // readable bytes, of whatever content, that must follow a text
  static constexpr std::size_t max_depth = 64, max_names = 65'536, max_name = 1'024;

  // `known`: groups that exist already, in this order. Throws ConfigError if a name has two uses.
  explicit JsonRowParser(const JsonRowOptions& options, const std::vector<JsonGroup>& known = {});
  JsonRowParser(JsonRowParser&&) noexcept;
  JsonRowParser& operator=(JsonRowParser&&) noexcept;
  ~JsonRowParser();

  // Of a name that is a feature, unless the options set another; it need not appear.
  void set_usual_kind(const std::string& name, JsonKind kind);

  // One object. `line`, if not null, gets it on one line without its id, and if rows are not labelled without the label
  // that it may have all the same: what a journal keeps. Throws JsonFault, which
  // leaves no new group, and `row` and `line` unspecified.
  void parse(std::string_view object, DataRow& row, std::string* line = nullptr);

  using Take = std::function<void(std::size_t row)>;  // `row` and `line` then hold this one, counted from 0
  // One object or an array of objects. Returns their number. A fault leaves no new groups, also not those of the rows
  // that were taken before it.
  std::size_t parse_json(std::string_view text, DataRow& row, const Take& take, std::string* line = nullptr);
  // The same for an object per line; blank lines are skipped.
  std::size_t parse_lines(std::string_view text, DataRow& row, const Take& take, std::string* line = nullptr);

  [[nodiscard]] const std::vector<std::string>& groups() const;  // so far: new names are appended
  // For rows that were only predicted.
  void forget_groups_after(std::size_t count);
  [[nodiscard]] const std::string& label() const;  // its name, or empty

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace obolus
