#include "run/run_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "obolus/core/error.hpp"
#include "run/checksum.hpp"

namespace obolus {
namespace {

namespace fs = std::filesystem;

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
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void sync_folder(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  const Descriptor fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

// A config without the lines that may change between a run and its continuation.
std::vector<std::string> essentials(const std::string& config) {
  std::vector<std::string> lines;
  std::istringstream in(config);
  std::string section;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('[')) section = line;
    const bool free = section == "[log]" || (section == "[problem]" && line.starts_with("rounds "));
    if (!free && !line.empty() && !line.starts_with('#'))
      lines.push_back(section + " " + line.substr(0, line.find("  # ")));
  }
  return lines;
}

void require_same(const std::string& before, const std::string& now, const std::string& path) {
  const auto a = essentials(before), b = essentials(now);
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string was = i < a.size() ? a[i] : "nothing", is = i < b.size() ? b[i] : "nothing";
    if (was != is)
      throw ConfigError(
          fmt::format("{}: cannot resume, the config differs: the run has '{}', this config has '{}'", path, was, is));
  }
}

constexpr std::string_view magic = "OBOLUSCP";
constexpr std::uint32_t version = 1;

struct Header {
  char magic[8];
  std::uint32_t version, reserved;
  std::uint64_t size, checksum;
};

}  // namespace

void write_atomically(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".tmp";
  {
    const Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (fd.get() < 0) fail("cannot write", temporary);
    write_all(fd.get(), content, temporary);
    if (::fsync(fd.get()) != 0) fail("cannot sync", temporary);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) fail("cannot replace", path);
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
    content.append(chunk, static_cast<std::size_t>(n));
    if (content.size() > cap)
      throw DataError(fmt::format("{}: larger than {} bytes, the most that is read", path, cap));
  }
}

// A constructor of its own: once it is through, the destructor gives the folder back whatever follows.
RunDirectory::RunDirectory(std::string path) : path_(std::move(path)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) throw ConfigError(fmt::format("--out {}: cannot make the folder: {}", path_, error.message()));
  lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) fail("cannot open the folder", path_);
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(lock_);
  throw ConfigError(path_ + ": another process is running in this folder");
}

RunDirectory::RunDirectory(std::string path, Mode mode, std::string config) : RunDirectory(std::move(path)) {
  std::error_code error;
  const bool there = fs::exists(file("config.toml"));
  if (there && mode == Mode::fresh)
    throw ConfigError(path_ +
                      ": holds a run already; use --resume to go on with it, --force to replace it, or another --out");
  if (there && mode == Mode::resume) require_same(read_whole_file(file("config.toml"), 1 << 24), config, path_);
  // Left by a process that died between writing and renaming.
  for (const char* name : {"config.toml.tmp", "checkpoint.tmp", "summary.json.tmp"}) fs::remove(file(name), error);
  if (mode != Mode::resume) {
    for (const char* name : {"checkpoint", "summary.json", "trace.jsonl"}) fs::remove(file(name), error);
  }
  config_ = std::move(config);
  if (!there || mode != Mode::resume) write_config();
  open_trace(mode == Mode::resume);
}

void RunDirectory::write_config() { write_atomically(file("config.toml"), config_); }

RunDirectory::~RunDirectory() {
  try {
    flush();
  } catch (const Error&) {  // the last sync has reported what matters
  }
  if (trace_ >= 0) ::close(trace_);
  if (lock_ >= 0) ::close(lock_);
}

void RunDirectory::open_trace(bool keep) {
  const std::string path = file("trace.jsonl");
  trace_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (keep ? 0 : O_TRUNC), 0644);
  if (trace_ < 0) fail("cannot write", path);
  const off_t end = ::lseek(trace_, 0, SEEK_END);
  trace_bytes_ = end < 0 ? 0 : static_cast<std::uint64_t>(end);
}

void RunDirectory::truncate_trace(std::uint64_t bytes) {
  if (bytes > trace_bytes_)
    throw DataError(fmt::format("{}: has {} bytes, the checkpoint expects {}: it was cut or replaced",
                                file("trace.jsonl"), trace_bytes_, bytes));
  if (::ftruncate(trace_, static_cast<off_t>(bytes)) != 0 || ::lseek(trace_, 0, SEEK_END) < 0)
    fail("cannot cut back", file("trace.jsonl"));
  trace_bytes_ = bytes;
}

void RunDirectory::append_trace(std::string_view line) {
  buffer_ += line;
  trace_bytes_ += line.size();
  if (buffer_.size() > (1 << 16)) flush();
}

void RunDirectory::flush() {
  if (buffer_.empty()) return;
  std::string pending;
  pending.swap(buffer_);
  write_all(trace_, pending, file("trace.jsonl"));
}

void RunDirectory::sync_trace() {
  flush();
  if (::fsync(trace_) != 0) fail("cannot sync", file("trace.jsonl"));
}

void RunDirectory::save_checkpoint(const std::vector<std::byte>& state) {
  sync_trace();  // the checkpoint must never be ahead of the trace
  Header header{};
  std::memcpy(header.magic, magic.data(), magic.size());
  header.version = version;
  header.size = state.size();
  header.checksum = checksum(state.data(), state.size());
  std::string content(reinterpret_cast<const char*>(&header), sizeof header);
  content.append(reinterpret_cast<const char*>(state.data()), state.size());
  write_atomically(file("checkpoint"), content);
}

std::optional<std::vector<std::byte>> RunDirectory::load_checkpoint() const {
  const std::string path = file("checkpoint");
  if (!fs::exists(path)) return std::nullopt;
  const std::string content = read_whole_file(path, std::uint64_t{1} << 32);
  Header header{};
  if (content.size() < sizeof header || content.compare(0, magic.size(), magic) != 0)
    throw DataError(path + ": is not an Obolus checkpoint");
  std::memcpy(&header, content.data(), sizeof header);
  if (header.version != version)
    throw DataError(
        fmt::format("{}: has version {}, this program reads version {}: resume with the program that wrote it", path,
                    header.version, version));
  const auto* data = reinterpret_cast<const std::byte*>(content.data()) + sizeof header;
  const std::size_t size = content.size() - sizeof header;
  if (size != header.size || header.reserved != 0 || checksum(data, size) != header.checksum)
    throw DataError(path + ": is damaged (size or checksum differ); start anew with --force");
  return std::vector<std::byte>(data, data + size);
}

void RunDirectory::write_summary(std::string_view json) { write_atomically(file("summary.json"), json); }

}  // namespace obolus
