// Labelled rows from text, one at a time: the memory is that of the longest line and of a look ahead, however long the
// stream is. docs/rows.md describes the formats and the errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace obolus {

template <class E>
struct EnumNames;  // core/options.hpp

// `group` counts namespaces or feature columns as they stand in RowReader::groups(). `key` is the index as written
// (svmlight), the group (the number of a numeric column), or else row_key(group name, feature name): categories, the
// "missing" of a numeric column, features of Vowpal Wabbit.
struct RowFeature {
  std::uint32_t group = 0;
  std::uint64_t key = 0;
  float value = 0;

  friend bool operator==(const RowFeature&, const RowFeature&) = default;
};

// Reused from row to row, so that its memory is allocated once.
struct DataRow {
  std::string label;  // as written; empty if there is none
  double weight = 1;
  std::string tag;                   // its own name: Vowpal Wabbit's tag, or the column of `id`
  std::vector<RowFeature> features;  // as written: zeros stay; Vowpal Wabbit's may repeat, and add up

  friend bool operator==(const DataRow&, const DataRow&) = default;
};

// MurmurHash64A of the feature's name, seeded with that of the group's: the same on every machine. Not Vowpal Wabbit's.
[[nodiscard]] std::uint64_t row_key(std::string_view group, std::string_view feature);

enum class IndexBase : std::uint8_t { automatic, zero, one };
enum class Header : std::uint8_t { automatic, yes, no };

template <>
struct EnumNames<IndexBase> {
  static constexpr std::array<std::pair<IndexBase, std::string_view>, 3> values{
      {{IndexBase::automatic, "auto"}, {IndexBase::zero, "0"}, {IndexBase::one, "1"}}};
};

template <>
struct EnumNames<Header> {
  static constexpr std::array<std::pair<Header, std::string_view>, 3> values{
      {{Header::automatic, "auto"}, {Header::yes, "yes"}, {Header::no, "no"}}};
};

// A column is given by its name or by its position: 1 is the first, -1 the last. If a text could be both, it is a name.
// In JSON lines it is given by its name; objects within objects have names joined by dots.
struct RowOptions {
  std::string format = "auto";  // or the name of a format: svmlight, csv, …
  IndexBase index_base = IndexBase::automatic;
  Header header = Header::automatic;
  char delimiter = 0;  // 0: the most frequent of , ; tab | in the first line
  std::string label{};
  std::string weight{};
  std::string id{};
  std::vector<std::string> ignore{}, numeric{}, categorical{};
  std::vector<std::string> missing{"", "NA", "NaN", "?", "null"};
  std::uint64_t skip_bad = 0;

  // Which of these a format takes, RowFormat says; `format` and `skip_bad` hold for all.
  template <class V>
  void describe(V&& v) {
    v("format", format, "format of the rows; auto: by the ending of the file's name, or else by the first line");
    v("index_base", index_base, "index of the first feature; auto: 0 if the first rows contain index 0, else 1");
    v("header", header, "whether the first line names the columns");
    v("delimiter", delimiter, "one character, or tab; default: the most frequent of , ; tab | in the first line");
    v("label", label,
      labelled ? "column of the label, by name or position (1 is the first, -1 the last); default: the last, "
                 "in JSON lines the name label"
               : "column to leave out because it is the label; default: the one called like the model's label");
    v("weight", weight, "column of the rows' weights");
    v("id", id, "column of the rows' own names, which come back with their predictions");
    v("ignore", ignore, "columns to leave out");
    v("numeric", numeric, "columns to read as numbers, whatever the first rows hold");
    v("categorical", categorical, "columns to read as categories, whatever the first rows hold");
    v("missing", missing, "texts that stand for a missing value; default: an empty cell, NA, NaN, ?, null");
    v("skip_bad", skip_bad, "skip and count this many bad rows; the next one is an error");
  }

  bool labelled = true;  // false: rows to predict; no column is the label unless `label` says so
  // CSV, JSON lines: numeric and categorical by name, for columns that have no other use; they need not exist.
  std::vector<std::string> usually_numeric{}, usually_categorical{};
  std::string usually_label{};  // of rows to predict, by name, if no `label` is given; it need not exist
  // What is automatic is decided by this many rows, or by this many bytes if that is less. A live stream waits for
  // them.
  std::size_t look_ahead = 1'000, look_ahead_bytes = std::size_t{1} << 23;
  std::size_t max_line = std::size_t{1} << 26;
  std::size_t block = std::size_t{1} << 18;  // bytes per read
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Waits for at least one byte and returns how many it read; 0 only at the end. Throws DataError.
  [[nodiscard]] virtual std::size_t read(std::span<char> to) = 0;
};

class RowReader {
 public:
  virtual ~RowReader() = default;

  // False at the end. Throws DataError ("FILE:LINE:COLUMN: got …, expected …"; columns count bytes from 1), which
  // leaves `row` unspecified; the row after it can be read.
  [[nodiscard]] virtual bool next(DataRow& row) = 0;
  [[nodiscard]] virtual std::string place() const = 0;                       // "FILE:LINE" where the last row began
  [[nodiscard]] virtual const std::vector<std::string>& groups() const = 0;  // so far: namespaces come with the rows
  [[nodiscard]] virtual std::string describe() const = 0;                    // what was recognised, in one line
  [[nodiscard]] virtual std::string label() const { return {}; }             // the label's column, if that has a name
  // Whether a column is numeric or categorical throughout; else each of its values says what it is.
  [[nodiscard]] virtual bool has_kinds() const { return false; }
  [[nodiscard]] virtual std::optional<int> index_base() const { return std::nullopt; }  // svmlight's, once decided
  [[nodiscard]] virtual std::uint64_t skipped() const = 0;
  [[nodiscard]] virtual const std::string& first_skipped() const = 0;  // the error of the first, or empty
};

// The bytes of a file, or of standard input for "-"; nothing is unpacked.
[[nodiscard]] std::unique_ptr<ByteSource> file_bytes(const std::string& path);

// `name` appears in errors; an automatic format goes by its ending, then by the first line. Throws DataError, or
// ConfigError if the options name a format or a column that does not exist.
[[nodiscard]] std::unique_ptr<RowReader> read_rows(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                                   const RowOptions& options = {});

}  // namespace obolus
