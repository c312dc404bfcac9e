// Rows summed up in a number, so that a resumed run notices others.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "data/checksum.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/data/rows.hpp"

namespace obolus::fit {

struct RowsDigest {
  std::uint64_t value = 0x9E3779B97F4A7C15u;
  std::size_t groups = 0;  // whose names are in it

  void add(const DataRow& row) {
    mix(checksum(row.label.data(), row.label.size()));
    mix(std::bit_cast<std::uint64_t>(row.weight));
    mix(row.features.size());
    for (const RowFeature& f : row.features) mix(f.key ^ (std::uint64_t{std::bit_cast<std::uint32_t>(f.value)} << 32));
  }
  void add_group(const std::string& name) {
    ++groups;
    mix(checksum(name.data(), name.size()));
  }

 private:
  void mix(std::uint64_t v) {
    value = (value ^ v) * 0x100000001b3u;
    value ^= value >> 29;
  }
};

// How far a run has read.
struct RowsRead {
  std::int64_t count = 0;
  RowsDigest digest;

  void fields(Archive& a) {
    a("rows", count);
    a("digest", digest.value);
  }
};

}  // namespace obolus::fit
