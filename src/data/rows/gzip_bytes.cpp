#include "data/rows/gzip_bytes.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "obolus/core/error.hpp"

namespace obolus {
namespace {

constexpr std::size_t gzip_block = std::size_t{1} << 18;
constexpr int gzip_only = 15 + 16;  // the largest window and a gzip header, as inflateInit2 takes it

class GzipBytes : public ByteSource {
 public:
  GzipBytes(std::unique_ptr<ByteSource> packed, std::string name) : packed_(std::move(packed)), name_(std::move(name)) {
    if (inflateInit2(&stream_, gzip_only) != Z_OK) throw DataError(name_ + ": no memory to unpack it");
  }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;
  ~GzipBytes() override { inflateEnd(&stream_); }

  [[nodiscard]] std::size_t read(std::span<char> to) override {
    if (!failure_.empty()) throw DataError(failure_);
    const auto room = static_cast<uInt>(std::min<std::size_t>(to.size(), std::numeric_limits<uInt>::max()));
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    stream_.avail_out = room;
    while (room > 0 && stream_.avail_out == room) {
      if (between_ && !begin_member()) return 0;
      // Without new input first: the old input may yield more than there was room for.
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) between_ = true;
      else if (status == Z_BUF_ERROR) more();
      else if (status != Z_OK) refuse(reason(status));
    }
    return room - stream_.avail_out;
  }

 private:
  // False at the end of the file.
  [[nodiscard]] bool begin_member() {
    if (!fill()) return false;
    if (members_ > 0 && *stream_.next_in == 0) {
      do {
        const std::span<const Bytef> behind(stream_.next_in, stream_.avail_in);
        if (std::any_of(behind.begin(), behind.end(), [](Bytef b) { return b != 0; }))
          refuse("the bytes after its end are not gzip");
        stream_.avail_in = 0;
      } while (fill());
      return false;
    }
    inflateReset(&stream_);
    between_ = false;
    ++members_;
    return true;
  }

  [[nodiscard]] bool fill() {
    if (stream_.avail_in > 0) return true;
    stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_in = static_cast<uInt>(packed_->read(buffer_));
    return stream_.avail_in > 0;
  }

  void more() {
    if (!fill()) refuse("it is truncated");
  }

  [[nodiscard]] std::string reason(int status) const {
    if (status == Z_MEM_ERROR) return "no memory";
    const std::string_view why = stream_.msg ? stream_.msg : "";
    if (why == "incorrect data check") return "its checksum does not match its content: it is damaged";
    if (why == "incorrect length check") return "its length does not match its content: it is damaged";
    if (why == "incorrect header check" && members_ > 1) return "the bytes after its end are not gzip";
    return fmt::format("it is damaged ({})", why.empty() ? "a dictionary is asked for" : why);
  }

  // For good: reading on cannot recover what follows the fault.
  [[noreturn]] void refuse(std::string_view why) {
    failure_ = fmt::format("{}: cannot be unpacked: {}", name_, why);
    throw DataError(failure_);
  }

  std::unique_ptr<ByteSource> packed_;
  std::string name_, failure_;
  std::vector<char> buffer_ = std::vector<char>(gzip_block);
  z_stream stream_{};
  std::size_t members_ = 0;
  bool between_ = true;
};

}  // namespace

std::unique_ptr<ByteSource> gzip_bytes(std::unique_ptr<ByteSource> packed, const std::string& name) {
  return std::make_unique<GzipBytes>(std::move(packed), name);
}

}  // namespace obolus
