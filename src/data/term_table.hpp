// Terms numbered in the order of first appearance. Open addressing with a load of at most one half; most terms have at
// most eight bytes and are identified by these alone, the bytes of the others are stored one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace obolus {

// A word in a folded text; eight bytes after it may be read.
struct FoldedWord {
  const char* bytes;
  std::size_t size;
  std::uint64_t head;  // the first eight bytes, with zeros for what is missing
};

class TermTable {
 public:
  TermTable() : slots_(std::size_t{1} << 16) {}

  struct Term {
    std::uint64_t head;
    std::uint64_t begin;  // among the bytes
    std::uint32_t size;
    std::uint32_t note = 0;  // the caller's
  };

  [[nodiscard]] std::size_t size() const { return terms_.size(); }
  [[nodiscard]] const Term& operator[](std::size_t number) const { return terms_[number]; }
  [[nodiscard]] Term& operator[](std::size_t number) { return terms_[number]; }
  [[nodiscard]] std::string_view text(std::size_t number) const {
    return {bytes_.data() + terms_[number].begin, terms_[number].size};
  }

  [[nodiscard]] static std::uint64_t hash_of(const FoldedWord& word) {
    std::uint64_t h = mixed(word.head ^ word.size), more = 0;
    for (std::size_t i = 8; i < word.size; i += 8) {
      std::memcpy(&more, word.bytes + (word.size - i < 8 ? word.size - 8 : i), 8);  // the last eight may overlap
      h = mixed(h ^ more);
    }
    return mixed(h);
  }

  // The tables outgrow the caches: callers that know words in advance prefetch first the slot, later the term.
  void expect(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
  void expect_soon(std::uint64_t hash) const {
    const std::uint32_t first = slots_[hash & (slots_.size() - 1)].number_and_one;
    __builtin_prefetch(terms_.data() + (first == 0 ? 0 : first - 1));
  }

  // The number of a term, new or known; `hash` is its hash_of.
  std::uint32_t number(const FoldedWord& word, std::uint64_t hash) {
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.number_and_one == 0) return insert(at, tag, word);
      if (slot.tag == tag && is(terms_[slot.number_and_one - 1], word)) return slot.number_and_one - 1;
    }
  }

 private:
  struct Slot {
    std::uint32_t number_and_one = 0;  // 0: free
    std::uint32_t tag = 0;             // the upper half of the hash, which rules out most other terms
  };

  static std::uint64_t mixed(std::uint64_t h) {
    h *= 0x9E3779B97F4A7C15u;
    return h ^ (h >> 29);
  }

  [[nodiscard]] bool is(const Term& term, const FoldedWord& word) const {
    return term.head == word.head && term.size == word.size &&
           (word.size <= 8 || std::memcmp(bytes_.data() + term.begin + 8, word.bytes + 8, word.size - 8) == 0);
  }

  std::uint32_t insert(std::size_t at, std::uint32_t tag, const FoldedWord& word) {
    terms_.push_back({word.head, bytes_.size(), static_cast<std::uint32_t>(word.size)});
    bytes_.insert(bytes_.end(), word.bytes, word.bytes + word.size);
    slots_[at] = {static_cast<std::uint32_t>(size()), tag};
    if (2 * size() > slots_.size()) grow();
    return static_cast<std::uint32_t>(size() - 1);
  }

  void grow() {
    std::vector<Slot> larger(2 * slots_.size());
    const std::size_t mask = larger.size() - 1;
    for (std::size_t i = 0; i < size(); ++i) {
      const std::uint64_t hash = hash_of({bytes_.data() + terms_[i].begin, terms_[i].size, terms_[i].head});
      std::size_t at = hash & mask;
      while (larger[at].number_and_one != 0) at = (at + 1) & mask;
      larger[at] = {static_cast<std::uint32_t>(i + 1), static_cast<std::uint32_t>(hash >> 32)};
    }
    slots_.swap(larger);
  }

  std::vector<Slot> slots_;
  std::vector<Term> terms_;
  std::vector<char> bytes_;
};

}  // namespace obolus
