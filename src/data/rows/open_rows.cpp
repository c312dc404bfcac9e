#include "data/rows/open_rows.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "data/journal/journal.hpp"
#include "data/rows/chained_rows.hpp"
#include "data/rows/gzip_bytes.hpp"
#include "data/rows/zstd_bytes.hpp"
#include "obolus/core/error.hpp"

namespace obolus {
namespace {

constexpr std::string_view gzip_magic = "\x1F\x8B", zstd_magic = "\x28\xB5\x2F\xFD";

// The bytes that were read to see what they are, then the rest.
class PeekedBytes : public ByteSource {
 public:
  PeekedBytes(std::unique_ptr<ByteSource> rest, std::string head) : rest_(std::move(rest)), head_(std::move(head)) {}

  [[nodiscard]] std::size_t read(std::span<char> to) override {
    if (at_ == head_.size()) return rest_->read(to);
    const std::size_t size = std::min(to.size(), head_.size() - at_);
    std::memcpy(to.data(), head_.data() + at_, size);
    at_ += size;
    return size;
  }

 private:
  std::unique_ptr<ByteSource> rest_;
  std::string head_;
  std::size_t at_ = 0;
};

std::string shown_name(const std::string& path) { return path == "-" ? "standard input" : path; }

// At once, not after hours of reading the files before.
void require_files(const std::vector<std::string>& paths) {
  if (std::count(paths.begin(), paths.end(), "-") > 1)
    throw ConfigError("got standard input (-) twice, expected it once: it can be read only once");
  for (const std::string& path : paths)
    if (path != "-" && ::access(path.c_str(), R_OK) != 0)
      throw DataError(path + ": cannot be read: " + std::strerror(errno));
}

}  // namespace

std::unique_ptr<ByteSource> unpacked_bytes(std::unique_ptr<ByteSource> bytes, const std::string& name) {
  std::string head;
  const auto may_be = [&](std::string_view magic) { return magic.starts_with(head) && head.size() < magic.size(); };
  char byte = 0;
  // Reads no more bytes than needed: a live stream may begin with a short line.
  while ((may_be(gzip_magic) || may_be(zstd_magic) || may_be(journal_magic)) && bytes->read({&byte, 1}) == 1)
    head += byte;
  auto peeked = std::make_unique<PeekedBytes>(std::move(bytes), head);
  if (head == gzip_magic) return gzip_bytes(std::move(peeked), name);
  if (head == zstd_magic) return zstd_bytes(std::move(peeked), name);
  if (head == journal_magic) return journal_lines(std::move(peeked), name);
  return peeked;
}

std::unique_ptr<RowReader> open_rows(const std::string& path, const RowOptions& options) {
  return read_rows(unpacked_bytes(file_bytes(path), shown_name(path)), path, options);
}

std::unique_ptr<RowReader> open_rows(const std::vector<std::string>& paths, const RowOptions& options) {
  require_files(paths);
  return chained_rows(paths, options,
                      [](const std::string& path, const RowOptions& own) { return open_rows(path, own); });
}

}  // namespace obolus
