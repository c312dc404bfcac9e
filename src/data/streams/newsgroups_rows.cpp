#include <array>
#include <numeric>
#include <utility>

#include "data/append_format.hpp"
#include "data/streams/numbered_classes.hpp"
#include "data/streams/stream_rows.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/data/vectoriser.hpp"

namespace obolus {
namespace {

struct ShuffledPart {
  SparseRows rows;
  std::vector<std::int32_t> label;
  std::vector<Index> order;
};

class NewsgroupsRows : public StreamRows {
 public:
  NewsgroupsRows(const TokenisedCorpus& corpus, std::int64_t seed, int threads)
      : classes_(numbered_classes(corpus.classes.size())) {
    Vectoriser vectoriser({});
    vectoriser.fit(corpus, corpus.train);
    const Rng rng(static_cast<std::uint64_t>(seed));
    for (std::size_t i = 0; i < 2; ++i) {
      const TokenisedCorpus::Part& part = i == 0 ? corpus.train : corpus.test;
      parts_[i] = {vectoriser.transform(part, threads), part.label, {}};
      parts_[i].order.resize(part.label.size());
      std::iota(parts_[i].order.begin(), parts_[i].order.end(), Index{0});
      rng.child("documents", i).shuffle(parts_[i].order);
    }
  }

  [[nodiscard]] const std::vector<std::string>& classes() const override { return classes_; }
  [[nodiscard]] bool next(StreamRow& row) override {
    if (part_ < 2 && at_ == parts_[part_].order.size()) {
      ++part_;
      at_ = 0;
    }
    if (part_ == 2) return false;
    const ShuffledPart& part = parts_[part_];
    const auto document = to_size(part.order[at_++]);
    row.label = to_size(part.label[document]);
    row.after.clear();
    for (auto i = to_size(part.rows.start[document]); i < to_size(part.rows.start[document + 1]); ++i)
      append_format(row.after, " {}:{:.5g}", part.rows.column[i] + 1, part.rows.value[i]);
    return true;
  }

 private:
  std::vector<std::string> classes_;
  std::array<ShuffledPart, 2> parts_;
  std::size_t part_ = 0, at_ = 0;
};

}  // namespace

std::unique_ptr<StreamRows> newsgroups_rows(const TokenisedCorpus& corpus, std::int64_t seed, int threads) {
  return std::make_unique<NewsgroupsRows>(corpus, seed, threads);
}

}  // namespace obolus
