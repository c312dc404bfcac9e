// The rows of a round of `softmax_l2` and their labels. Everything follows from (seed, t): rounds may be asked for in
// any order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "obolus/core/oracle.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/problems/softmax_options.hpp"

namespace obolus {

// Rows of the training data with their labels; the first `inner` are g's, the others f's.
struct RoundRows {
  std::vector<std::int32_t> row, label;
  Index inner = 0;

  bool operator==(const RoundRows&) const = default;
  [[nodiscard]] Index size() const { return static_cast<Index>(row.size()); }
  [[nodiscard]] Index outer() const { return size() - inner; }
  void clear() {
    row.clear();
    label.clear();
    inner = 0;
  }
  void draw(SampleSizes sizes, Rng& rng, RoundRows& out) const;  // with replacement; none from an empty part
};

class SoftmaxPools {
 public:
  SoftmaxPools(const SoftmaxOptions& options, std::shared_ptr<const LabelledRows> data, std::uint64_t seed);

  [[nodiscard]] const LabelledRows& data() const { return *data_; }
  [[nodiscard]] Index classes() const { return data_->classes; }
  [[nodiscard]] Index features() const { return data_->train.columns; }
  // Rows of g's and of f's pool; the same ones unless the rounds are split.
  [[nodiscard]] const std::vector<std::int32_t>& inner_pool() const { return inner_; }
  [[nodiscard]] const std::vector<std::int32_t>& outer_pool() const { return outer_; }

  // From now on every round has these rows, until others are given; the owner of the data may have changed it
  // meanwhile.
  void give(RoundRows rows) { given_ = std::move(rows); }
  [[nodiscard]] bool given() const { return given_.has_value(); }
  void of_round(Round t, RoundRows& out);  // as revealed
  // With replacement, from the whole pools.
  void draw(Round t, SampleSizes sizes, Rng& rng, RoundRows& out);
  [[nodiscard]] std::int32_t label(std::int32_t row, Round t);        // with round t's noise and drift
  [[nodiscard]] std::int32_t clean_label(std::int32_t row, Round t);  // with its drift alone
  [[nodiscard]] std::int32_t test_label(std::int32_t row, Round t);   // likewise
  [[nodiscard]] double noise(Round t) const;                          // part of wrong labels

 private:
  // The sequence of a pool's rows, epoch after epoch, each a permutation of its own. The latest epochs asked for are
  // kept.
  struct Epoch {
    std::int64_t number = -1;
    std::vector<std::int32_t> order;
  };
  struct Shuffled {
    const char* name;
    std::vector<Epoch> kept = std::vector<Epoch>(2);
  };

  void split(Rng rng);
  std::int32_t at(Shuffled& shuffled, const std::vector<std::int32_t>& pool, std::int64_t position);
  void add(std::int32_t row, Round labelled_in, RoundRows& out);
  void judged(Round t, RoundRows& out);
  const std::vector<std::int32_t>& names_of(Round t);  // what the drift calls each class

  SoftmaxOptions options_;
  std::shared_ptr<const LabelledRows> data_;
  Rng rng_;
  std::vector<std::int32_t> inner_, outer_;
  std::vector<double> flip_threshold_;     // by row: its label is wrong when the noise exceeds this
  std::vector<std::int32_t> wrong_label_;  // the label it has then
  Shuffled inner_order_{"inner"}, outer_order_{"outer"};
  std::optional<RoundRows> given_;
  std::int64_t names_period_ = -1;
  std::vector<std::int32_t> names_;
};

// Rows in which every class has terms of its own and all share frequent ones.
[[nodiscard]] LabelledRows generate_rows(const SoftmaxOptions& options, std::uint64_t seed);

}  // namespace obolus
