// Files of an archive whose names and contents are known in advance, by one digest over all of them.
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

// What an archive must contain. The digest is the SHA-256 of, for each file in order of names: the name, a 0 byte, and
// the 32 bytes of the SHA-256 of its content. How the files are packed does not matter.
struct PinnedContent {
  std::string digest;                                                  // hexadecimal; empty: not checked
  std::function<std::string_view(std::string_view path)> name_within;  // part of the path; empty: not one of the files
  ArchiveLimits limits = {};
};

// In order of names. Throws DataError unless everything is as expected.
[[nodiscard]] std::vector<PinnedFile> pinned_files(const ArchiveSource& source, const PinnedContent& expected);

// The last `parts` names of a path, all of it if it has no more.
[[nodiscard]] std::string_view end_of_path(std::string_view path, int parts);

}  // namespace obolus
