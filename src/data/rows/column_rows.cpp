#include "data/rows/column_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "data/rows/number_text.hpp"
#include "data/rows/row_hash.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr std::size_t names_shown = 8;

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), names_shown); ++i) list += (i > 0 ? ", " : "") + names[i];
  return names.size() > names_shown ? list + ", …" : list;
}

std::vector<std::string> names_of(const std::vector<Column>& columns) {
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  return names;
}

Column& column_called(std::vector<Column>& columns, const std::string& wanted, const std::string& file) {
  const auto named = [&](const Column& column) { return column.name == wanted; };
  const auto found = std::find_if(columns.begin(), columns.end(), named);
  if (found != columns.end()) {
    if (std::find_if(found + 1, columns.end(), named) != columns.end())
      throw ConfigError(
          fmt::format("{}: got two columns called {}, expected one: give its position", file, shown(wanted)));
    return *found;
  }
  const auto count = static_cast<std::int64_t>(columns.size());
  std::int64_t position = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), position);
  if (error == std::errc{} && end == wanted.data() + wanted.size() && position != 0 && position >= -count &&
      position <= count)
    return columns[to_size(position > 0 ? position - 1 : position + count)];
  throw ConfigError(
      fmt::format("{}: got column {}, expected one of the {} columns ({}) or its position, 1 to {} or -1 "
                  "to -{}",
                  file, shown(wanted), count, listed(names_of(columns)), count, count));
}

bool is_feature(ColumnRole role) { return role == ColumnRole::numeric || role == ColumnRole::categorical; }

void assign(Column& column, ColumnRole role, const std::string& file) {
  if (!is_feature(column.role) && column.role != role)
    throw ConfigError(fmt::format("{}: got two uses of column {}, expected one of label, weight, id, ignored, feature",
                                  file, shown(column.name)));
  column.role = role;
}

std::string_view kind_of(ColumnRole feature) { return feature == ColumnRole::numeric ? "numeric" : "categorical"; }

// For every column its place among `before`, the columns of another file.
std::vector<std::size_t> same_columns(const std::vector<Column>& columns, const std::string& file,
                                      const std::vector<Column>& before, const std::string& file_before) {
  const auto names = names_of(columns), expected = names_of(before);
  std::vector<std::size_t> same;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i < expected.size() && names[i] == expected[i]) {
      same.push_back(i);
      continue;
    }
    const auto twice = std::count(names.begin(), names.end(), names[i]) > 1;  // then they cannot be matched
    const auto found = twice ? expected.end() : std::find(expected.begin(), expected.end(), names[i]);
    if (found == expected.end()) break;
    same.push_back(to_size(found - expected.begin()));
  }
  if (same.size() == names.size() && names.size() == expected.size()) return same;
  throw DataError(fmt::format("{}: got the columns {}, expected those of {}: {}", file, listed(names), file_before,
                              listed(expected)));
}

// What the options say of a column comes first.
void leave_out_label(std::vector<Column>& columns, const RowOptions& options) {
  const std::string& name = options.usually_label;
  if (name.empty() || options.labelled || !options.label.empty()) return;
  for (const auto* given : {&options.numeric, &options.categorical})
    if (std::find(given->begin(), given->end(), name) != given->end()) return;
  for (Column& column : columns)
    if (column.name == name && is_feature(column.role)) column.role = ColumnRole::ignored;
}

}  // namespace

void assign_roles(std::vector<Column>& columns, const RowOptions& options, const std::string& file) {
  if (columns.empty()) return;
  const auto among = [](const std::vector<std::string>& names, const Column& column) {
    return column.values.empty() && std::find(names.begin(), names.end(), column.name) != names.end();
  };
  for (Column& column : columns)
    if (among(options.usually_numeric, column)) column.role = ColumnRole::numeric;
    else if (among(options.usually_categorical, column)) column.role = ColumnRole::categorical;
  const auto called = [&](const std::string& wanted) -> Column& { return column_called(columns, wanted, file); };
  if (!options.label.empty()) assign(called(options.label), ColumnRole::label, file);
  else if (options.labelled) assign(columns.back(), ColumnRole::label, file);
  if (!options.weight.empty()) assign(called(options.weight), ColumnRole::weight, file);
  if (!options.id.empty()) assign(called(options.id), ColumnRole::id, file);
  for (const std::string& name : options.ignore) assign(called(name), ColumnRole::ignored, file);
  for (const std::string& name : options.numeric) {
    if (!called(name).values.empty())
      throw ConfigError(fmt::format("{}: got numeric for column {}, expected categorical: its values are declared",
                                    file, shown(name)));
    assign(called(name), ColumnRole::numeric, file);
  }
  for (const std::string& name : options.categorical) assign(called(name), ColumnRole::categorical, file);
  leave_out_label(columns, options);
  std::uint32_t group = 0;
  for (Column& column : columns) {
    column.seed = group_seed(column.name);
    column.group = is_feature(column.role) ? group++ : 0;
  }
}

std::string describe_columns(const std::vector<Column>& columns) {
  const auto names = [&](ColumnRole role) {
    std::vector<std::string> found;
    for (const Column& column : columns)
      if (column.role == role) found.push_back(column.name);
    return found;
  };
  const auto label = names(ColumnRole::label), weight = names(ColumnRole::weight);
  const auto id = names(ColumnRole::id);
  std::string text = label.empty() ? "no label" : "label " + label.front();
  if (!weight.empty()) text += ", weight " + weight.front();
  if (!id.empty()) text += ", id " + id.front();
  const auto add = [&](ColumnRole role, std::string_view what) {
    const auto found = names(role);
    if (!found.empty()) text += fmt::format(", {} {} ({})", found.size(), what, listed(found));
  };
  add(ColumnRole::numeric, "numeric");
  add(ColumnRole::categorical, "categorical");
  add(ColumnRole::ignored, "ignored");
  return text;
}

std::string ColumnRows::label() const {
  for (const Column& column : columns_)
    if (column.role == ColumnRole::label) return column.name;
  return {};
}

void ColumnRows::set_columns(std::vector<Column> columns) {
  columns_ = std::move(columns);
  for (const Column& column : columns_)
    if (is_feature(column.role)) groups_.push_back(column.name);
}

void ColumnRows::take_over(LineRows& before) {
  auto& first = static_cast<ColumnRows&>(before);
  if (first.columns_.empty()) return;
  if (columns_.empty()) columns_ = first.columns_;  // a file of no rows
  const std::vector<std::size_t> same = same_columns(columns_, file(), first.columns_, first.file());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& known = first.columns_[same[i]];
    const bool features = is_feature(columns_[i].role) && is_feature(known.role);
    if (declares_kinds() && features && columns_[i].role != known.role)
      throw DataError(fmt::format("{}: got the {} attribute {}, expected a {} one as in {}", file(),
                                  kind_of(columns_[i].role), shown(known.name), kind_of(known.role), first.file()));
    if (!features || first.decided()) columns_[i].role = known.role;
    columns_[i].group = known.group;
  }
  decided_before_ = first.decided();
  groups_ = std::move(first.groups_);
}

void ColumnRows::take(const Column& column, const Cell& cell, DataRow& row) {
  if (!column.values.empty() && !cell.missing &&
      !std::binary_search(column.values.begin(), column.values.end(), cell.text))
    refuse_cell(column, cell, "one of its declared values: " + listed(column.values));
  switch (column.role) {
    case ColumnRole::ignored: return;
    case ColumnRole::label: row.label = cell.missing ? std::string_view() : cell.text; return;
    case ColumnRole::id:
      if (cell.missing) return;
      if (cell.text.find_first_of("\t\r\n") != std::string_view::npos)
        refuse_cell(column, cell, "a row's name without tabs and line breaks");
      row.tag = cell.text;
      return;
    case ColumnRole::weight:
      if (cell.missing) refuse_cell(column, cell, "a weight, 0 or more");
      row.weight = number(column, cell);
      if (row.weight < 0) refuse_cell(column, cell, "a weight, 0 or more");
      return;
    case ColumnRole::categorical:
      if (!cell.missing) row.features.push_back({column.group, row_hash(cell.text, column.seed), 1});
      return;
    case ColumnRole::numeric:
      if (cell.missing) row.features.push_back({column.group, row_hash("missing", column.seed), 1});
      else row.features.push_back({column.group, column.group, static_cast<float>(number(column, cell))});
      return;
  }
}

double ColumnRows::number(const Column& column, const Cell& cell) {
  const NumberText number = float_of(trimmed(cell.text));
  if (number.fault != NumberFault::none) refuse_cell(column, cell, expectation(number.fault));
  return number.value;
}

void ColumnRows::refuse_cell(const Column& column, const Cell& cell, std::string_view expected) {
  lines().refuse(cell.line, cell.column, fmt::format("{} in column {}", shown(cell.text), shown(column.name)),
                 expected);
}

}  // namespace obolus
