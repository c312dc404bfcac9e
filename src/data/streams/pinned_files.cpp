#include "data/streams/pinned_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/sha256.hpp"
#include "obolus/core/error.hpp"

namespace obolus {
namespace {

std::string digest_of(const std::vector<PinnedFile>& files) {
  Sha256 all;
  for (const PinnedFile& file : files) {
    Sha256 one;
    one.add(file.content.data(), file.content.size());
    const Sha256::Digest digest = one.finish();
    all.add(file.name.c_str(), file.name.size() + 1);
    all.add(digest.data(), digest.size());
  }
  return all.finish_in_hexadecimal();
}

}  // namespace

std::vector<PinnedFile> pinned_files(const ArchiveSource& source, const PinnedContent& expected) {
  ArchiveDocuments archive(source, expected.limits);
  std::vector<PinnedFile> files;
  std::vector<char> content;
  while (archive.next()) {
    const std::string name(expected.name_within(archive.name()));
    if (name.empty()) continue;
    content.clear();
    archive.append_content(content);
    files.push_back({name, {content.begin(), content.end()}});
  }
  std::sort(files.begin(), files.end(), [](const PinnedFile& a, const PinnedFile& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(files.begin(), files.end(),
                                        [](const PinnedFile& a, const PinnedFile& b) { return a.name == b.name; });
  if (twice != files.end())
    throw DataError(fmt::format("{}: {:?}: given twice, expected once", source.name, twice->name));
  if (files.empty()) throw DataError(fmt::format("{}: got none of the expected files", source.name));
  if (const std::string digest = digest_of(files); !expected.digest.empty() && digest != expected.digest)
    throw DataError(
        fmt::format("{}: digest of {} files: got {}, expected {}", source.name, files.size(), digest, expected.digest));
  return files;
}

std::string_view end_of_path(std::string_view path, int parts) {
  std::size_t slash = path.size();
  for (; parts > 0; --parts) {
    slash = slash == 0 ? std::string_view::npos : path.rfind('/', slash - 1);
    if (slash == std::string_view::npos) return path;
  }
  return path.substr(slash + 1);
}

}  // namespace obolus
