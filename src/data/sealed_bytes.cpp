#include "data/sealed_bytes.hpp"

#include <cstring>

#include "data/checksum.hpp"

namespace obolus {
namespace {

struct Header {
  char magic[8];
  std::uint32_t version, reserved;
  std::uint64_t size, checksum;
};

}  // namespace

std::string sealed(std::string_view magic, std::uint32_t version, std::span<const std::byte> bytes) {
  Header header{};
  std::memcpy(header.magic, magic.data(), sizeof header.magic);
  header.version = version;
  header.size = bytes.size();
  header.checksum = checksum(bytes.data(), bytes.size());
  std::string content(sizeof header + bytes.size(), '\0');
  std::memcpy(content.data(), &header, sizeof header);
  if (!bytes.empty()) std::memcpy(content.data() + sizeof header, bytes.data(), bytes.size());
  return content;
}

Unsealed unsealed(std::string_view content, std::string_view magic, std::uint32_t oldest, std::uint32_t newest) {
  Header header{};
  if (content.size() < sizeof header || !content.starts_with(magic)) return {SealFault::another_file, 0, {}};
  std::memcpy(&header, content.data(), sizeof header);
  if (header.version < oldest || header.version > newest) return {SealFault::another_version, header.version, {}};
  const std::span bytes(reinterpret_cast<const std::byte*>(content.data()) + sizeof header,
                        content.size() - sizeof header);
  if (bytes.size() != header.size || header.reserved != 0 || checksum(bytes.data(), bytes.size()) != header.checksum)
    return {SealFault::damaged, header.version, {}};
  return {SealFault::none, header.version, bytes};
}

}  // namespace obolus
