// Labelled rows from svmlight, CSV, ARFF or Vowpal Wabbit text, one after the other: the memory is that of the longest
// line and of a look ahead, however long the stream is. docs/rows.md describes the formats and the errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace obolus {

// `group` counts namespaces or feature columns as they stand in RowReader::groups(). `key` is the index as written
// (svmlight), the group (the number of a numeric column), or else row_key(group name, feature name): categories, the
// "missing" of a numeric column, features of Vowpal Wabbit.
struct RowFeature {
  std::uint32_t group = 0;
  std::uint64_t key = 0;
  float value = 0;

  friend bool operator==(const RowFeature&, const RowFeature&) = default;
};

// Handed from row to row, so that its memory is taken once.
struct DataRow {
  std::string label;  // as written; empty: none
  double weight = 1;
  std::string tag;
  std::vector<RowFeature> features;  // as written: zeros stay; Vowpal Wabbit's may repeat, and add up

  friend bool operator==(const DataRow&, const DataRow&) = default;
};

// MurmurHash64A of the feature's name, seeded with that of the group's: the same on every machine. Not Vowpal Wabbit's.
[[nodiscard]] std::uint64_t row_key(std::string_view group, std::string_view feature);

enum class RowFormat : std::uint8_t { automatic, svmlight, csv, arff, vowpal_wabbit };
enum class IndexBase : std::uint8_t { automatic, zero, one };
enum class Header : std::uint8_t { automatic, yes, no };

// A column is given by its name or by its position: 1 is the first, -1 the last. A name goes before a position.
struct RowOptions {
  RowFormat format = RowFormat::automatic;
  std::uint64_t skip_bad = 0;  // so many bad rows are counted and skipped; the next one is the error
  bool labelled = true;        // false: rows to predict. No column is the label unless `label` says so

  IndexBase index_base = IndexBase::automatic;  // svmlight

  char delimiter = 0;  // CSV; 0: the most frequent of , ; tab | in the first line
  Header header = Header::automatic;
  std::vector<std::string> missing{"", "NA", "NaN", "?", "null"};  // CSV; ARFF knows ? only

  std::string label{};  // CSV, ARFF; empty: the last column
  std::string weight{};
  std::vector<std::string> ignore{}, numeric{}, categorical{};
  // CSV: the same for columns that have no other use, by name; there need not be such columns.
  std::vector<std::string> usually_numeric{}, usually_categorical{};

  // What is automatic is decided by so many rows, or so many bytes if that is less. A live stream waits for them.
  std::size_t look_ahead = 1'000, look_ahead_bytes = std::size_t{1} << 23;
  std::size_t longest_line = std::size_t{1} << 26;
  std::size_t block = std::size_t{1} << 18;  // bytes a read
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Waits for one byte at least, and gives what there is; 0 at the end only. Throws DataError.
  [[nodiscard]] virtual std::size_t read(std::span<char> to) = 0;
};

class RowReader {
 public:
  virtual ~RowReader() = default;

  // False at the end. Throws DataError ("FILE:LINE:COLUMN: got …, expected …"; columns count bytes from 1) and leaves
  // `row` unspecified then; the row after it can be read.
  [[nodiscard]] virtual bool next(DataRow& row) = 0;
  [[nodiscard]] virtual std::string place() const = 0;                       // "FILE:LINE" where the last row began
  [[nodiscard]] virtual const std::vector<std::string>& groups() const = 0;  // so far: namespaces come with the rows
  [[nodiscard]] virtual std::string describe() const = 0;                    // what was recognised, in a line
  [[nodiscard]] virtual std::optional<int> index_base() const { return std::nullopt; }  // svmlight's, once decided
  [[nodiscard]] virtual std::uint64_t skipped() const = 0;
  [[nodiscard]] virtual const std::string& first_skipped() const = 0;  // the error of the first, or empty
};

// The file as it is, "-" being standard input; nothing is unpacked.
[[nodiscard]] std::unique_ptr<ByteSource> file_bytes(const std::string& path);

// `name` stands in errors; an automatic format goes by its extension, then by the first line. Throws DataError, or
// ConfigError when the options name a column that there is not.
[[nodiscard]] std::unique_ptr<RowReader> read_rows(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                                   const RowOptions& options = {});

}  // namespace obolus
