#include "data/idx.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "obolus/core/error.hpp"

namespace obolus {
namespace {

constexpr std::size_t word = 4, max_sizes = 4;
constexpr unsigned char unsigned_bytes = 0x08;

std::uint32_t big_endian_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < word; ++i) value = (value << 8) | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void require_sizes(const IdxArray& array, std::size_t expected, const std::string& where, const char* what) {
  if (array.sizes.size() != expected)
    throw DataError(fmt::format("{}: got {} sizes, expected {}: {}", where, array.sizes.size(), expected, what));
}

}  // namespace

IdxArray parse_idx(std::string_view bytes, const std::string& where) {
  const auto refuse = [&](const std::string& what) { throw DataError(where + ": " + what); };
  if (bytes.size() < word) refuse(fmt::format("got {} bytes, expected an IDX file", bytes.size()));
  if (bytes[0] != 0 || bytes[1] != 0) refuse("does not begin with two 0 bytes, as an IDX file does");
  const auto type = static_cast<unsigned char>(bytes[2]);
  if (type != unsigned_bytes) refuse(fmt::format("got numbers of type 0x{:02x}, expected 0x08, unsigned bytes", type));
  const auto count = static_cast<unsigned char>(bytes[3]);
  if (count == 0 || count > max_sizes) refuse(fmt::format("got {} sizes, expected 1 to {}", count, max_sizes));
  const std::size_t head = word * (1u + count);
  if (bytes.size() < head) refuse(fmt::format("ends within its sizes, after {} bytes", bytes.size()));
  IdxArray array{{}, bytes.substr(head)};
  std::uint64_t numbers = 1;
  for (std::size_t i = 0; i < count; ++i) {
    array.sizes.push_back(big_endian_at(bytes, word * (1 + i)));
    if (array.sizes.back() == 0) refuse("got a size of 0, expected at least 1");
    // Cannot overflow: a product above the cap is refused at once.
    numbers *= array.sizes.back();
    if (numbers > max_idx_file) refuse(fmt::format("got more than {} numbers, expected at most that", max_idx_file));
  }
  if (array.numbers.size() != numbers)
    refuse(fmt::format("got {} numbers, expected {} by its sizes", array.numbers.size(), numbers));
  return array;
}

Pictures pictures_of_idx(const NamedBytes& pictures, const NamedBytes& labels, Index classes) {
  const IdxArray grey = parse_idx(pictures.bytes, pictures.name), of = parse_idx(labels.bytes, labels.name);
  require_sizes(grey, 3, pictures.name, "pictures, height and width");
  require_sizes(of, 1, labels.name, "labels");
  if (grey.sizes[0] != of.sizes[0])
    throw DataError(fmt::format("{}: got {} labels, expected {}, one for each picture of {}", labels.name, of.sizes[0],
                                grey.sizes[0], pictures.name));
  const auto wrong = std::find_if(of.numbers.begin(), of.numbers.end(),
                                  [&](char c) { return static_cast<unsigned char>(c) >= classes; });
  if (wrong != of.numbers.end())
    throw DataError(fmt::format("{}: label {}: got {}, expected 0 to {}", labels.name, wrong - of.numbers.begin(),
                                static_cast<unsigned char>(*wrong), classes - 1));
  return {static_cast<Index>(grey.sizes[1]),
          static_cast<Index>(grey.sizes[2]),
          {grey.numbers.begin(), grey.numbers.end()},
          {of.numbers.begin(), of.numbers.end()}};
}

}  // namespace obolus
