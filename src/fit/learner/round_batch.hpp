// The rows of a round and their numbers, laid out for the kernels: by lane, with the rows side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "fit/model/hyperparameters.hpp"
#include "fit/model/learner_row.hpp"
#include "fit/model/weights.hpp"
#include "kernels/fit/kernels.hpp"
#include "obolus/core/memory.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
struct RoundBatch {
  using Numbers = std::vector<S, LineAllocator<S>>;

  RowPointers rows;
  int stride = 0;
  Numbers logits, push, total, scratch, weight, target, is_replayed, is_recent;
  std::vector<std::int32_t> label;
  std::vector<kernels::fit::Part> part;
  std::vector<int> part_class;
  std::vector<S> shift, scale;

  int count = 0;

  [[nodiscard]] int size() const { return count; }

  // Room for the rows, with all numbers 0.
  void lay_out(const Weights<S>& weights, int with_rows) {
    constexpr int unit = kernels::fit::rows_unit;
    count = with_rows;
    stride = (count + unit - 1) / unit * unit;
    const auto n = to_size(stride), lanes = to_size(weights.lanes()) * n;
    logits.assign(lanes, S(0));
    push.assign(lanes, S(0));
    total.assign(lanes, S(0));
    scratch.resize((to_size(weights.outputs()) + 2) * n);
    weight.assign(n, S(0));
    target.assign(n, S(0));
    is_replayed.assign(n, S(0));
    is_recent.assign(n, S(0));
    label.assign(n, -1);
  }
  void set_logits(int r, const Numbers& lanes) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) logits[lane * to_size(stride) + to_size(r)] = lanes[lane];
  }

  // What every part is the derivative by. A rate that the limit decides is a constant.
  void set_parts(const Hyperparameters& hyper, bool rate_is_limited) {
    part.assign(1, kernels::fit::Part::weights);
    part_class.assign(1, 0);
    shift.clear();
    scale.clear();
    for (const Hyperparameter& h : hyper.list) {
      if (h.kind == Tunable::shift) shift.push_back(S(h.value()));
      if (h.kind == Tunable::scale) scale.push_back(S(h.value()));
      if (!h.has_part()) continue;
      const bool is_constant = h.kind == Tunable::rate && rate_is_limited;
      part.push_back(is_constant ? kernels::fit::Part::implicit : part_of(h.kind));
      part_class.push_back(h.index);
    }
  }

  // After lay_out() and set_parts().
  [[nodiscard]] kernels::fit::Batch<S> view(const Weights<S>& weights) {
    return {size(),
            stride,
            weights.parts(),
            weights.outputs(),
            label.data(),
            target.data(),
            weight.data(),
            is_replayed.data(),
            is_recent.data(),
            part.data(),
            part_class.data(),
            shift.empty() ? nullptr : shift.data(),
            scale.empty() ? nullptr : scale.data(),
            logits.data(),
            push.data(),
            total.data(),
            scratch.data()};
  }

 private:
  static kernels::fit::Part part_of(Tunable kind) {
    switch (kind) {
      case Tunable::rate: return kernels::fit::Part::rate;
      case Tunable::replay: return kernels::fit::Part::replay;
      case Tunable::recent: return kernels::fit::Part::recent;
      case Tunable::shift: return kernels::fit::Part::shift;
      case Tunable::scale: return kernels::fit::Part::scale;
      default: return kernels::fit::Part::implicit;
    }
  }
};

}  // namespace obolus::fit
