// What one thread counts: the terms of the documents it was given, under numbers of its own; and how the counts of all
// threads are joined. Which thread had which document leaves no trace in the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/term_table.hpp"
#include "obolus/data/text.hpp"

namespace obolus {

class TermCounter {
 public:
  explicit TermCounter(Encoding encoding) : encoding_(encoding) {}

  void count(std::size_t document, std::string_view text);
  void sort_terms();  // once, after the last document

  struct Entry {
    std::uint32_t term, count;
  };
  struct Counted {
    std::size_t document, begin, end;  // entries
  };
  struct Term {
    std::uint64_t head;  // its first eight bytes as one number, which decides most comparisons
    std::string_view text;
    std::uint32_t counter, number;

    friend bool operator<(const Term& a, const Term& b) { return a.head != b.head ? a.head < b.head : a.text < b.text; }
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const std::vector<Counted>& documents() const { return documents_; }
  [[nodiscard]] const std::vector<Term>& sorted_terms() const { return sorted_; }

 private:
  Encoding encoding_;
  TermTable table_;
  std::vector<char> folded_;
  std::vector<std::size_t> place_;  // of each term: one more than its last entry, be it of this document or before
  std::vector<Entry> entries_;
  std::vector<Counted> documents_;
  std::vector<Term> sorted_;
};

// A part's documents in the order wanted, by the numbers they were counted under.
struct PartOrder {
  std::vector<std::size_t> document;
  std::vector<std::int32_t> label;
};

[[nodiscard]] TokenisedCorpus join(std::span<const TermCounter> counters, std::vector<std::string> classes,
                                   const PartOrder& train, const PartOrder& test, int threads);

}  // namespace obolus
