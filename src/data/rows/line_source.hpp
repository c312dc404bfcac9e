// Splits bytes into lines. A line ends with LF or CRLF, or with the file; a UTF-8 byte order mark is skipped. NUL bytes
// are refused; all others pass unchanged, UTF-8 or not.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "obolus/core/error.hpp"
#include "obolus/data/rows.hpp"

namespace obolus {

// One bad row, after which the next can be read: what `skip_bad` skips.
class BadRow : public DataError {
 public:
  using DataError::DataError;
};

class LineSource {
 public:
  LineSource(std::unique_ptr<ByteSource> bytes, std::string name, std::size_t max_length, std::size_t block);

  static constexpr std::size_t padding = 64;  // readable bytes behind a line, of whatever content

  // False at the end. The line is valid until the next call.
  [[nodiscard]] bool next(std::string_view& line);
  [[nodiscard]] std::string_view ending() const { return ending_; }  // of the last line: "\n", "\r\n", "\r" or ""

  // `rewind` returns to where `hold` was called, so that the lines are read again. Not nested.
  void hold();
  void rewind();
  [[nodiscard]] std::size_t held() const { return at_ - held_at_; }
  [[nodiscard]] bool only_blanks();  // from here to the end; waits for a line with text

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t number() const { return number_; }  // of the last line, from 1
  [[nodiscard]] std::size_t max_length() const { return max_length_; }

  [[noreturn]] void refuse(std::size_t line, std::size_t column, std::string_view got, std::string_view expected) const;

 private:
  void begin();
  [[nodiscard]] bool fill();
  void take(std::size_t end, bool ended, std::string_view& line);

  std::unique_ptr<ByteSource> bytes_;
  std::string name_;
  std::size_t max_length_, block_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0, number_ = 0;
  std::size_t held_at_ = 0, held_number_ = 0;
  bool held_ = false, finished_ = false;
  std::string_view ending_;
};

// In quotes, control characters escaped, long texts cut: for messages.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace obolus
