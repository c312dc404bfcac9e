#include "data/rows/row_format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/rows/line_rows.hpp"
#include "obolus/core/nearest.hpp"

namespace obolus {

// NOLINTBEGIN(readability-redundant-declaration): a group of sources defines some of them above
RowFormat arff_format();
RowFormat json_lines_format();
RowFormat vowpal_wabbit_format();
RowFormat svmlight_format();
RowFormat csv_format();
// NOLINTEND(readability-redundant-declaration)

// CSV is last: it takes any line that contains a delimiter.
const std::vector<RowFormat>& row_formats() {
  static const std::vector<RowFormat> all{
      arff_format(), json_lines_format(), vowpal_wabbit_format(), svmlight_format(), csv_format(),
  };
  return all;
}

namespace {

const RowFormat& format_named(const std::string& name) {
  for (const RowFormat& format : row_formats())
    if (format.name == name) return format;
  throw ConfigError(
      fmt::format("format: got '{}', expected the name of a format{}", name, suggestion(name, row_format_names())));
}

const RowFormat* format_of_name(std::string_view file) {
  for (const RowFormat& format : row_formats())
    for (const std::string& ending : format.endings)
      if (without_packing(file).ends_with(ending)) return &format;
  return nullptr;
}

const RowFormat& format_of_content(LineSource& lines) {
  lines.hold();
  std::string_view line;
  bool there = true;
  do there = lines.next(line);
  while (there && trimmed(line).empty());
  if (!there) {  // no rows in any format
    lines.rewind();
    return format_named("svmlight");
  }
  for (const RowFormat& format : row_formats())
    if (format.recognises(line)) {
      lines.rewind();
      return format;
    }
  throw DataError(fmt::format("{}:{}:1: got {}, expected a first line that tells the format ({}); else name the format",
                              lines.name(), lines.number(), shown(line), titles_of_formats()));
}

}  // namespace

std::vector<std::string> row_format_names() {
  std::vector<std::string> names{"auto"};
  for (const RowFormat& format : row_formats()) names.push_back(format.name);
  return names;
}

std::string titles_of_formats(std::string_view option) {
  std::string titles;
  for (const RowFormat& format : row_formats())
    if (option.empty() || std::find(format.options.begin(), format.options.end(), option) != format.options.end())
      titles += (titles.empty() ? "" : ", ") + format.title;
  return titles;
}

std::string_view without_packing(std::string_view file_name) {
  for (const std::string_view packed : {".gz", ".zst"})
    if (file_name.ends_with(packed)) return file_name.substr(0, file_name.size() - packed.size());
  return file_name;
}

std::unique_ptr<RowReader> read_rows(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                     const RowOptions& options) {
  const RowFormat* format = options.format == "auto" ? format_of_name(name) : &format_named(options.format);
  auto lines = std::make_unique<LineSource>(std::move(bytes), name == "-" ? "standard input" : name, options.max_line,
                                            options.block);
  if (!format) format = &format_of_content(*lines);
  std::unique_ptr<LineRows> rows = format->open(std::move(lines), options);
  rows->set_format(*format);
  return rows;
}

}  // namespace obolus
