// The four IDX files of a set of pictures, read from a folder or an archive, each packed with gzip or not, and
// verified.
#pragma once

#include <array>
#include <string>

#include "data/archive_documents.hpp"
#include "obolus/data/pictures.hpp"

namespace obolus {

// In the order of idx_names.
using PictureFiles = std::array<std::string, 4>;
using PictureDigests = std::array<std::string, 4>;  // SHA-256 of the files unpacked, hexadecimal

[[nodiscard]] const PictureDigests& digests_of(PictureSet set);

// Finds files by name (train-images-idx3-ubyte, train-images.idx3-ubyte, either with .gz), directly in a folder or
// anywhere in an archive, and ignores others. Throws DataError unless all four exist and match their digests.
[[nodiscard]] PictureFiles picture_files_of(const ArchiveSource& source, const PictureDigests& expected);

// Each file atomically; creates the folder if needed.
void save_pictures(const std::string& folder, const PictureFiles& files);

}  // namespace obolus
