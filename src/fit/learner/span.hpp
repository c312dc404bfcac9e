// Rows that are learnt one by one while the weights in memory stand still.
//
// A gradient of the inner loss lies in the span of its rows, so steps on some rows X leave the weights at
//     z − P Σ_k x_k total_k,      total_k the sum of the step sizes times the residuals of row k,
// and give a row x the logits x'z − Σ_k (x'P x_k) total_k; the derivatives s_j likewise. Hence a row can be predicted
// with all that was learnt from the rows before it although the weights were last written some rows ago: they are read
// once when a row comes and written once when the span closes.
//
// Few rows are active at a time: those that steps work on. A row that retires keeps its total.
#pragma once

#include <cstdint>
#include <vector>

#include "fit/learner/outer_loss.hpp"
#include "fit/learner/round_batch.hpp"
#include "fit/model/hyperparameters.hpp"
#include "fit/model/learner_row.hpp"
#include "fit/model/weights.hpp"
#include "kernels/fit/kernels.hpp"
#include "obolus/core/memory.hpp"

namespace obolus::fit {

template <class S>
class Span {
 public:
  using Numbers = std::vector<S, LineAllocator<S>>;
  enum class Kind : std::uint8_t { replayed, recent, newest };
  struct Products {
    Numbers by_member;  // x'P x_k
    Numbers by_slot;    // the same by slot of the active ones
  };

  Span() : kernels_(&kernels::fit::table<S>()) {}

  [[nodiscard]] bool is_open() const { return open_; }
  // Room for `rows` rows, of which `active` are active at a time.
  void open(int rows, int active, const Weights<S>& weights);
  void forget() { close_features(); }  // as if it had never been opened

  // lanes, the row's by the weights in memory, become those after the steps so far.
  void correct(const LearnerRow& row, S* lanes, Products& scratch) const;
  void correct(const LearnerRow& row, S* lanes) { correct(row, lanes, products_); }
  // P is fixed where a feature first occurs in the span. A value that is far larger than those it was made from, ten
  // times the root of the sum of their squares, is cut to that, or no step would be short enough. True: one was.
  bool cut(LearnerRow& row) const;
  // The row becomes active; it must outlive the span. lanes: as correct(row, lanes) has just left them.
  // P_i = (Σ value_i²/seen)^−power of features that are new to the span.
  void admit(const LearnerRow& row, Kind kind, const S* lanes, S target, Weights<S>& weights, double seen,
             double power);
  // The newest row becomes a recent one; of either kind only the latest so many stay active.
  void age(int recent);
  void keep(Kind kind, int count);

  // Of the active rows: max_r Σ_k ω_k |G_rk|, with ω their weights as set by weigh().
  [[nodiscard]] double bound();
  // ω_r = weight_r/mean weight/`rows`, times a factor for the row's kind after factor().
  void weigh(int rows);
  void factor(Kind kind, S by);
  void step(const Hyperparameters& hyper, bool rate_is_limited, Loss loss, std::int64_t steps, double alpha,
            const Weights<S>& weights);

  // For the guard of the derivatives: the active rows' numbers by lane.
  [[nodiscard]] RoundBatch<S>& active() { return active_; }
  [[nodiscard]] int active_rows() const;

  // Writes what was learnt.
  void close(Weights<S>& weights);

 private:
  struct Member {
    const LearnerRow* row;
    int slot;  // among the active rows; −1: retired
    Kind kind;
  };
  // square: of the value, if the squares of the weights do not have it yet.
  int local(std::int32_t slot, double square, Weights<S>& weights, double seen, double power);
  void retire(Member& m);
  void close_features();

  bool open_ = false;
  int stride_ = 0, lanes_ = 0;  // of a feature's line
  std::vector<Member> members_;
  Numbers total_;  // member × lane, of the retired ones
  RoundBatch<S> active_;
  std::vector<int> free_;  // slots
  Numbers gram_;
  // By slot of the weights, a feature's number here, or −1; by that number: its slot, P, the first and last member that
  // has it, the largest value (cut()) and its values by member.
  std::vector<std::int32_t> local_of_, slot_;
  std::vector<S> scale_;
  std::vector<Reach> reach_;
  std::vector<float> max_;
  Numbers line_;       // zeros beyond what is in use
  Products products_;  // of the row that was corrected last
  Numbers sums_;       // scratch of bound()
  const kernels::fit::Kernels<S>* kernels_;
};

extern template class Span<float>;
extern template class Span<double>;

}  // namespace obolus::fit
