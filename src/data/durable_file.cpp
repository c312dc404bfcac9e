#include "data/durable_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

namespace fs = std::filesystem;

// In the order in which they go: what a config describes goes before it, so that no other one is taken to describe it.
constexpr const char* results[] = {"checkpoint", "cells.jsonl", "model",        "trace.jsonl", "about.jsonl",
                                   "tables.md",  "tables.csv",  "summary.json", "config.toml"};

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw DataError(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

void write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot write", path);
    bytes.remove_prefix(to_size(n));
  }
}

void sync_folder(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  const Descriptor fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems know no syncing of folders (EINVAL); some folders may be written to but not read (EACCES).
  if (fd.get() < 0 ? errno != EACCES : ::fsync(fd.get()) != 0 && errno != EINVAL)
    fail("cannot sync the folder of", path);
}

}  // namespace

void write_atomically(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".tmp";
  try {
    const Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (fd.get() < 0) fail("cannot write", temporary);
    write_all(fd.get(), content, temporary);
    if (::fsync(fd.get()) != 0) fail("cannot sync", temporary);
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail("cannot replace", path);
  } catch (const DataError&) {
    ::unlink(temporary.c_str());  // on a full disk it would take the room that others need
    throw;
  }
  sync_folder(path);
}

std::string read_whole_file(const std::string& path, std::uint64_t cap) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) fail("cannot open", path);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) fail("cannot read", path);
  if (S_ISDIR(info.st_mode)) throw DataError(path + ": is a folder, expected a file");
  std::string content;
  char chunk[1 << 16];
  while (true) {
    const ssize_t n = ::read(fd.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot read", path);
    if (n == 0) return content;
    content.append(chunk, to_size(n));
    if (content.size() > cap)
      throw DataError(fmt::format("{}: larger than {} bytes, the most that is read", path, cap));
  }
}

void append_line(const std::string& path, std::string_view line) {
  constexpr std::uint64_t cap = 1 << 24;
  std::string text = fs::exists(path) ? read_whole_file(path, cap) : std::string();
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
  text.append(line);
  text += '\n';
  write_atomically(path, text);
}

FolderLock::FolderLock(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw ConfigError(fmt::format("--out {}: cannot make the folder: {}", path, error.message()));
  fd_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0) fail("cannot open the folder", path);
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(fd_);
  throw ConfigError(path + ": another process is running in this folder");
}

FolderLock::~FolderLock() { ::close(fd_); }

AppendedFile::AppendedFile(std::string path, bool keep) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (keep ? 0 : O_TRUNC), 0644);
  if (fd_ < 0) fail("cannot write", path_);
  const off_t end = ::lseek(fd_, 0, SEEK_END);
  size_ = end < 0 ? 0 : static_cast<std::uint64_t>(end);
}

AppendedFile::~AppendedFile() { ::close(fd_); }

void AppendedFile::truncate(std::uint64_t bytes) {
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0 || ::lseek(fd_, 0, SEEK_END) < 0) fail("cannot cut back", path_);
  size_ = bytes;
}

void AppendedFile::append(std::string_view bytes) {
  write_all(fd_, bytes, path_);
  size_ += bytes.size();
}

void AppendedFile::sync() {
  if (::fsync(fd_) != 0) fail("cannot sync", path_);
}

bool holds_results(const std::string& folder) {
  for (const char* name : results)
    if (fs::exists(fs::path(folder) / name)) return true;
  return false;
}

void remove_results(const std::string& folder) {
  std::error_code error;
  for (const char* name : results) fs::remove(fs::path(folder) / name, error);
}

void remove_half_written(const std::string& folder) {
  std::error_code error;
  for (const char* name : results) fs::remove(fs::path(folder) / (std::string(name) + ".tmp"), error);
}

}  // namespace obolus
