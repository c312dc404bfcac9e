#include "render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "obolus/core/error.hpp"

#ifdef OBOLUS_HAS_RSVG
#include <cairo-pdf.h>
#include <librsvg/rsvg.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#endif

namespace obolus::cli {

#ifdef OBOLUS_HAS_RSVG
namespace {

constexpr bool renders = true;

template <auto release>
struct Release {
  template <class T>
  void operator()(T* p) const {
    release(p);
  }
};
using Handle = std::unique_ptr<RsvgHandle, Release<g_object_unref>>;
using Surface = std::unique_ptr<cairo_surface_t, Release<cairo_surface_destroy>>;
using Context = std::unique_ptr<cairo_t, Release<cairo_destroy>>;

// The drawing is our own, so whatever librsvg refuses is an internal error.
[[noreturn]] void fail(GError* error) {
  const std::string words = error != nullptr ? error->message : "no reason given";
  g_clear_error(&error);
  throw std::runtime_error("librsvg: " + words);
}

cairo_status_t append(void* to, const unsigned char* bytes, unsigned count) {
  try {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
  } catch (const std::bad_alloc&) {  // no exception may pass through C
    return CAIRO_STATUS_NO_MEMORY;
  }
  return CAIRO_STATUS_SUCCESS;
}

void require(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw std::runtime_error(fmt::format("cairo: {}", cairo_status_to_string(status)));
}

void draw(RsvgHandle* handle, cairo_surface_t* surface, double width, double height) {
  require(cairo_surface_status(surface));
  const Context context(cairo_create(surface));
  const RsvgRectangle page{0, 0, width, height};
  GError* error = nullptr;
  if (!rsvg_handle_render_document(handle, context.get(), &page, &error)) fail(error);
  require(cairo_status(context.get()));
}

std::string big_endian(std::uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8), static_cast<char>(v)};
}

std::uint32_t png_checksum(std::string_view bytes) {
  std::uint32_t c = 0xFFFFFFFF;
  for (const char byte : bytes) {
    c ^= static_cast<unsigned char>(byte);
    for (int i = 0; i < 8; ++i) c = (c & 1) != 0 ? 0xEDB88320 ^ (c >> 1) : c >> 1;
  }
  return ~c;
}

// Cairo does not say how large a pixel is; without that a paper would print the picture in some other size.
void add_resolution(std::string& png, double dpi) {
  const std::string metre = big_endian(static_cast<std::uint32_t>(std::lround(dpi / 0.0254)));
  const std::string chunk = "pHYs" + metre + metre + '\1';
  constexpr std::size_t behind_header = 8 + 25;
  png.insert(behind_header, big_endian(9) + chunk + big_endian(png_checksum(chunk)));
}

std::string png(RsvgHandle* handle, double width, double height, double dpi) {
  constexpr double max = 30000;  // cairo's images end at 32,767
  if (width > max || height > max)
    throw ConfigError(fmt::format("--dpi {}: got a picture of {:.0f} x {:.0f} pixels, expected at most {:.0f} per side",
                                  dpi, width, height, max));
  const int w = static_cast<int>(std::lround(width)), h = static_cast<int>(std::lround(height));
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, w, h));
  draw(handle, surface.get(), w, h);
  std::string bytes;
  require(cairo_surface_write_to_png_stream(surface.get(), append, &bytes));
  add_resolution(bytes, dpi);
  return bytes;
}

std::string pdf(RsvgHandle* handle, double width, double height) {
  std::string bytes;
  const Surface surface(cairo_pdf_surface_create_for_stream(append, &bytes, width, height));
  draw(handle, surface.get(), width, height);
  cairo_surface_finish(surface.get());
  require(cairo_surface_status(surface.get()));
  return bytes;
}

}  // namespace

std::string rendered(const std::string& svg, ImageKind kind, double dpi) {
  if (kind == ImageKind::svg) return svg;
  GError* error = nullptr;
  const Handle handle(rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error));
  if (!handle) fail(error);
  rsvg_handle_set_dpi(handle.get(), kind == ImageKind::pdf ? 72 : dpi);
  double width = 0, height = 0;
  rsvg_handle_get_intrinsic_size_in_pixels(handle.get(), &width, &height);
  return kind == ImageKind::pdf ? pdf(handle.get(), width, height) : png(handle.get(), width, height, dpi);
}
#else
namespace {
constexpr bool renders = false;
}

std::string rendered(const std::string& svg, ImageKind, double) { return svg; }
#endif

ImageKind image_kind(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ending == ".svg") return ImageKind::svg;
  if (ending != ".png" && ending != ".pdf")
    throw ConfigError(fmt::format("-o {}: got the ending '{}', expected .svg, .png or .pdf", path, ending));
  if (!renders)
    throw ConfigError(
        fmt::format("-o {}: this program was built without librsvg and draws SVG only: use .svg, or "
                    "install librsvg2-dev and rebuild",
                    path));
  return ending == ".png" ? ImageKind::png : ImageKind::pdf;
}

}  // namespace obolus::cli
