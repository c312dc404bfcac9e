// The files inside an archive, one at a time, in memory: nothing is written to disc, and names are only compared. Any
// format that libarchive unpacks by itself will do. Archives come from strangers, hence the limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct archive;

namespace obolus {

struct ArchiveLimits {
  std::size_t entries = 50'000;
  std::size_t entry_bytes = std::size_t{1} << 24;
  std::size_t total_bytes = std::size_t{1} << 29;  // unpacked
};

struct ArchiveSource {
  std::string name;                       // the path, or the name of the bytes in errors
  std::optional<std::string_view> bytes;  // of an archive in memory
};

class ArchiveDocuments {
 public:
  enum class Form : std::uint8_t { archive, packed_file };  // many files, or one packed file
  ArchiveDocuments(const ArchiveSource& source, const ArchiveLimits& limits, Form form = Form::archive);

  // Advances to the next regular file; false at the end.
  [[nodiscard]] bool next();
  [[nodiscard]] const std::string& name() const { return name_; }
  void append_content(std::vector<char>& to);  // once per file

 private:
  struct Close {
    void operator()(archive* a) const;
  };
  [[noreturn]] void fail(std::string_view what) const;
  void require(int status) const;

  std::string source_;
  ArchiveLimits limits_;
  std::unique_ptr<archive, Close> archive_;
  std::string name_;
  std::vector<char> block_ = std::vector<char>(std::size_t{1} << 16);
  std::size_t entries_ = 0, total_ = 0;
};

// A single file packed with gzip, in memory.
[[nodiscard]] std::string unpacked(const ArchiveSource& source, const ArchiveLimits& limits);

}  // namespace obolus
