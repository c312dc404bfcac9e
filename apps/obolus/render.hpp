// Figures as files: SVG as it is, PNG and PDF through librsvg if the program was built with it.
#pragma once

#include <string>

namespace obolus::cli {

enum class ImageKind { svg, png, pdf };

// By the ending of the file's name. Throws ConfigError for an unknown ending, and for one that this program was built
// without.
[[nodiscard]] ImageKind image_kind(const std::string& path);

// The file's bytes. `dpi`: pixels per inch of a PNG. Throws ConfigError if the picture would be too large.
[[nodiscard]] std::string rendered(const std::string& svg, ImageKind kind, double dpi);

}  // namespace obolus::cli
