#include "data/archive_documents.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr std::size_t packed_block = std::size_t{1} << 18;

// All but mtree, which names files outside the archive, and raw; only filters that start no other program.
void support_forms(archive* a) {
  using Support = int(archive*);
  for (Support* format :
       {archive_read_support_format_tar, archive_read_support_format_zip, archive_read_support_format_7zip,
        archive_read_support_format_cpio, archive_read_support_format_ar, archive_read_support_format_cab,
        archive_read_support_format_iso9660, archive_read_support_format_lha, archive_read_support_format_rar,
        archive_read_support_format_rar5, archive_read_support_format_warc, archive_read_support_format_xar})
    format(a);
  for (Support* filter :
       {archive_read_support_filter_gzip, archive_read_support_filter_bzip2, archive_read_support_filter_compress,
        archive_read_support_filter_lz4, archive_read_support_filter_lzip, archive_read_support_filter_lzma,
        archive_read_support_filter_xz, archive_read_support_filter_zstd})
    filter(a);
}

}  // namespace

void ArchiveDocuments::Close::operator()(archive* a) const { archive_read_free(a); }

ArchiveDocuments::ArchiveDocuments(const ArchiveSource& source, const ArchiveLimits& limits, Form form)
    : source_(source.name), limits_(limits), archive_(archive_read_new()) {
  if (!archive_) fail("no memory to read it");
  if (form == Form::archive) support_forms(archive_.get());
  if (form == Form::packed_file) {
    archive_read_support_format_raw(archive_.get());
    archive_read_support_filter_gzip(archive_.get());
  }
  if (source.bytes) {
    require(archive_read_open_memory(archive_.get(), source.bytes->data(), source.bytes->size()));
    return;
  }
  std::error_code error;
  const auto status = std::filesystem::status(source_, error);
  if (!std::filesystem::exists(status)) throw DataError(source_ + ": no such file, expected an archive");
  if (!std::filesystem::is_regular_file(status))
    throw DataError(fmt::format("{}: got {}, expected an archive", source_,
                                std::filesystem::is_directory(status) ? "a folder" : "a special file"));
  require(archive_read_open_filename(archive_.get(), source_.c_str(), packed_block));
}

bool ArchiveDocuments::next() {
  while (true) {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(archive_.get(), &entry);
    if (status == ARCHIVE_EOF) return false;
    require(status);
    if (++entries_ > limits_.entries) fail(fmt::format("got more than {} entries", limits_.entries));
    const char* name = archive_entry_pathname(entry);
    if (!name) name = archive_entry_pathname_utf8(entry);
    name_ = name ? name : "";
    const auto type = archive_entry_filetype(entry);
    if (type == AE_IFDIR) continue;
    if (type != AE_IFREG || archive_entry_hardlink(entry))
      fail(fmt::format("entry {:?}: got a link or a special file, expected files and folders only", name_));
    return true;
  }
}

void ArchiveDocuments::append_content(std::vector<char>& to) {
  std::size_t size = 0;
  while (true) {
    const la_ssize_t got = archive_read_data(archive_.get(), block_.data(), block_.size());
    if (got < 0) require(static_cast<int>(got));
    if (got <= 0) return;
    size += to_size(got);
    total_ += to_size(got);
    if (size > limits_.entry_bytes) fail(fmt::format("entry {:?}: got more than {} bytes", name_, limits_.entry_bytes));
    if (total_ > limits_.total_bytes) fail(fmt::format("got more than {} bytes in all", limits_.total_bytes));
    to.insert(to.end(), block_.begin(), block_.begin() + got);
  }
}

std::string unpacked(const ArchiveSource& source, const ArchiveLimits& limits) {
  ArchiveDocuments file(source, limits, ArchiveDocuments::Form::packed_file);
  std::vector<char> content;
  if (file.next()) file.append_content(content);
  return {content.begin(), content.end()};
}

void ArchiveDocuments::fail(std::string_view what) const { throw DataError(fmt::format("{}: {}", source_, what)); }

void ArchiveDocuments::require(int status) const {
  if (status >= ARCHIVE_WARN) return;
  const char* why = archive_error_string(archive_.get());
  fail(fmt::format("cannot be unpacked: {}", why ? why : "damaged"));
}

}  // namespace obolus
