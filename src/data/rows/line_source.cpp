#include "data/rows/line_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "data/rows/words.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {

LineSource::LineSource(std::unique_ptr<ByteSource> bytes, std::string name, std::size_t max_length, std::size_t block)
    : bytes_(std::move(bytes)),
      name_(std::move(name)),
      max_length_(max_length),
      block_(std::max<std::size_t>(block, 1)) {
  begin();
}

void LineSource::begin() {
  using namespace std::string_view_literals;
  // Wait for no more than what tells the marks from text: a live stream may begin with a short line.
  const auto starts = [&](std::string_view mark) {
    for (std::size_t i = 0; i < mark.size(); ++i) {
      while (end_ <= i)
        if (!fill()) return false;
      if (buffer_[i] != mark[i]) return false;
    }
    return true;
  };
  if (starts("\xEF\xBB\xBF")) at_ = 3;
  for (const auto mark : {"\xFF\xFE"sv, "\xFE\xFF"sv})
    if (starts(mark)) throw DataError(name_ + ":1:1: got UTF-16, expected UTF-8 or any other text of single bytes");
  if (starts("\x1F\x8B"sv) || starts("\x28\xB5\x2F\xFD"sv))
    throw DataError(name_ + ":1:1: got a packed file (gzip or zstd), expected text");
}

bool LineSource::fill() {
  if (finished_) return false;
  if (const std::size_t drop = held_ ? held_at_ : at_; drop > 0) {
    std::memmove(buffer_.data(), buffer_.data() + drop, end_ - drop);
    at_ -= drop;
    end_ -= drop;
    held_at_ = 0;
  }
  if (const std::size_t needed = end_ + block_ + padding; buffer_.size() < needed)
    buffer_.resize(std::max(needed, 2 * buffer_.size()));
  const std::size_t got = bytes_->read({buffer_.data() + end_, block_});
  end_ += got;
  finished_ = got == 0;
  return !finished_;
}

bool LineSource::next(std::string_view& line) {
  std::size_t searched = 0;  // from at_, so that a long line is not searched twice
  while (true) {
    const char* from = buffer_.data() + at_ + searched;
    const std::size_t left = end_ - at_ - searched;
    if (const void* found = left > 0 ? std::memchr(from, '\n', left) : nullptr) {
      take(to_size(static_cast<const char*>(found) - buffer_.data()), true, line);
      return true;
    }
    searched = end_ - at_;
    // Two more: the ending of a line of maximal length may still be to come.
    if (searched > max_length_ + 2) take(end_, false, line);
    if (fill()) continue;
    if (at_ == end_) return false;
    take(end_, false, line);
    return true;
  }
}

void LineSource::take(std::size_t end, bool ended, std::string_view& line) {
  const char* first = buffer_.data() + at_;
  std::size_t size = end - at_;
  if (size > 0 && first[size - 1] == '\r') {
    --size;
    ending_ = ended ? "\r\n" : "\r";
  } else {
    ending_ = ended ? "\n" : "";
  }
  ++number_;
  if (size > max_length_)
    throw DataError(fmt::format("{}:{}:{}: got a longer line, expected at most {} bytes", name_, number_,
                                max_length_ + 1, max_length_));
  at_ = end + (ended ? 1 : 0);
  line = {first, size};
  if (const void* nul = size > 0 ? std::memchr(first, 0, size) : nullptr)
    refuse(number_, to_size(static_cast<const char*>(nul) - first) + 1, "a NUL byte", "text");
}

void LineSource::hold() {
  held_ = true;
  held_at_ = at_;
  held_number_ = number_;
}

void LineSource::rewind() {
  held_ = false;
  at_ = held_at_;
  number_ = held_number_;
}

bool LineSource::only_blanks() {
  hold();
  bool blank = true;
  try {
    for (std::string_view line; blank && next(line);) blank = trimmed(line).empty();
  } catch (const BadRow&) {  // it will be read again
    blank = false;
  }
  rewind();
  return blank;
}

void LineSource::refuse(std::size_t line, std::size_t column, std::string_view got, std::string_view expected) const {
  throw BadRow(fmt::format("{}:{}:{}: got {}, expected {}", name_, line, column, got, expected));
}

std::string shown(std::string_view text) {
  constexpr std::size_t max_shown = 40;
  if (text.size() <= max_shown) return fmt::format("{:?}", text);
  std::size_t end = max_shown;
  while (end > max_shown - 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;  // not inside a character
  return fmt::format("{:?}…", text.substr(0, end));
}

}  // namespace obolus
