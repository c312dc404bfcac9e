#include "problems/softmax_data.hpp"

#include <map>
#include <mutex>
#include <tuple>

#include "obolus/core/error.hpp"
#include "obolus/data/newsgroups.hpp"
#include "obolus/data/vectoriser.hpp"

namespace obolus {
namespace {

LabelledRows newsgroups(const VectoriserOptions& options) {
  TokenisedCorpus corpus = load_newsgroups();
  Vectoriser vectoriser(options);
  vectoriser.fit(corpus, corpus.train);
  LabelledRows rows;
  rows.train = vectoriser.transform(corpus.train), rows.test = vectoriser.transform(corpus.test);
  rows.train_label = std::move(corpus.train.label), rows.test_label = std::move(corpus.test.label);
  rows.classes = static_cast<Index>(corpus.classes.size());
  return rows;
}

}  // namespace

std::shared_ptr<const LabelledRows> load_rows(const SoftmaxOptions& options, std::uint64_t seed) {
  if (options.data == SoftmaxData::generated) return std::make_shared<const LabelledRows>(generate_rows(options, seed));
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
