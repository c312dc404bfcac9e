// A text file line by line, of any size, in the memory of its longest line.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace obolus {

class LineReader {
 public:
  static constexpr std::size_t longest = std::size_t{1} << 28;

  // Throws DataError when there is no such file.
  explicit LineReader(std::string path);

  // False at the end. Throws DataError for a line that is too long.
  bool next(std::string& line);
  // Whether the last line had its end: a program that is killed, or still writing, leaves one that has not.
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
