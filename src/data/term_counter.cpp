#include "data/term_counter.hpp"

#include <algorithm>
#include <utility>

#include "data/fold.hpp"
#include "obolus/core/parallel.hpp"

namespace obolus {
namespace {

std::uint64_t head_of(std::string_view term) {
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < 8; ++i) head = (head << 8) | (i < term.size() ? static_cast<unsigned char>(term[i]) : 0);
  return head;
}

// The terms of all counters in order; one found by several stands several times.
std::vector<TermCounter::Term> merged_terms(std::span<const TermCounter> counters) {
  std::vector<TermCounter::Term> all;
  for (std::size_t c = 0; c < counters.size(); ++c) {
    std::vector<TermCounter::Term> more = counters[c].sorted_terms(), both;
    for (TermCounter::Term& term : more) term.counter = static_cast<std::uint32_t>(c);
    both.reserve(all.size() + more.size());
    std::merge(all.begin(), all.end(), more.begin(), more.end(), std::back_inserter(both));
    all.swap(both);
  }
  return all;
}

// number[c][n]: the common number of what counter c calls n.
std::vector<std::vector<std::uint32_t>> number_terms(std::span<const TermCounter> counters,
                                                     std::vector<std::string>& terms) {
  std::vector<std::vector<std::uint32_t>> number;
  for (const TermCounter& counter : counters) number.emplace_back(counter.sorted_terms().size());
  for (const TermCounter::Term& term : merged_terms(counters)) {
    if (terms.empty() || terms.back() != term.text) terms.emplace_back(term.text);
    number[term.counter][term.number] = static_cast<std::uint32_t>(terms.size() - 1);
  }
  return number;
}

// Where the entries of a document are.
struct Found {
  const TermCounter* counter = nullptr;
  const std::vector<std::uint32_t>* number = nullptr;
  std::size_t begin = 0, end = 0;
};

void fill_row(const Found& found, std::span<std::uint64_t> packed, TokenisedCorpus::Part& part, std::size_t at) {
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const TermCounter::Entry& e = found.counter->entries()[found.begin + i];
    packed[i] = (std::uint64_t{(*found.number)[e.term]} << 32) | e.count;
  }
  std::sort(packed.begin(), packed.end());
  for (std::size_t i = 0; i < packed.size(); ++i) {
    part.term[at + i] = static_cast<std::int32_t>(packed[i] >> 32);
    part.count[at + i] = static_cast<std::int32_t>(packed[i] & 0xFFFFFFFFu);
  }
}

TokenisedCorpus::Part part_of(const PartOrder& order, const std::vector<Found>& found, ThreadPool& pool) {
  TokenisedCorpus::Part part;
  part.label = order.label;
  for (const std::size_t document : order.document)
    part.start.push_back(part.start.back() + static_cast<std::int64_t>(found[document].end - found[document].begin));
  const auto entries = static_cast<std::size_t>(part.start.back());
  part.term.resize(entries);
  part.count.resize(entries);
  std::vector<std::uint64_t> packed(entries);
  constexpr Index chunk = 256;
  const Index documents = part.documents();
  pool.run((documents + chunk - 1) / chunk, [&](Index i) {
    for (Index d = i * chunk; d < std::min(documents, (i + 1) * chunk); ++d) {
      const auto row = static_cast<std::size_t>(d);
      const auto at = static_cast<std::size_t>(part.start[row]);
      const std::size_t size = static_cast<std::size_t>(part.start[row + 1]) - at;
      fill_row(found[order.document[row]], std::span(packed).subspan(at, size), part, at);
    }
  });
  return part;
}

}  // namespace

void TermCounter::count(std::size_t document, std::string_view text) {
  fold(text, encoding_, folded_);
  const std::size_t begin = entries_.size();
  for_each_word(folded_, [&](const char* word, std::size_t size) {
    const std::uint32_t term = table_.number(word, size);
    if (term == place_.size()) place_.push_back(0);
    if (place_[term] > begin) {
      ++entries_[place_[term] - 1].count;
    } else {
      entries_.push_back({term, 1});
      place_[term] = entries_.size();
    }
  });
  documents_.push_back({document, begin, entries_.size()});
}

void TermCounter::sort_terms() {
  sorted_.reserve(table_.size());
  for (std::size_t i = 0; i < table_.size(); ++i)
    sorted_.push_back({head_of(table_[i]), table_[i], 0, static_cast<std::uint32_t>(i)});
  std::sort(sorted_.begin(), sorted_.end());
}

TokenisedCorpus join(std::span<const TermCounter> counters, std::vector<std::string> classes, const PartOrder& train,
                     const PartOrder& test, int threads) {
  TokenisedCorpus corpus;
  corpus.classes = std::move(classes);
  const auto number = number_terms(counters, corpus.terms);
  std::vector<Found> found(train.document.size() + test.document.size());
  for (std::size_t c = 0; c < counters.size(); ++c)
    for (const TermCounter::Counted& d : counters[c].documents())
      found.at(d.document) = {&counters[c], &number[c], d.begin, d.end};
  ThreadPool pool(threads);
  corpus.train = part_of(train, found, pool);
  corpus.test = part_of(test, found, pool);
  return corpus;
}

}  // namespace obolus
