#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/data/rows.hpp"

namespace obolus {
namespace {

// Unbuffered, so that bytes of a pipe arrive at once and not when a buffer is full.
class FileBytes : public ByteSource {
 public:
  explicit FileBytes(const std::string& path) : name_(path == "-" ? "standard input" : path) {
    file_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) throw DataError(name_ + ": cannot be read: " + std::strerror(errno));
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes() override {
    if (file_ != STDIN_FILENO) ::close(file_);
  }

  [[nodiscard]] std::size_t read(std::span<char> to) override {
    while (true) {
      const ssize_t got = ::read(file_, to.data(), to.size());
      if (got >= 0) return to_size(got);
      if (errno != EINTR) throw DataError(name_ + ": cannot be read: " + std::strerror(errno));
    }
  }

 private:
  std::string name_;
  int file_ = -1;
};

}  // namespace

std::unique_ptr<ByteSource> file_bytes(const std::string& path) { return std::make_unique<FileBytes>(path); }

}  // namespace obolus
