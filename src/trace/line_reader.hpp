// A text file line by line, of any size, in the memory of its longest line.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace obolus {

class LineReader {
 public:
  static constexpr std::size_t max_line = std::size_t{1} << 28;

  // Throws DataError if the file does not exist.
  explicit LineReader(std::string path);

  // False at the end. Throws DataError if a line is too long.
  bool next(std::string& line);
  // Whether the last line was complete: a program that was killed, or is still writing, leaves a part of one.
  [[nodiscard]] bool ended() const { return ended_; }
  // "FILE:LINE" of the last line.
  [[nodiscard]] std::string place() const;

 private:
  bool fill();

  std::string path_, buffer_;
  std::ifstream file_;
  std::size_t at_ = 0, number_ = 0;
  bool ended_ = true;
};

}  // namespace obolus
