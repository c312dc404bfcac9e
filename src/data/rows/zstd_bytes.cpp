#include "data/rows/zstd_bytes.hpp"

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <vector>

#include "obolus/core/error.hpp"

namespace obolus {
namespace {

class ZstdBytes : public ByteSource {
 public:
  ZstdBytes(std::unique_ptr<ByteSource> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)), stream_(ZSTD_createDStream()) {
    if (!stream_) throw DataError(name_ + ": no memory to unpack it");
  }

  [[nodiscard]] std::size_t read(std::span<char> to) override {
    if (!failure_.empty()) throw DataError(failure_);
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size && !more_out_) {
        in_ = {buffer_.data(), packed_->read(buffer_), 0};
        if (in_.size == 0 && between_) return 0;
        if (in_.size == 0) refuse("it is truncated");
      }
      const std::size_t status = ZSTD_decompressStream(stream_.get(), &out, &in_);
      if (ZSTD_isError(status) != 0) refuse(reason(status));
      between_ = status == 0;
      more_out_ = !between_ && out.pos == out.size;  // there was no room for all
    }
    return out.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* s) const { ZSTD_freeDStream(s); }
  };

  [[nodiscard]] std::string reason(std::size_t status) const {
    switch (ZSTD_getErrorCode(status)) {
      case ZSTD_error_checksum_wrong: return "its checksum does not match its content: it is damaged";
      case ZSTD_error_prefix_unknown: return "the bytes after its end are not zstd";
      case ZSTD_error_frameParameter_windowTooLarge: return "it needs a window of more than 128 MiB";
      default: return fmt::format("it is damaged ({})", ZSTD_getErrorName(status));
    }
  }

  // For good: after an error, zstd would start again in the middle.
  [[noreturn]] void refuse(std::string_view why) {
    failure_ = fmt::format("{}: cannot be unpacked: {}", name_, why);
    throw DataError(failure_);
  }

  std::unique_ptr<ByteSource> packed_;
  std::string name_, failure_;
  std::vector<char> buffer_ = std::vector<char>(ZSTD_DStreamInSize());
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool between_ = true, more_out_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> zstd_bytes(std::unique_ptr<ByteSource> packed, const std::string& name) {
  return std::make_unique<ZstdBytes>(std::move(packed), name);
}

}  // namespace obolus
