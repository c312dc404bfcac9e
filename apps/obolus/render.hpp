// Figures as files: SVG as it is, PNG and PDF through librsvg where the program was built with it.
#pragma once

#include <string>

namespace obolus::cli {

enum class ImageKind { svg, png, pdf };

// By the ending of the file's name. Throws ConfigError for an ending that nobody knows, and for one that this program was built without.
[[nodiscard]] ImageKind image_kind(const std::string& path);

// The file's bytes. `dpi`: pixels an inch of a PNG. Throws ConfigError where the picture would be too large.
[[nodiscard]] std::string rendered(const std::string& svg, ImageKind kind, double dpi);

}  // namespace obolus::cli
