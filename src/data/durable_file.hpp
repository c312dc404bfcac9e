// Files that survive a crash: whole files are replaced atomically (temporary file, fsync, rename, fsync of the folder),
// logs are appended to and cut back, and a folder belongs to one process at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace obolus {

void write_atomically(const std::string& path, std::string_view content);
[[nodiscard]] std::string read_whole_file(const std::string& path, std::uint64_t cap);

// Adds a line; what is there stays, but for a last line that a crash tore.
void append_line(const std::string& path, std::string_view line);

// What a run or a comparison leaves in its folder.
[[nodiscard]] bool holds_results(const std::string& folder);
void remove_results(const std::string& folder);
void remove_half_written(const std::string& folder);  // left by a process that died between writing and renaming

// Makes the folder if need be and takes it for this process; throws ConfigError when another has it.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int fd_ = -1;
};

class AppendedFile {
 public:
  AppendedFile(std::string path, bool keep);
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;
  ~AppendedFile();

  [[nodiscard]] std::uint64_t size() const { return size_; }
  void truncate(std::uint64_t bytes);
  void append(std::string_view bytes);
  void sync();

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace obolus
