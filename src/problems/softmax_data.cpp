#include "problems/softmax_data.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <tuple>
#include <utility>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/data/newsgroups.hpp"
#include "obolus/data/vectoriser.hpp"
#include "problems/softmax_rows.hpp"

namespace obolus {
namespace {

// Features by the number of their documents, the most first: what the documents of a batch have in common then lies close together
// in memory, and with it everything that is kept by feature.
std::vector<std::int32_t> ranks(const SparseRows& rows) {
  std::vector<std::int64_t> documents(to_size(rows.columns));
  for (const std::int32_t f : rows.column) ++documents[to_size(f)];
  std::vector<std::int32_t> order(documents.size()), rank(documents.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return documents[to_size(a)] > documents[to_size(b)]; });
  for (std::size_t i = 0; i < order.size(); ++i) rank[to_size(order[i])] = static_cast<std::int32_t>(i);
  return rank;
}

void renumber(SparseRows& rows, const std::vector<std::int32_t>& rank) {
  std::vector<std::pair<std::int32_t, float>> entries;
  for (std::size_t r = 0; r + 1 < rows.start.size(); ++r) {
    const auto first = to_size(rows.start[r]), last = to_size(rows.start[r + 1]);
    entries.clear();
    for (std::size_t k = first; k < last; ++k) entries.emplace_back(rank[to_size(rows.column[k])], rows.value[k]);
    std::sort(entries.begin(), entries.end());
    for (std::size_t k = first; k < last; ++k) std::tie(rows.column[k], rows.value[k]) = entries[k - first];
  }
}

LabelledRows newsgroups(const VectoriserOptions& options) {
  TokenisedCorpus corpus = load_newsgroups();
  Vectoriser vectoriser(options);
  vectoriser.fit(corpus, corpus.train);
  LabelledRows rows;
  rows.train = vectoriser.transform(corpus.train), rows.test = vectoriser.transform(corpus.test);
  const std::vector<std::int32_t> rank = ranks(rows.train);
  renumber(rows.train, rank), renumber(rows.test, rank);
  rows.train_label = std::move(corpus.train.label), rows.test_label = std::move(corpus.test.label);
  rows.classes = static_cast<Index>(corpus.classes.size());
  return rows;
}

}  // namespace

std::shared_ptr<const LabelledRows> load_rows(const SoftmaxOptions& options, std::uint64_t seed) {
  if (options.data == SoftmaxData::generated) return std::make_shared<const LabelledRows>(generate_rows(options, seed));
  if (options.data == SoftmaxData::rows) return std::make_shared<const LabelledRows>(rows_of_file(options.rows));
  static std::mutex mutex;
  static std::map<std::tuple<std::string, Weighting, StopWords, std::int64_t, std::int64_t, bool>,
                  std::weak_ptr<const LabelledRows>>
      alive;
  const VectoriserOptions& v = options.text;
  const std::lock_guard lock(mutex);
  auto& known = alive[{newsgroups_path(), v.weights, v.stop_words, v.max_features, v.hash_bits, v.normalise}];
  std::shared_ptr<const LabelledRows> rows = known.lock();
  if (!rows) known = rows = std::make_shared<const LabelledRows>(newsgroups(v));
  return rows;
}

}  // namespace obolus
