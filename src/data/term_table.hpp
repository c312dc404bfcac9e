// Terms numbered in the order they were first seen. Open addressing at a load of at most one half; the terms' bytes
// stand one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace obolus {

class TermTable {
 public:
  TermTable() : slots_(std::size_t{1} << 16) {}

  [[nodiscard]] std::size_t size() const { return ends_.size() - 1; }
  [[nodiscard]] std::string_view operator[](std::size_t id) const {
    return {bytes_.data() + ends_[id], ends_[id + 1] - ends_[id]};
  }

  // The number of a term, new or known. Seven bytes behind the term must be readable.
  std::uint32_t number(const char* term, std::size_t size) {
    const std::uint64_t hash = mixed(term, size);
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.id_and_one == 0) return insert(at, hash, {term, size});
      const std::uint32_t id = slot.id_and_one - 1;
      if (slot.tag == tag && (*this)[id] == std::string_view(term, size)) return id;
    }
  }

 private:
  struct Slot {
    std::uint32_t id_and_one = 0;  // 0: free
    std::uint32_t tag = 0;         // the upper half of the hash: most comparisons of bytes are saved
  };

  static std::uint64_t mixed(std::uint64_t h) {
    h *= 0x9E3779B97F4A7C15u;
    return h ^ (h >> 29);
  }
  static std::uint64_t mixed(const char* term, std::size_t size) {
    std::uint64_t h = size, word = 0;
    for (; size > 8; term += 8, size -= 8) {
      std::memcpy(&word, term, 8);
      h = mixed(h ^ word);
    }
    std::memcpy(&word, term, 8);
    return mixed(mixed(h ^ (word & (~std::uint64_t{0} >> (64 - 8 * size)))));  // size ≥ 1
  }

  std::uint32_t insert(std::size_t at, std::uint64_t hash, std::string_view term) {
    const auto id = static_cast<std::uint32_t>(size());
    bytes_.insert(bytes_.end(), term.begin(), term.end());
    ends_.push_back(bytes_.size());
    hashes_.push_back(hash);
    slots_[at] = {id + 1, static_cast<std::uint32_t>(hash >> 32)};
    if (2 * size() > slots_.size()) grow();
    return id;
  }

  void grow() {
    std::vector<Slot> larger(2 * slots_.size());
    const std::size_t mask = larger.size() - 1;
    for (std::size_t id = 0; id < size(); ++id) {
      std::size_t at = hashes_[id] & mask;
      while (larger[at].id_and_one != 0) at = (at + 1) & mask;
      larger[at] = {static_cast<std::uint32_t>(id + 1), static_cast<std::uint32_t>(hashes_[id] >> 32)};
    }
    slots_.swap(larger);
  }

  std::vector<Slot> slots_;
  std::vector<char> bytes_;
  std::vector<std::size_t> ends_{0};
  std::vector<std::uint64_t> hashes_;
};

}  // namespace obolus
