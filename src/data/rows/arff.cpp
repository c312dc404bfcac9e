#include <fmt/format.h>

#include <charconv>

#include "data/rows/arff_header.hpp"
#include "data/rows/arff_text.hpp"

namespace obolus {
namespace {

class ArffRows : public ColumnRows {
 public:
  ArffRows(std::unique_ptr<LineSource> source, const RowOptions& options) : ColumnRows(std::move(source), options) {
    std::vector<Column> columns;
    for (ArffAttribute& attribute : arff_header(lines())) {
      columns.push_back(std::move(attribute.column));
      first_values_.push_back(std::move(attribute.first_value));
    }
    assign_roles(columns, options, lines().name());
    set_columns(std::move(columns));
    written_.resize(first_values_.size());
  }

  [[nodiscard]] std::string describe() const override {
    return fmt::format("ARFF, {} attributes: {}", columns().size(), describe_columns(columns()));
  }

 private:
  [[nodiscard]] bool declares_kinds() const override { return true; }
  [[nodiscard]] bool read(DataRow& row) override;
  void read_dense(ArffText& text, DataRow& row);
  void read_sparse(ArffText& text, DataRow& row);
  void read_entry(ArffText& text, DataRow& row);
  void take_omitted(std::size_t i, DataRow& row);
  void read_value(ArffText& text, std::size_t column, DataRow& row);
  void read_weight(ArffText& text, DataRow& row);

  std::vector<std::string> first_values_;
  std::vector<bool> written_;  // by a sparse row
  std::string value_;
};

bool ArffRows::read(DataRow& row) {
  std::string_view line;
  while (next_line(line)) {
    ArffText text(lines(), line);
    if (text.at_end()) continue;
    if (text.take('{')) read_sparse(text, row);
    else read_dense(text, row);
    if (!text.at_end()) text.refuse(fmt::format("the end of the row: there are {} attributes", columns().size()));
    return true;
  }
  return false;
}

void ArffRows::read_dense(ArffText& text, DataRow& row) {
  for (std::size_t i = 0; i < columns().size(); ++i) {
    if (i > 0) {
      bool tab = false;
      const bool end = text.at_end(&tab);
      if (end || !(text.take(',') || tab))
        text.refuse(end ? fmt::format("a value of {}: {} attributes were read", shown(columns()[i].name), i)
                        : "a comma");
    }
    read_value(text, i, row);
  }
  if (!text.at_end() && text.take(',')) read_weight(text, row);
}

void ArffRows::read_sparse(ArffText& text, DataRow& row) {
  written_.assign(written_.size(), false);
  if (!text.at_end() && !text.next_is('}')) do {
      read_entry(text, row);
      (void)text.at_end();
    } while (text.take(','));
  if (!text.take('}')) text.refuse("a comma or }");
  for (std::size_t i = 0; i < columns().size(); ++i)
    if (!written_[i]) take_omitted(i, row);
  if (!text.at_end() && text.take(',')) read_weight(text, row);
}

void ArffRows::read_entry(ArffText& text, DataRow& row) {
  bool quoted = false;
  (void)text.at_end();
  const ArffText before = text;
  std::size_t index = 0;
  const bool there = text.word(value_, quoted);
  const auto [end, error] = std::from_chars(value_.data(), value_.data() + value_.size(), index);
  if (!there || quoted || error != std::errc{} || end != value_.data() + value_.size() || index >= columns().size())
    before.refuse(fmt::format("an attribute's index, 0 to {}", columns().size() - 1));
  if (written_[index]) before.refuse(fmt::format("each attribute once per row: index {} appears again", index));
  written_[index] = true;
  read_value(text, index, row);
}

// A sparse row leaves out zeros; for a nominal attribute, including the label, that is its first value.
void ArffRows::take_omitted(std::size_t i, DataRow& row) {
  const Column& column = columns()[i];
  if (!column.values.empty()) {
    take(column, {first_values_[i], line_, 1, false}, row);
  } else if (column.role == ColumnRole::label) {
    row.label.assign(1, '0');  // GCC 12 takes a literal here for an overflow
  } else if (column.role == ColumnRole::weight) {
    row.weight = 0;
  } else if (column.role == ColumnRole::id) {
    row.tag.assign(1, '0');
  }
}

void ArffRows::read_value(ArffText& text, std::size_t column, DataRow& row) {
  bool quoted = false;
  (void)text.at_end();
  const std::size_t at = text.column();
  if (!text.word(value_, quoted)) text.refuse(fmt::format("a value of {}", shown(columns()[column].name)));
  take(columns()[column], {value_, line_, at, !quoted && value_ == "?"}, row);
}

void ArffRows::read_weight(ArffText& text, DataRow& row) {
  bool quoted = false;
  if (text.at_end() || !text.take('{')) text.refuse("the end of the row, or its weight in braces");
  (void)text.at_end();
  const std::size_t at = text.column();
  if (!text.word(value_, quoted)) text.refuse("a weight, 0 or more");
  row.weight = weight_of({value_, at});
  if (text.at_end() || !text.take('}')) text.refuse("}");
}

}  // namespace

RowFormat arff_format() {
  return {.name = "arff",
          .title = "ARFF",
          .summary = "attributes declared with @attribute, then one line per row after @data, dense or sparse",
          .endings = {".arff"},
          .options = {"label", "weight", "id", "ignore", "numeric", "categorical"},
          .recognises =
              [](std::string_view line) {
                const std::string_view text = trimmed(line);
                return text.starts_with('%') || text.starts_with('@');
              },
          .open = open_as<ArffRows>};
}

}  // namespace obolus
