// The pictures of a round of `loss_tuning` and their labels. Everything follows from (seed, t): rounds may be asked for
// in any order.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "obolus/core/oracle.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/data/pictures.hpp"
#include "obolus/problems/loss_tuning_options.hpp"

namespace obolus {

// Pictures of the training set with their labels; the first `inner` are g's, the others f's.
struct RoundPictures {
  std::vector<std::int32_t> picture, label;
  Index inner = 0;

  bool operator==(const RoundPictures&) const = default;
  [[nodiscard]] Index size() const { return static_cast<Index>(picture.size()); }
  [[nodiscard]] Index outer() const { return size() - inner; }
  void clear() {
    picture.clear();
    label.clear();
    inner = 0;
  }
};

class PicturePools {
 public:
  // Throws where the options do not fit the data, the network's widths among them.
  PicturePools(const LossTuningOptions& options, std::shared_ptr<const LabelledPictures> data, std::uint64_t seed);

  [[nodiscard]] const LabelledPictures& data() const { return *data_; }
  [[nodiscard]] Index classes() const { return data_->classes; }
  [[nodiscard]] Index side() const { return data_->train.height; }

  [[nodiscard]] Index phases() const { return static_cast<Index>(phases_.size()); }
  [[nodiscard]] Index phase(Round t) const;  // 0, 1, …
  // Numbers of g's and of f's training-set pictures in round t's phase, ascending; apart unless g trains on all.
  [[nodiscard]] const std::vector<std::int32_t>& inner_pool(Round t) const { return of(t).inner; }
  [[nodiscard]] const std::vector<std::int32_t>& outer_pool(Round t) const { return of(t).outer; }

  void of_round(Round t, RoundPictures& out);  // as revealed
  // u_j by label j as round t has it; stays until the next call.
  [[nodiscard]] const std::vector<double>& class_weight(Round t);
  [[nodiscard]] std::int32_t name_of(std::int32_t of_class, Round t);    // what the drift calls the class
  [[nodiscard]] std::int32_t label(std::int32_t picture, Round t);       // of the training set
  [[nodiscard]] std::int32_t test_label(std::int32_t picture, Round t);  // of the test set
  [[nodiscard]] double degrees(Round t) const;                           // by which pictures are turned

  // side² numbers, row by row: (pixel/255 − mean)/deviation, turned as round t has it. S is float or double.
  template <class S>
  void write(const Pictures& from, std::int32_t picture, Round t, S* out) const;

 private:
  struct Phase {
    std::vector<std::int32_t> inner, outer;
    std::vector<double> weight;  // by class
  };
  // The sequence of a pool's pictures within a phase, epoch after epoch, each a permutation of its own. The latest two
  // asked for are kept.
  struct Epoch {
    Index phase = -1;
    std::int64_t number = -1;
    std::vector<std::int32_t> order;
  };
  struct Shuffled {
    const char* name;
    std::array<Epoch, 2> kept = {};
  };
  using ByClass = std::vector<std::vector<std::int32_t>>;

  [[nodiscard]] const Phase& of(Round t) const { return phases_[to_size(phase(t))]; }
  [[nodiscard]] Phase phase_at(double proportion, const ByClass& of_class) const;
  void append(Shuffled& shuffled, const std::vector<std::int32_t>& pool, std::int64_t batch, Round t,
              RoundPictures& out);
  const std::vector<std::int32_t>& epoch(Shuffled& shuffled, const std::vector<std::int32_t>& pool, Index phase,
                                         std::int64_t number);
  const std::vector<std::int32_t>& names_of(Round t);

  LossTuningOptions options_;
  std::shared_ptr<const LabelledPictures> data_;
  Rng rng_;
  std::vector<Phase> phases_;
  std::array<double, 256> shade_{};  // what write makes of a pixel
  Shuffled inner_order_{"inner"}, outer_order_{"outer"};
  std::int64_t names_period_ = -1;
  std::vector<std::int32_t> names_;
  std::vector<double> weight_;  // by label
};

// Every class is a smooth pattern, every picture its class's pattern under noise; classes in turn.
[[nodiscard]] LabelledPictures generate_pictures(const LossTuningOptions& options, std::uint64_t seed);

// By the name in the options. Real pictures are read once for all problems alive that use them.
[[nodiscard]] std::shared_ptr<const LabelledPictures> pictures_of(const LossTuningOptions& options, std::uint64_t seed);

}  // namespace obolus
