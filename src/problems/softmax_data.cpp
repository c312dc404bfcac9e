#include "problems/softmax_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <tuple>
#include <utility>

#include "kernels/softmax/kernels.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/data/newsgroups.hpp"
#include "obolus/data/vectoriser.hpp"
#include "problems/softmax_rows.hpp"

namespace obolus {
namespace {

// Features by the number of their documents, in descending order: features that the documents of a batch share then lie
// close together in memory, and so does everything stored by feature.
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

void check_rows(const SparseRows& rows, const std::vector<std::int32_t>& labels, Index classes, const char* part) {
  const auto refuse = [&](std::size_t row, const std::string& what) {
    throw DataError(fmt::format("softmax_l2: row {} of {}: {}", row, part, what));
  };
  if (labels.size() + 1 != rows.start.size())
    throw DataError(fmt::format("softmax_l2: got {} labels of {}, expected {}", labels.size(), part, rows.rows()));
  for (std::size_t r = 0; r < labels.size(); ++r) {
    if (labels[r] < 0 || labels[r] >= classes)
      refuse(r, fmt::format("got label {}, expected 0 to {}", labels[r], classes - 1));
    std::int32_t before = -1;
    for (auto k = to_size(rows.start[r]); k < to_size(rows.start[r + 1]); ++k) {
      if (rows.column[k] <= before || rows.column[k] >= rows.columns)
        refuse(r, fmt::format("got column {} after {}, expected columns that ascend, below {}", rows.column[k], before,
                              rows.columns));
      before = rows.column[k];
    }
  }
}

// Term k of the vocabulary has weight ~ 1/(k + 4), and three times that in class k mod classes.
void generate(Index documents, const SoftmaxOptions& o, Rng rng, SparseRows& rows, std::vector<std::int32_t>& labels) {
  rows.columns = static_cast<Index>(o.features);
  std::vector<std::pair<std::int32_t, float>> terms;
  for (Index i = 0; i < documents; ++i) {
    const auto label = static_cast<std::int32_t>(i % o.classes);
    const auto length = 4 + rng.below(static_cast<std::uint64_t>(std::min<std::int64_t>(o.features, 60)));
    terms.clear();
    for (std::uint64_t w = 0; w < length; ++w) {
      // The inverse of the law's distribution, then towards a term of the document's class half of the time.
      const double u = rng.uniform(), n = static_cast<double>(o.features);
      auto term = static_cast<std::int64_t>(4.0 * std::pow((n + 4.0) / 4.0, u) - 4.0);
      if (rng.uniform() < 0.5) term += (label - term % o.classes + o.classes) % o.classes;
      terms.emplace_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(term, 0, o.features - 1)), 1.0f);
    }
    std::sort(terms.begin(), terms.end());
    double squares = 0.0;
    const auto first = rows.value.size();
    for (const auto& [term, count] : terms) {
      if (rows.value.size() > first && rows.column.back() == term) rows.value.back() += count;
      else {
        rows.column.push_back(term);
        rows.value.push_back(count);
      }
    }
    for (std::size_t k = first; k < rows.value.size(); ++k) squares += double(rows.value[k]) * double(rows.value[k]);
    for (std::size_t k = first; k < rows.value.size(); ++k)
      rows.value[k] = static_cast<float>(double(rows.value[k]) / std::sqrt(squares));
    rows.start.push_back(static_cast<std::int64_t>(rows.value.size()));
    labels.push_back(label);
  }
}

LabelledRows newsgroups(const VectoriserOptions& options) {
  TokenisedCorpus corpus = load_newsgroups();
  Vectoriser vectoriser(options);
  vectoriser.fit(corpus, corpus.train);
  LabelledRows rows;
  rows.train = vectoriser.transform(corpus.train);
  rows.test = vectoriser.transform(corpus.test);
  const std::vector<std::int32_t> rank = ranks(rows.train);
  renumber(rows.train, rank);
  renumber(rows.test, rank);
  rows.train_label = std::move(corpus.train.label);
  rows.test_label = std::move(corpus.test.label);
  rows.classes = static_cast<Index>(corpus.classes.size());
  return rows;
}

}  // namespace

LabelledRows generate_rows(const SoftmaxOptions& options, std::uint64_t seed) {
  LabelledRows data;
  data.classes = static_cast<Index>(options.classes);
  const Rng rng = Rng(seed).child("documents");
  generate(options.documents, options, rng.child("train"), data.train, data.train_label);
  generate(options.documents / 2, options, rng.child("test"), data.test, data.test_label);
  return data;
}

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

std::shared_ptr<const LabelledRows> require_valid(std::shared_ptr<const LabelledRows> data) {
  if (data->classes > kernels::softmax::max_classes)
    throw DataError(
        fmt::format("softmax_l2: got {} classes, expected at most {}", data->classes, kernels::softmax::max_classes));
  check_rows(data->train, data->train_label, data->classes, "train");
  check_rows(data->test, data->test_label, data->classes, "test");
  return data;
}

}  // namespace obolus
