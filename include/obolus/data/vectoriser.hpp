// Documents as rows of numbers, the same as those of scikit-learn's CountVectorizer, TfidfVectorizer and
// HashingVectorizer. Options and what they correspond to: docs/data.md.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "obolus/core/options.hpp"
#include "obolus/data/sparse_rows.hpp"
#include "obolus/data/text.hpp"

namespace obolus {

enum class Weighting : std::uint8_t { tfidf, counts };
template <>
struct EnumNames<Weighting> {
  static constexpr std::array<std::pair<Weighting, std::string_view>, 2> values{
      {{Weighting::tfidf, "tfidf"}, {Weighting::counts, "counts"}}};
};

enum class StopWords : std::uint8_t { none, english };
template <>
struct EnumNames<StopWords> {
  static constexpr std::array<std::pair<StopWords, std::string_view>, 2> values{
      {{StopWords::none, "none"}, {StopWords::english, "english"}}};
};

struct VectoriserOptions {
  Weighting weights = Weighting::tfidf;
  StopWords stop_words = StopWords::none;
  std::int64_t max_features = 0;
  std::int64_t hash_bits = 0;
  bool normalise = true;

  template <class V>
  void describe(V&& v) {
    v("weights", weights, "what a term weighs in a document: tfidf or counts");
    v("stop_words", stop_words, "words left out: none, or the 318 of english");
    v("max_features", max_features, "keep this many of the most frequent terms; 0: all", Range::between(0, 2147483647));
    v("hash_bits", hash_bits, "hash terms into 2^hash_bits columns, without a vocabulary; 0: one column per term",
      Range::between(0, 30));
    v("normalise", normalise, "scale each document to Euclidean length 1");
  }
};

class Vectoriser {
 public:
  using Options = VectoriserOptions;

  explicit Vectoriser(const Options& options);  // throws ConfigError

  // Which terms are kept, and what they weigh, is decided by `fitted_on`; the corpus gives the terms their names.
  void fit(const TokenisedCorpus& corpus, const TokenisedCorpus::Part& fitted_on);
  // The part must belong to the corpus given to fit. Rows do not depend on the number of threads.
  [[nodiscard]] SparseRows transform(const TokenisedCorpus::Part& part, int threads = 1) const;

  [[nodiscard]] Index size() const { return columns_; }
  // Kept terms as indices into the corpus's terms, ascending: column j is of term vocabulary()[j]. Empty when hashing.
  [[nodiscard]] const std::vector<std::int32_t>& vocabulary() const { return vocabulary_; }

 private:
  struct Cell {
    std::int32_t column;
    double value;
  };

  void choose_vocabulary(const TokenisedCorpus& corpus, const TokenisedCorpus::Part& fitted_on);
  void hash_terms(const TokenisedCorpus& corpus);
  void weigh(const TokenisedCorpus::Part& fitted_on);
  void read_row(const TokenisedCorpus::Part& part, std::int64_t row, std::vector<Cell>& cells) const;
  std::int64_t row_size(const TokenisedCorpus::Part& part, std::int64_t row, std::vector<Cell>& cells) const;
  static void sum_by_column(std::vector<Cell>& cells);

  Options options_;
  Index columns_ = 0;
  std::vector<std::int32_t> vocabulary_;
  std::vector<std::int32_t> column_;  // of each term of the corpus; −1: left out
  std::vector<float> sign_;           // of each term, when hashing
  std::vector<double> idf_;           // of each column, for tfidf
};

}  // namespace obolus
