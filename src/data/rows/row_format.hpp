// A row format describes itself once, beside its reader. Detection, --format and its help, `obolus list formats` and
// the messages that name formats all follow from this one list.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace obolus {

class LineRows;
class LineSource;
struct RowOptions;

struct RowFormat {
  std::string name;                                     // as --format takes it
  std::string title;                                    // as people call it
  std::string summary;                                  // what a row looks like
  std::vector<std::string> endings;                     // of file names, before .gz or .zst
  std::vector<std::string> options;                     // of RowOptions, apart from those that every format takes
  bool (*recognises)(std::string_view line) = nullptr;  // whether a first line is of this format
  std::unique_ptr<LineRows> (*open)(std::unique_ptr<LineSource> lines, const RowOptions& options) = nullptr;
};

// In the order in which they are asked about a first line.
[[nodiscard]] const std::vector<RowFormat>& row_formats();
[[nodiscard]] std::vector<std::string> row_format_names();                   // "auto" first
[[nodiscard]] std::string titles_of_formats(std::string_view option = {});   // all, or those that take this option
[[nodiscard]] std::string_view without_packing(std::string_view file_name);  // without .gz or .zst

}  // namespace obolus
