#include "data/picture_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "data/durable_file.hpp"
#include "data/idx.hpp"
#include "data/sha256.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr ArchiveLimits limits{.entries = 10'000, .entry_bytes = max_idx_file, .total_bytes = std::size_t{1} << 29};

// Which of the four a path names, if any.
std::optional<std::size_t> which(std::string_view path) {
  if (const std::size_t slash = path.rfind('/'); slash != path.npos) path.remove_prefix(slash + 1);
  if (path.ends_with(".gz")) path.remove_suffix(3);
  std::string name(path);
  std::replace(name.begin(), name.end(), '.', '-');
  const auto found = std::find(idx_names.begin(), idx_names.end(), name);
  if (found == idx_names.end()) return std::nullopt;
  return to_size(found - idx_names.begin());
}

class Collected {
 public:
  explicit Collected(std::string source) : source_(std::move(source)) {}

  void add(std::size_t i, const std::string& name, std::string content) {
    constexpr std::string_view gzip = "\x1f\x8b";
    if (content.starts_with(gzip)) content = unpacked({source_ + ", " + name, content}, limits);
    if (found_[i] && files_[i] != content)
      throw DataError(fmt::format("{}: {}: given twice with different content, expected one", source_, idx_names[i]));
    files_[i] = std::move(content);
    found_[i] = true;
  }
  [[nodiscard]] PictureFiles verified(const PictureDigests& expected) && {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (!found_[i]) throw DataError(fmt::format("{}: has no {}, expected it, or it with .gz", source_, idx_names[i]));
      Sha256 sum;
      sum.add(files_[i].data(), files_[i].size());
      if (const std::string digest = sum.finish_in_hexadecimal(); digest != expected[i])
        throw DataError(
            fmt::format("{}: SHA-256 of {}: got {}, expected {}", source_, idx_names[i], digest, expected[i]));
    }
    return std::move(files_);
  }

 private:
  std::string source_;
  PictureFiles files_;
  std::array<bool, 4> found_{};
};

}  // namespace

const PictureDigests& digests_of(PictureSet set) {
  static const PictureDigests mnist{"ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                                    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                                    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                                    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"};
  static const PictureDigests fashion{"c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
                                      "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
                                      "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
                                      "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"};
  return set == PictureSet::mnist ? mnist : fashion;
}

PictureFiles picture_files_of(const ArchiveSource& source, const PictureDigests& expected) {
  Collected collected(source.name);
  std::error_code none;
  if (!source.bytes && std::filesystem::is_directory(source.name, none)) {
    try {
      for (const auto& entry : std::filesystem::directory_iterator(source.name))
        if (const auto i = which(entry.path().filename().string()); i && entry.is_regular_file())
          collected.add(*i, entry.path().filename().string(),
                        read_whole_file(entry.path().string(), limits.entry_bytes));
    } catch (const std::filesystem::filesystem_error& e) {
      throw DataError(fmt::format("{}: cannot be read: {}", source.name, e.code().message()));
    }
    return std::move(collected).verified(expected);
  }
  ArchiveDocuments archive(source, limits);
  while (archive.next()) {
    const auto i = which(archive.name());
    if (!i) continue;
    std::vector<char> content;
    archive.append_content(content);
    collected.add(*i, archive.name(), {content.begin(), content.end()});
  }
  return std::move(collected).verified(expected);
}

void save_pictures(const std::string& folder, const PictureFiles& files) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw DataError(fmt::format("{}: cannot be created: {}", folder, error.message()));
  for (std::size_t i = 0; i < files.size(); ++i) write_atomically(fmt::format("{}/{}", folder, idx_names[i]), files[i]);
}

}  // namespace obolus
