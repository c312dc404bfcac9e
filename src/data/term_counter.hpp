// The counts of one thread: the terms of its documents, under numbers of its own; and the joining of all threads'
// counts. The result does not depend on which thread counted which document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/fold.hpp"
#include "data/term_table.hpp"
#include "obolus/data/text.hpp"

namespace obolus {

class TermCounter {
 public:
  explicit TermCounter(Encoding encoding) : encoding_(encoding) {}

  void count(std::size_t document, std::string_view text);
  void sort_terms();  // once, after the last document

  using Entry = std::uint64_t;  // term in the upper half, count in the lower, so that they sort by term
  static std::uint32_t term_of(Entry e) { return static_cast<std::uint32_t>(e >> 32); }
  static std::uint32_t count_of(Entry e) { return static_cast<std::uint32_t>(e); }

  struct Counted {
    std::size_t document, begin, end;  // entries
  };
  struct Term {
    std::uint64_t head;  // its first eight bytes as one number, which decides most comparisons
    std::string_view text;
    std::uint32_t counter, number;

    friend bool operator<(const Term& a, const Term& b) { return a.head != b.head ? a.head < b.head : a.text < b.text; }
  };
  [[nodiscard]] std::span<Entry> entries(const Counted& d) {
    return std::span(entries_).subspan(d.begin, d.end - d.begin);
  }
  [[nodiscard]] const std::vector<Counted>& documents() const { return documents_; }
  [[nodiscard]] const std::vector<Term>& sorted_terms() const { return sorted_; }

 private:
  struct HashedWord {
    FoldedWord word;
    std::uint64_t hash;
  };

  Encoding encoding_;
  TermTable table_;  // a term's note: its place among the entries of the current document, if it is there
  FoldedText folded_;
  std::vector<HashedWord> words_;  // of the current document
  std::vector<Entry> entries_;
  std::vector<Counted> documents_;
  std::vector<Term> sorted_;
};

// The order of a part's documents, by the numbers they were counted under.
struct PartOrder {
  std::vector<std::size_t> document;
  std::vector<std::int32_t> label;
};

[[nodiscard]] TokenisedCorpus join(std::vector<TermCounter> counters, std::vector<std::string> classes,
                                   const PartOrder& train, const PartOrder& test, int threads);

}  // namespace obolus
