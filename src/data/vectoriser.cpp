#include "obolus/data/vectoriser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "data/stop_words.hpp"
#include "data/term_hash.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/parallel.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

using Part = TokenisedCorpus::Part;

constexpr std::int32_t left_out = -1;
constexpr Index chunk_rows = 256;

bool is_stop_word(std::string_view term) {
  return std::binary_search(std::begin(english_stop_words), std::end(english_stop_words), term);
}

// How often each term occurs in the part.
std::vector<std::int64_t> totals(const Part& part, std::size_t terms) {
  std::vector<std::int64_t> total(terms);
  for (std::size_t i = 0; i < part.term.size(); ++i) total[to_size(part.term[i])] += part.count[i];
  return total;
}

void require_fitted(const Part& part, std::size_t terms) {
  for (const std::int32_t term : part.term)
    if (to_size(term) >= terms)
      throw DataError(
          fmt::format("documents to transform: got term {}, expected one of the {} terms fitted to", term, terms));
}

}  // namespace

Vectoriser::Vectoriser(const Options& options) : options_(options) {
  validate(options, "vectoriser");
  if (options.hash_bits > 0 && options.max_features > 0)
    throw ConfigError(
        fmt::format("vectoriser.max_features: got {} with hash_bits = {}, expected 0: hashing has no "
                    "vocabulary to limit",
                    options.max_features, options.hash_bits));
}

void Vectoriser::fit(const TokenisedCorpus& corpus, const Part& fitted_on) {
  require_fitted(fitted_on, corpus.terms.size());
  column_.assign(corpus.terms.size(), left_out);
  vocabulary_.clear();
  sign_.clear();
  idf_.clear();
  if (options_.hash_bits > 0) hash_terms(corpus);
  else choose_vocabulary(corpus, fitted_on);
  if (options_.weights == Weighting::tfidf) weigh(fitted_on);
}

// Among terms equally frequent at the limit, the alphabetically first are kept.
void Vectoriser::choose_vocabulary(const TokenisedCorpus& corpus, const Part& fitted_on) {
  const std::vector<std::int64_t> total = totals(fitted_on, corpus.terms.size());
  for (std::size_t i = 0; i < total.size(); ++i)
    if (total[i] > 0 && (options_.stop_words == StopWords::none || !is_stop_word(corpus.terms[i])))
      vocabulary_.push_back(static_cast<std::int32_t>(i));
  const auto limit = to_size(options_.max_features);
  if (limit > 0 && vocabulary_.size() > limit) {
    std::stable_sort(vocabulary_.begin(), vocabulary_.end(),
                     [&](std::int32_t a, std::int32_t b) { return total[to_size(a)] > total[to_size(b)]; });
    vocabulary_.resize(limit);
    std::sort(vocabulary_.begin(), vocabulary_.end());
  }
  columns_ = static_cast<Index>(vocabulary_.size());
  for (std::size_t j = 0; j < vocabulary_.size(); ++j) column_[to_size(vocabulary_[j])] = static_cast<std::int32_t>(j);
}

// The sign is the hash's, the column its absolute value modulo the number of columns.
void Vectoriser::hash_terms(const TokenisedCorpus& corpus) {
  columns_ = Index{1} << options_.hash_bits;
  sign_.resize(corpus.terms.size());
  for (std::size_t i = 0; i < corpus.terms.size(); ++i) {
    if (options_.stop_words == StopWords::english && is_stop_word(corpus.terms[i])) continue;
    const std::uint32_t hash = term_hash(corpus.terms[i]);
    const bool negative = hash >> 31 != 0;
    column_[i] = static_cast<std::int32_t>((negative ? 0 - hash : hash) & static_cast<std::uint32_t>(columns_ - 1));
    sign_[i] = negative ? -1.0f : 1.0f;
  }
}

// ln((1 + n) / (1 + df)) + 1, as if one more document held every term. A column whose signs cancel still counts as in
// the document, as in scikit-learn.
void Vectoriser::weigh(const Part& fitted_on) {
  std::vector<std::int64_t> documents(to_size(columns_)), last(documents.size(), -1);
  for (std::int64_t d = 0; d < fitted_on.documents(); ++d)
    for (std::int64_t i = fitted_on.start[d]; i < fitted_on.start[d + 1]; ++i) {
      const std::int32_t j = column_[to_size(fitted_on.term[i])];
      if (j != left_out && std::exchange(last[j], d) != d) ++documents[j];
    }
  const auto n = static_cast<double>(fitted_on.documents());
  for (const std::int64_t df : documents) idf_.push_back(std::log((1 + n) / (1 + static_cast<double>(df))) + 1);
}

// The columns of a document and their weights in double.
void Vectoriser::read_row(const Part& part, std::int64_t row, std::vector<Cell>& cells) const {
  cells.clear();
  for (std::int64_t i = part.start[row]; i < part.start[row + 1]; ++i) {
    const auto term = to_size(part.term[i]);
    if (column_[term] == left_out) continue;
    cells.push_back({column_[term], sign_.empty() ? double(part.count[i]) : double(sign_[term]) * part.count[i]});
  }
  if (!sign_.empty()) sum_by_column(cells);
  double square = 0;
  for (Cell& cell : cells) {
    if (!idf_.empty()) cell.value *= idf_[cell.column];
    square += cell.value * cell.value;
  }
  if (!options_.normalise || square == 0) return;
  const double length = std::sqrt(square);
  for (Cell& cell : cells) cell.value /= length;
}

// Terms that share a column are added up; whole numbers, so in any order.
void Vectoriser::sum_by_column(std::vector<Cell>& cells) {
  std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) { return a.column < b.column; });
  std::size_t kept = 0;
  for (const Cell& cell : cells) {
    if (kept > 0 && cells[kept - 1].column == cell.column) cells[kept - 1].value += cell.value;
    else cells[kept++] = cell;
  }
  cells.resize(kept);
}

std::int64_t Vectoriser::row_size(const Part& part, std::int64_t row, std::vector<Cell>& cells) const {
  if (!sign_.empty()) {
    read_row(part, row, cells);
    return static_cast<std::int64_t>(cells.size());
  }
  return std::count_if(part.term.begin() + part.start[row], part.term.begin() + part.start[row + 1],
                       [&](std::int32_t term) { return column_[to_size(term)] != left_out; });
}

SparseRows Vectoriser::transform(const Part& part, int threads) const {
  require_fitted(part, column_.size());
  const Index documents = part.documents();
  SparseRows rows;
  rows.columns = columns_;
  rows.start.resize(part.start.size());
  ThreadPool pool(threads);
  const auto for_each_row = [&](auto&& body) {
    pool.run((documents + chunk_rows - 1) / chunk_rows, [&](Index i) {
      std::vector<Cell> cells;
      for (Index d = i * chunk_rows; d < std::min(documents, (i + 1) * chunk_rows); ++d) body(d, cells);
    });
  };
  for_each_row([&](Index d, std::vector<Cell>& cells) { rows.start[d + 1] = row_size(part, d, cells); });
  for (Index d = 0; d < documents; ++d) rows.start[d + 1] += rows.start[d];
  rows.column.resize(to_size(rows.start.back()));
  rows.value.resize(rows.column.size());
  for_each_row([&](Index d, std::vector<Cell>& cells) {
    read_row(part, d, cells);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      rows.column[rows.start[d] + i] = cells[i].column;
      rows.value[rows.start[d] + i] = static_cast<float>(cells[i].value);
    }
  });
  return rows;
}

}  // namespace obolus
