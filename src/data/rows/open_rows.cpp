#include "data/rows/open_rows.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <vector>

#include "obolus/core/error.hpp"

namespace obolus {
namespace {

constexpr std::string_view gzip_magic = "\x1F\x8B", zstd_magic = "\x28\xB5\x2F\xFD";
constexpr std::size_t packed_block = std::size_t{1} << 18;

// Bytes that were read to see what they are, then the rest.
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

class UnpackedBytes : public ByteSource {
 public:
  UnpackedBytes(std::unique_ptr<ByteSource> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)), archive_(archive_read_new()) {
    if (!archive_) throw DataError(name_ + ": no memory to unpack it");
    archive_read_support_format_raw(archive_.get());
    archive_read_support_format_empty(archive_.get());  // raw does not know a file of no bytes
    archive_read_support_filter_gzip(archive_.get());
    archive_read_support_filter_zstd(archive_.get());
    archive_entry* entry = nullptr;
    require(archive_read_open(archive_.get(), this, nullptr, read_packed, nullptr));
    // The bytes themselves count as a filter; what unpacks them did not take a head that is cut or damaged.
    if (archive_filter_count(archive_.get()) < 2) throw DataError(name_ + ": cannot be unpacked: its head is damaged");
    finished_ = require(archive_read_next_header(archive_.get(), &entry)) == ARCHIVE_EOF;  // nothing is inside
  }

  [[nodiscard]] std::size_t read(std::span<char> to) override {
    while (at_ == size_ && !finished_) {
      const void* block = nullptr;
      la_int64_t offset = 0;
      at_ = size_ = 0;
      finished_ = require(archive_read_data_block(archive_.get(), &block, &size_, &offset)) == ARCHIVE_EOF;
      if (finished_) size_ = 0;
      block_ = static_cast<const char*>(block);
    }
    const std::size_t size = std::min(to.size(), size_ - at_);
    if (size > 0) std::memcpy(to.data(), block_ + at_, size);
    at_ += size;
    return size;
  }

 private:
  struct Close {
    void operator()(archive* a) const { archive_read_free(a); }
  };

  // libarchive is C: an exception waits until it has returned.
  static la_ssize_t read_packed(archive*, void* self, const void** block) {
    auto& bytes = *static_cast<UnpackedBytes*>(self);
    *block = bytes.buffer_.data();
    try {
      return static_cast<la_ssize_t>(bytes.packed_->read(bytes.buffer_));
    } catch (...) {
      bytes.failure_ = std::current_exception();
      return -1;
    }
  }

  int require(int status) {
    if (failure_) std::rethrow_exception(failure_);
    if (status >= ARCHIVE_WARN) return status;
    const char* why = archive_error_string(archive_.get());
    throw DataError(fmt::format("{}: cannot be unpacked: {}", name_, why ? why : "damaged"));
  }

  std::unique_ptr<ByteSource> packed_;
  std::string name_;
  std::vector<char> buffer_ = std::vector<char>(packed_block);
  std::exception_ptr failure_;
  std::unique_ptr<archive, Close> archive_;
  const char* block_ = nullptr;
  std::size_t at_ = 0, size_ = 0;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> unpacked_bytes(std::unique_ptr<ByteSource> bytes, const std::string& name) {
  std::string head;
  const auto may_be = [&](std::string_view magic) { return magic.starts_with(head) && head.size() < magic.size(); };
  char byte = 0;
  // No byte more than needed: a live stream may begin with a short line.
  while ((may_be(gzip_magic) || may_be(zstd_magic)) && bytes->read({&byte, 1}) == 1) head += byte;
  auto peeked = std::make_unique<PeekedBytes>(std::move(bytes), head);
  if (head != gzip_magic && head != zstd_magic) return peeked;
  return std::make_unique<UnpackedBytes>(std::move(peeked), name);
}

std::unique_ptr<RowReader> open_rows(const std::string& path, const RowOptions& options) {
  const std::string name = path == "-" ? "standard input" : path;
  return read_rows(unpacked_bytes(file_bytes(path), name), path, options);
}

}  // namespace obolus
