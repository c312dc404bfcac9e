#include "page.hpp"

#include <zlib.h>

#include <stdexcept>

#include "obolus/core/error.hpp"

namespace obolus::cli {

// Made by the build from web/; empty if there was no npm.
extern const unsigned char page_bytes[];
extern const std::size_t page_size;

namespace {

constexpr std::string_view place = "@OBOLUS_DATA@";

std::string deflated(std::string_view data) {
  uLongf size = ::compressBound(data.size());
  std::string out(size, '\0');
  if (::compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(data.data()), data.size(),
                  6) != Z_OK)
    throw std::runtime_error("zlib could not compress a report");
  out.resize(size);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  const auto at = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned group = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? letters[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string filled(std::string_view text) {
  const std::string_view whole = page();
  const std::size_t at = whole.find(place);
  if (at == std::string_view::npos) throw std::runtime_error("the page has no placeholder for its data");
  std::string out(whole.substr(0, at));
  out += text;
  out += whole.substr(at + place.size());
  return out;
}

}  // namespace

std::string_view page() {
  if (page_size == 0)
    throw ConfigError(
        "this program was built without its web page: install npm (Debian: `apt-get install npm`) and rebuild");
  return {reinterpret_cast<const char*>(page_bytes), page_size};
}

std::string page_with(std::string_view data) { return filled(base64(deflated(data))); }
std::string live_page() { return filled("live"); }

}  // namespace obolus::cli
