// JSON lines: an object per line.
#include <fmt/format.h>

#include "data/rows/column_rows.hpp"
#include "data/rows/json_row.hpp"

namespace obolus {
namespace {

static_assert(LineSource::padding >= JsonRowParser::padding);

JsonRowOptions json_options(const RowOptions& options) {
  return {.label = options.labelled || !options.label.empty() ? options.label : options.usually_label,
          .weight = options.weight,
          .id = options.id,
          .labelled = options.labelled,
          .ignore = options.ignore,
          .numeric = options.numeric,
          .categorical = options.categorical,
          .missing = options.missing};
}

std::string of_line(std::string text) {
  constexpr std::string_view end = "the end of the text";
  if (text.starts_with(end)) text.replace(0, end.size(), "the end of the line");
  return text;
}

class JsonLines : public LineRows {
 public:
  JsonLines(std::unique_ptr<LineSource> source, const RowOptions& options)
      : LineRows(std::move(source), options),
        given_(json_options(options)),
        usually_numeric_(options.usually_numeric),
        usually_categorical_(options.usually_categorical),
        parser_(parser(given_, {})) {}

  [[nodiscard]] const std::vector<std::string>& groups() const override { return parser_.groups(); }
  [[nodiscard]] std::string label() const override { return parser_.label(); }
  [[nodiscard]] std::string describe() const override {
    std::string text = "JSON lines, " + (label().empty() ? "no label" : "label " + label());
    if (!given_.weight.empty()) text += ", weight " + given_.weight;
    if (!given_.id.empty()) text += ", id " + given_.id;
    return text;
  }

 private:
  [[nodiscard]] bool read(DataRow& row) override {
    std::string_view line;
    do {
      if (!next_line(line)) return false;
    } while (trimmed(line).empty());
    try {
      parser_.parse(line, row);
    } catch (const JsonFault& fault) {
      refuse(fault.offset + 1, of_line(fault.got), of_line(fault.expected));
    }
    return true;
  }
  [[nodiscard]] bool can_follow(const LineRows& before) const override {
    return LineRows::can_follow(before) || dynamic_cast<const ColumnRows*>(&before);
  }
  void take_over(LineRows& before) override {
    if (auto* lines = dynamic_cast<JsonLines*>(&before)) {
      given_ = std::move(lines->given_);
      parser_ = std::move(lines->parser_);
    } else if (const auto& columns = static_cast<ColumnRows&>(before); !columns.columns().empty()) {
      parser_ = parser_like(columns);
    }
  }
  [[nodiscard]] JsonRowParser parser_like(const ColumnRows& before);
  [[nodiscard]] JsonRowParser parser(const JsonRowOptions& options, const std::vector<JsonGroup>& known) const;

  JsonRowOptions given_;
  std::vector<std::string> usually_numeric_, usually_categorical_;
  JsonRowParser parser_;
};

// Keys that are no columns of that file are read as if it were not there.
JsonRowParser JsonLines::parser_like(const ColumnRows& before) {
  const std::vector<Column>& columns = before.columns();
  std::size_t unnamed = 0;
  while (unnamed < columns.size() && columns[unnamed].name == std::to_string(unnamed + 1)) ++unnamed;
  if (unnamed == columns.size())
    throw DataError(
        fmt::format("{}: got JSON lines behind {}, expected that file to have a header: keys and columns "
                    "are matched by name",
                    file(), before.file()));
  JsonRowOptions options{.labelled = false, .missing = given_.missing};
  std::vector<JsonGroup> groups;
  const auto add = [&](const Column& column, JsonKind kind) {  // its group may be numbered by an earlier file
    if (groups.size() <= column.group) groups.resize(column.group + 1);
    groups[column.group] = {column.name, kind};
  };
  for (const Column& column : columns) switch (column.role) {
      case ColumnRole::label: options.label = column.name; break;
      case ColumnRole::weight: options.weight = column.name; break;
      case ColumnRole::id: options.id = column.name; break;
      case ColumnRole::ignored: options.ignore.push_back(column.name); break;
      case ColumnRole::numeric: add(column, JsonKind::numeric); break;
      case ColumnRole::categorical: add(column, JsonKind::categorical); break;
    }
  given_ = options;
  return parser(options, groups);
}

JsonRowParser JsonLines::parser(const JsonRowOptions& options, const std::vector<JsonGroup>& known) const try {
  JsonRowParser made(options, known);
  for (const std::string& name : usually_numeric_) made.set_usual_kind(name, JsonKind::usually_numeric);
  for (const std::string& name : usually_categorical_) made.set_usual_kind(name, JsonKind::usually_categorical);
  return made;
} catch (const ConfigError& e) {
  throw ConfigError(file() + ": " + e.what());
}

}  // namespace

RowFormat json_lines_format() {
  return {.name = "jsonl",
          .title = "JSON lines",
          .summary = "an object per line: numbers, texts, booleans, arrays of these, objects within objects",
          .endings = {".jsonl", ".ndjson"},
          .options = {"label", "weight", "id", "ignore", "numeric", "categorical", "missing"},
          .recognises =
              [](std::string_view line) {
                const std::string_view text = trimmed(line);
                return text.starts_with('{') || text.starts_with("[{");  // an array, to be refused as such
              },
          .open = open_as<JsonLines>};
}

}  // namespace obolus
