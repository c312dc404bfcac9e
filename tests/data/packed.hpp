// Small archives made in memory.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace obolus::test {

struct PackedFile {
  std::string name, content;
  unsigned type = AE_IFREG;
};

enum class Packing { tar, tar_gz, tar_xz, zip, cpio };

inline std::string packed(const std::vector<PackedFile>& files, Packing packing = Packing::tar_gz) {
  archive* a = archive_write_new();
  if (packing == Packing::zip) archive_write_set_format_zip(a);
  else if (packing == Packing::cpio) archive_write_set_format_cpio(a);
  else archive_write_set_format_pax_restricted(a);
  if (packing == Packing::tar_gz) archive_write_add_filter_gzip(a);
  if (packing == Packing::tar_xz) archive_write_add_filter_xz(a);
  std::string out(std::size_t{1} << 20, '\0');
  for (const PackedFile& f : files) out.resize(out.size() + 2 * f.content.size());
  std::size_t used = 0;
  archive_write_open_memory(a, out.data(), out.size(), &used);
  for (const PackedFile& f : files) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, f.name.c_str());
    archive_entry_set_filetype(entry, f.type);
    archive_entry_set_perm(entry, 0644);
    if (f.type == AE_IFLNK) archive_entry_set_symlink(entry, "elsewhere");
    archive_entry_set_size(entry, static_cast<la_int64_t>(f.content.size()));
    if (archive_write_header(a, entry) != ARCHIVE_OK) throw std::runtime_error(archive_error_string(a));
    if (!f.content.empty()) archive_write_data(a, f.content.data(), f.content.size());
    archive_entry_free(entry);
  }
  archive_write_close(a);
  archive_write_free(a);
  out.resize(used);
  return out;
}

}  // namespace obolus::test
