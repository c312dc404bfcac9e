// Maps features' keys to slots, the rows of weights: one for every key, or hashed into a fixed number of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fit/model/saved_vectors.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

class FeatureTable {
 public:
  static constexpr std::int64_t max = std::int64_t{1} << 27;

  explicit FeatureTable(int hash_bits) : bits_(hash_bits) {
    if (bits_ == 0) table_.resize(1024, {0, empty});
  }

  [[nodiscard]] std::int64_t slots() const { return bits_ > 0 ? std::int64_t{1} << bits_ : count_; }

  // A new key gets the next slot.
  std::int32_t slot(std::uint64_t key) {
    if (bits_ > 0) return hashed(key);
    Place& place = table_[find(key)];
    if (place.slot != empty) return place.slot;
    if (count_ == max)
      throw DataError("got more than " + std::to_string(max) + " different features, expected fewer; give --hash-bits");
    place = {key, static_cast<std::int32_t>(count_++)};
    const std::int32_t slot = place.slot;
    if (to_size(count_) * 2 > table_.size()) grow();
    return slot;
  }
  // −1 for an unknown key.
  [[nodiscard]] std::int32_t known(std::uint64_t key) const { return bits_ > 0 ? hashed(key) : table_[find(key)].slot; }

  // (key, slot) of every key that has a slot of its own.
  template <class F>
  void each(F&& f) const {
    for (const Place& p : table_)
      if (p.slot != empty) f(p.key, p.slot);
  }

  void fields(Archive& a) {
    std::vector<std::uint64_t> keys(to_size(count_));
    each([&](std::uint64_t key, std::int32_t slot) { keys[to_size(slot)] = key; });
    a("bits", bits_);
    saved(a, "keys", keys);
    if (!a.loading()) return;
    if (bits_ < 0 || bits_ > 30 || static_cast<std::int64_t>(keys.size()) > max)
      throw DataError("saved state: the table of features has an impossible size");
    *this = FeatureTable(bits_);
    for (const std::uint64_t key : keys) slot(key);
    if (bits_ == 0 && slots() != static_cast<std::int64_t>(keys.size()))
      throw DataError("saved state: got a feature twice, expected each once");
  }

 private:
  static constexpr std::int32_t empty = -1;
  struct Place {
    std::uint64_t key;
    std::int32_t slot;
  };

  static std::uint64_t mixed(std::uint64_t key) {
    key = (key ^ (key >> 32)) * 0x9E3779B97F4A7C15u;
    return key ^ (key >> 29);
  }
  [[nodiscard]] std::int32_t hashed(std::uint64_t key) const {
    return static_cast<std::int32_t>(mixed(key) & ((std::uint64_t{1} << bits_) - 1));
  }
  [[nodiscard]] std::size_t find(std::uint64_t key) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = mixed(key) & mask;
    while (table_[at].slot != empty && table_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Place> old(table_.size() * 2, {0, empty});
    old.swap(table_);
    for (const Place& p : old)
      if (p.slot != empty) table_[find(p.key)] = p;
  }

  int bits_;
  std::int64_t count_ = 0;
  std::vector<Place> table_;
};

}  // namespace obolus::fit
