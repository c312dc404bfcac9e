#include "trace/line_reader.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {

LineReader::LineReader(std::string path) : path_(std::move(path)) {
  if (std::filesystem::is_directory(path_)) throw DataError(path_ + ": is a folder, expected a file");
  if (std::filesystem::exists(path_) && !std::filesystem::is_regular_file(path_))
    throw DataError(path_ + ": is not a regular file");
  file_.open(path_, std::ios::binary);
  if (!file_) throw DataError(fmt::format("{}: cannot open: {}", path_, std::strerror(errno)));
}

bool LineReader::fill() {
  buffer_.resize(1 << 16);
  file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  if (file_.bad()) throw DataError(path_ + ": cannot be read");
  buffer_.resize(to_size(file_.gcount()));
  at_ = 0;
  return !buffer_.empty();
}

bool LineReader::next(std::string& line) {
  line.clear();
  ended_ = false;
  while (!ended_ && (at_ < buffer_.size() || fill())) {
    const std::size_t end = buffer_.find('\n', at_);
    ended_ = end != std::string::npos;
    line.append(buffer_, at_, (ended_ ? end : buffer_.size()) - at_);
    at_ = ended_ ? end + 1 : buffer_.size();
    if (line.size() > max_line)
      throw DataError(fmt::format("{}:{}: got a line of more than {} bytes, expected at most so many", path_,
                                  number_ + 1, max_line));
  }
  if (!ended_ && line.empty()) return false;
  ++number_;
  return true;
}

std::string LineReader::place() const { return fmt::format("{}:{}", path_, number_); }

}  // namespace obolus
