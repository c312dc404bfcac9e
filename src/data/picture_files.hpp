// The four IDX files of a set of pictures, out of a folder or an archive, packed one by one with gzip or not, and verified.
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

// Files are known by their names (train-images-idx3-ubyte, train-images.idx3-ubyte, either with .gz), in a folder itself or anywhere in an
// archive; others are passed over. Throws DataError unless all four are there and have their digests.
[[nodiscard]] PictureFiles picture_files_of(const ArchiveSource& source, const PictureDigests& expected);

void save_pictures(const std::string& folder,
                   const PictureFiles& files);  // each atomically; makes the folder if need be

}  // namespace obolus
