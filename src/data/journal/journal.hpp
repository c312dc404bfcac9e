// A journal of learnt rows: JSON lines in records, each with a checksum, appended to and synced before anybody is told
// that a row was learnt. A segment is one file; its records follow each other by row numbers. After a crash the records
// that were synced are all there, and what was torn behind them is cut off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "data/durable_file.hpp"
#include "obolus/data/rows.hpp"

namespace obolus {

// What a segment begins with.
struct JournalStart {
  std::int64_t rows = 0;   // learnt before its first record
  std::uint64_t base = 0;  // of which state the journal tells how it went on
  friend bool operator==(const JournalStart&, const JournalStart&) = default;
};

// The rows of one request: learnt whole or not at all.
struct JournalRecord {
  std::int64_t first = 0, rows = 0;  // learnt before it; in it
  std::string_view lines;            // each ends with a line break
};

struct JournalHead;  // of a record

class JournalWriter {
 public:
  static constexpr std::size_t max_record = std::size_t{1} << 28;

  // Makes a new segment, or goes on behind the first `keep` bytes of one.
  JournalWriter(const std::string& path, const JournalStart& start);
  JournalWriter(const std::string& path, std::uint64_t keep);

  // In memory until write().
  void add(const JournalRecord& record);
  void write();     // hands the records to the system: they outlive this process
  void sync();      // they outlive the machine
  void cut_back();  // to what was written by the last successful settle()
  void settle() { settled_ = file_.size(); }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }

 private:
  AppendedFile file_;
  std::uint64_t settled_ = 0, synced_ = 0;
  std::string pending_;
};

// What is in a segment, up to the first record that is torn. Throws DataError for another kind of file, and where bytes
// are damaged that had been synced.
class JournalReader {
 public:
  JournalReader(std::unique_ptr<ByteSource> bytes, std::string name);

  [[nodiscard]] const JournalStart& start() const { return start_; }
  [[nodiscard]] bool next(JournalRecord& record);                 // its lines are valid until the next call
  [[nodiscard]] std::uint64_t good_bytes() const { return at_; }  // up to the end of the last record

 private:
  [[nodiscard]] std::size_t fill(std::size_t wanted);
  [[nodiscard]] bool is_sound(std::size_t at, JournalHead& head);
  void require_torn();

  std::unique_ptr<ByteSource> bytes_;
  std::string name_, buffer_;
  std::size_t used_ = 0;  // of the buffer
  JournalStart start_;
  std::uint64_t at_ = 0;
};

inline constexpr std::string_view journal_magic = "OBOLUSJN";

// The lines of a journal, for the readers of rows.
[[nodiscard]] std::unique_ptr<ByteSource> journal_lines(std::unique_ptr<ByteSource> journal, const std::string& name);

}  // namespace obolus
