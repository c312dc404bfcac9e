// Files out of an archive whose names and contents are known beforehand, by one digest of all of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/archive_documents.hpp"

namespace obolus {

struct PinnedFile {
  std::string name, content;
};

// What an archive must hold. The digest is the SHA-256 of, for the files in order of their names: the name, a 0 byte, and the
// 32 bytes of the SHA-256 of the content. How they were packed does not matter.
struct PinnedContent {
  std::string digest;                                                  // hexadecimal; empty: not looked at
  std::function<std::string_view(std::string_view path)> name_within;  // a part of the path; empty: passed over
  ArchiveLimits limits = {};
};

// In order of their names. Throws DataError unless all is as expected.
[[nodiscard]] std::vector<PinnedFile> pinned_files(const ArchiveSource& source, const PinnedContent& expected);

// The last `parts` names of a path, all of it if it has no more.
[[nodiscard]] std::string_view end_of_path(std::string_view path, int parts);

}  // namespace obolus
