#include "data/journal/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "data/checksum.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr std::uint32_t version = 1;
constexpr std::string_view mark = "ROWS";  // of a record

struct FileHead {
  char magic[8];
  std::uint32_t version, reserved;
  std::int64_t rows;
  std::uint64_t base, checksum;  // of all before it
};

std::uint64_t checksum_of(const FileHead& head) { return checksum(&head, offsetof(FileHead, checksum)); }

std::string head_of(const JournalStart& start) {
  FileHead head{};
  std::memcpy(head.magic, journal_magic.data(), journal_magic.size());
  head.version = version;
  head.rows = start.rows;
  head.base = start.base;
  head.checksum = checksum_of(head);
  return {reinterpret_cast<const char*>(&head), sizeof head};
}

std::string new_segment(const std::string& path, const JournalStart& start) {
  write_atomically(path, head_of(start));
  return path;
}

}  // namespace

struct JournalHead {
  char mark[4];
  std::uint32_t size;  // of the lines behind it
  std::int64_t first, rows;
  std::uint64_t synced, checksum;  // bytes of the file that are known to be on the disk; of all before it and the lines

  [[nodiscard]] std::uint64_t sum(std::string_view lines) const {
    return ::obolus::checksum(lines.data(), lines.size(), ::obolus::checksum(this, offsetof(JournalHead, checksum)));
  }
};

JournalWriter::JournalWriter(const std::string& path, const JournalStart& start)
    : file_(new_segment(path, start), true), settled_(file_.size()), synced_(file_.size()) {}

JournalWriter::JournalWriter(const std::string& path, std::uint64_t keep) : file_(path, true) {
  file_.truncate(keep);
  file_.sync();
  settled_ = synced_ = keep;
}

void JournalWriter::add(const JournalRecord& record) {
  if (record.lines.size() > max_record) throw DataError("journal: got a record of more than 2^28 bytes");
  JournalHead head{};
  std::memcpy(head.mark, mark.data(), mark.size());
  head.size = static_cast<std::uint32_t>(record.lines.size());
  head.first = record.first;
  head.rows = record.rows;
  head.synced = synced_;
  head.checksum = head.sum(record.lines);
  pending_.append(reinterpret_cast<const char*>(&head), sizeof head);
  pending_ += record.lines;
}

void JournalWriter::write() {
  std::string bytes;
  bytes.swap(pending_);
  file_.append(bytes);
  bytes.clear();
  pending_.swap(bytes);  // its memory serves again
}

void JournalWriter::sync() {
  const std::uint64_t size = file_.size();
  file_.sync();
  synced_ = size;
}

void JournalWriter::cut_back() {
  pending_.clear();
  file_.truncate(settled_);
}

JournalReader::JournalReader(std::unique_ptr<ByteSource> bytes, std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)) {
  FileHead head{};
  if (fill(sizeof head) >= sizeof head) std::memcpy(&head, buffer_.data(), sizeof head);
  if (std::string_view(head.magic, sizeof head.magic) != journal_magic || head.checksum != checksum_of(head))
    throw DataError(name_ + ": got something else or a damaged file, expected a journal of `obolus serve`");
  if (head.version != version)
    throw DataError(fmt::format("{}: got a journal of version {}, expected {}", name_, head.version, version));
  start_ = {head.rows, head.base};
  used_ = at_ = sizeof head;
}

// How many bytes there are behind those used, `wanted` if the file has as many.
std::size_t JournalReader::fill(std::size_t wanted) {
  constexpr std::size_t block = std::size_t{1} << 16;
  if (buffer_.size() - used_ >= wanted) return buffer_.size() - used_;
  buffer_.erase(0, used_);
  used_ = 0;
  while (buffer_.size() < wanted) {
    const std::size_t before = buffer_.size();
    buffer_.resize(std::max(wanted, before + block));
    const std::size_t got = bytes_->read({buffer_.data() + before, buffer_.size() - before});
    buffer_.resize(before + got);
    if (got == 0) break;
  }
  return buffer_.size();
}

// Whether a whole record begins `at` bytes behind those used.
bool JournalReader::is_sound(std::size_t at, JournalHead& head) {
  if (fill(at + sizeof head) < at + sizeof head) return false;
  std::memcpy(&head, buffer_.data() + used_ + at, sizeof head);
  if (std::string_view(head.mark, sizeof head.mark) != mark || head.size > JournalWriter::max_record) return false;
  const std::size_t end = at + sizeof head + head.size;
  return fill(end) >= end && head.checksum == head.sum({buffer_.data() + used_ + at + sizeof head, head.size});
}

bool JournalReader::next(JournalRecord& record) {
  JournalHead head{};
  if (!is_sound(0, head)) {
    require_torn();
    return false;
  }
  record = {head.first, head.rows, {buffer_.data() + used_ + sizeof head, head.size}};
  used_ += sizeof head + head.size;
  at_ += sizeof head + head.size;
  return true;
}

// A later record may say that what cannot be read had been on the disk: then it is no crash that took it.
void JournalReader::require_torn() {
  JournalHead head{};
  for (std::size_t at = 1; fill(at + sizeof head) >= at + sizeof head; ++at)
    if (buffer_.compare(used_ + at, mark.size(), mark) == 0 && is_sound(at, head) && head.synced > at_)
      throw DataError(
          fmt::format("{}: is damaged at byte {}: expected a record, and sound ones follow; restore the "
                      "file, or cut it there to lose the rows behind",
                      name_, at_));
}

namespace {

class JournalLines : public ByteSource {
 public:
  JournalLines(std::unique_ptr<ByteSource> journal, const std::string& name) : reader_(std::move(journal), name) {}

  [[nodiscard]] std::size_t read(std::span<char> to) override {
    while (left_.empty()) {
      JournalRecord record;
      if (ended_ || !reader_.next(record)) {
        ended_ = true;
        return 0;
      }
      left_ = record.lines;
    }
    const std::size_t size = std::min(to.size(), left_.size());
    std::memcpy(to.data(), left_.data(), size);
    left_.remove_prefix(size);
    return size;
  }

 private:
  JournalReader reader_;
  std::string_view left_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> journal_lines(std::unique_ptr<ByteSource> journal, const std::string& name) {
  return std::make_unique<JournalLines>(std::move(journal), name);
}

}  // namespace obolus
