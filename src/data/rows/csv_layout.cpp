#include "data/rows/csv_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/rows/csv_record.hpp"
#include "data/rows/number_text.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

char likely_delimiter(LineSource& lines) {
  constexpr std::string_view candidates = ",;\t|";
  std::array<std::size_t, 4> count{};
  lines.hold();
  std::string_view line;
  bool there = true;
  do there = lines.next(line);
  while (there && line.empty());
  bool quoted = false;
  for (std::size_t i = 0; there && i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    const std::size_t which = quoted ? candidates.npos : candidates.find(line[i]);
    if (which != candidates.npos) ++count[which];
  }
  lines.rewind();
  return candidates[to_size(std::max_element(count.begin(), count.end()) - count.begin())];
}

// For a column, over the rows below the first: whether there is text, and whether the first cell reappears.
struct Seen {
  bool text = false, first_again = false;
};

class FirstRows {
 public:
  FirstRows(const CsvRecord& first, const MissingValues& missing) : missing_(missing) {
    for (std::size_t i = 0; i < first.size(); ++i) first_.emplace_back(first[i]);
    seen_.resize(first.size());
  }

  void look_at(const CsvRecord& record) {
    if (record.size() != first_.size()) return;
    for (std::size_t i = 0; i < record.size(); ++i) {
      note(seen_[i], record[i]);
      seen_[i].first_again = seen_[i].first_again || record[i] == first_[i];
    }
  }

  // Names are texts, differ, and do not reappear below. An empty one is allowed: pandas leaves its index unnamed.
  [[nodiscard]] bool first_is_header() const {
    auto names = first_;
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) != names.end()) return false;
    for (std::size_t i = 0; i < first_.size(); ++i)
      if (seen_[i].first_again || float_of(trimmed(first_[i])).fault == NumberFault::none ||
          (missing_.has(first_[i]) && !first_[i].empty()))
        return false;
    return names.size() > 1 || !names.front().empty();
  }

  [[nodiscard]] std::vector<Column> columns(bool header) {
    std::vector<Column> columns;
    for (std::size_t i = 0; i < first_.size(); ++i) {
      if (!header) note(seen_[i], first_[i]);
      Column column;
      if (header) column.name = trimmed(first_[i]);
      if (column.name.empty()) column.name = std::to_string(i + 1);
      column.role = seen_[i].text ? ColumnRole::categorical : ColumnRole::numeric;
      columns.push_back(std::move(column));
    }
    return columns;
  }

 private:
  void note(Seen& seen, std::string_view cell) const {
    if (missing_.has(cell)) return;
    seen.text = seen.text || float_of(trimmed(cell)).fault == NumberFault::not_a_number;
  }

  const MissingValues& missing_;
  std::vector<std::string> first_;
  std::vector<Seen> seen_;
};

}  // namespace

MissingValues::MissingValues(std::vector<std::string> values) : values_(std::move(values)) {
  for (const std::string& value : values_) {
    if (value.empty()) empty_ = true;
    else begins_[static_cast<unsigned char>(value.front())] = true;
  }
}

bool MissingValues::has(std::string_view cell) const {
  const std::string_view text = trimmed(cell);
  if (text.empty()) return empty_;
  return begins_[static_cast<unsigned char>(text.front())] &&
         std::find(values_.begin(), values_.end(), text) != values_.end();
}

CsvLayout csv_layout(LineSource& lines, const RowOptions& options, const MissingValues& missing) {
  CsvLayout layout;
  if (options.delimiter == '"' || options.delimiter == '\n' || options.delimiter == '\r')
    throw ConfigError(fmt::format("delimiter: got {:?}, expected a byte other than a quote or a line ending",
                                  std::string(1, options.delimiter)));
  layout.delimiter = options.delimiter != 0 ? options.delimiter : likely_delimiter(lines);
  CsvRecord record;
  lines.hold();
  if (!record.next(lines, layout.delimiter)) return layout;
  FirstRows rows(record, missing);
  bool more = true;
  while (more && layout.looked_at < options.look_ahead && lines.held() < options.look_ahead_bytes) try {
      more = record.next(lines, layout.delimiter);
      if (!more) break;
      ++layout.looked_at;
      rows.look_at(record);
    } catch (const BadRow&) {  // NOLINT(bugprone-empty-catch): it will be read again, and counted then
    }
  lines.rewind();
  layout.header = options.header == Header::automatic ? rows.first_is_header() : options.header == Header::yes;
  if (layout.header) (void)record.next(lines, layout.delimiter);
  else ++layout.looked_at;
  layout.columns = rows.columns(layout.header);
  assign_roles(layout.columns, options, lines.name());
  return layout;
}

}  // namespace obolus
