// The hot loops of `softmax_l2`: sparse rows times weights and back, and what stands between them.
//
// A round takes K steps on one batch. In each, row i of the iterate θ shrinks by ρ_i = 1 − δ x_i:
//     θ_i ← ρ_i θ_i − Σ_r a_ri R_r,   R_r a function of the logits Σ_i a_ri θ_i.
// Rows that no document of the batch touches only shrink: θ_i is stored as scale_i · rows_i, so their K steps are
// scale_i ← ρ_i^K scale_i. A feature that occurs once in the batch, with value a in row r, is read once and written
// once:
//     its share of the logits of step k  = a ρ^k θ_i − Σ_{j<k} a² ρ^(k−1−j) R_r^j,
//     its weights after K steps           = ρ^K θ_i − a Σ_k ρ^(K−1−k) R_r^k.
// Only features of two or more documents are visited in every step, as compact rows. All of this is exact.
#pragma once

#include <cstdint>

#include "kernels/instructions.hpp"

namespace obolus::kernels::softmax {

inline constexpr int max_classes = 1000;
// A pass takes at most this many steps; longer loops are cut.
inline constexpr int block = 8;
// How far the kernels look ahead in lists of features.
inline constexpr int ahead = 8;
// Entries of a row that are summed side by side.
inline constexpr int side_by_side = 4;

struct Entry {
  std::int32_t index;
  float value;
};

struct ColumnPart {
  std::int32_t owner, first, last;
};

// A batch by rows and columns; the first `inner` rows are g's, the others f's. Features that nearly every batch has are
// common and keep their numbers. Of the rare ones, those of one document are single; the others are numbered from the
// end of the common ones and together with these are the features of several documents. For one step no feature is
// single, and there are no columns.
struct BatchView {
  int rows, inner, multi, room;  // room: max features of several documents in a batch of this size
  bool by_columns;
  const std::int32_t* label;
  // Features of several documents by row, as indices into multi_feature: for one step the common ones, for several all,
  // with zeros up to a multiple of side_by_side, since branches on the ends of rows are mispredicted …
  const std::int64_t *common_start, *common_end;
  const std::int32_t* common_index;
  const float* common_value;
  const std::int32_t* single_start;  // features of one document, by row
  const Entry* single;
  const std::int32_t* row_start;  // … and the rare ones for one step
  const Entry* row;
  const std::int32_t* multi_feature;
  // Owners and starts of all columns, by length, so that the processor predicts where each ends. Then their parts in
  // g's rows, by the length of the part.
  const std::int32_t *column_owner, *column_start;
  const ColumnPart* inner_column;
  const Entry* column;
};

// A row of weights, cut into cache lines and quarters of a line. The two parts lie in separate arrays, so that a row of
// 20 floats always touches a line and a quarter, not two lines. Numbers beyond the classes are 0.
struct Cut {
  int lines, quarters;
};
template <class S>
[[nodiscard]] constexpr Cut cut_of(int classes) {
  constexpr int line = 64 / static_cast<int>(sizeof(S)), quarter = line / 4;
  const int lines = classes / line, quarters = (classes - lines * line + quarter - 1) / quarter;
  return quarters == 4 ? Cut{lines + 1, 0} : Cut{lines, quarters};
}
template <class S>
struct Rows {
  S *line, *rest;
};

template <class S>
struct IterateView {
  Rows<S> rows;     // θ_i = scale_i rows_i
  S *scale, *norm;  // norm_i = |θ_i|²
  Cut cut;
  int classes;
  S decay;            // δ
  int reads, writes;  // rows of the batch that it reads (for logits), and rows that change it
  Rows<S> compact;    // by feature of several documents: θ_i …
  S* shrink;          // … and ρ_i
  Rows<S> single;     // by row and step: the two sums over features of one document
  S* moment;
  Rows<S> logits;  // by step and row: logits, then residuals R
};

// One side of a LazyMomentum (obolus/problems/lazy_momentum.hpp).
template <class S>
struct MomentumView {
  Rows<S> base, drift;
  S *scale, *along, *past_scale, *past_along, *fade;  // fade: drift's scale
  S *base_norm, *drift_norm, *base_pair, *drift_pair;
  Cut cut;
  S step;                   // of y or v
  Rows<S> now, past, rest;  // by feature of several documents: y, the y before, r
};

// Weights of the residuals R = weight (softmax(scale l) − label), one per kind of row.
struct Weights {
  double inner, outer, scale;  // scale: of f's logits
};

// Whether a scale has become too large, and whether all norms are finite and so is their sum.
struct Sizes {
  bool wild_scales, tame_norms;
};

template <class S>
struct Kernels {
  const char* name;
  // K steps on a batch, column by column.
  void (*begin)(const BatchView&, const IterateView<S>&, const S* x, int steps);
  void (*forward)(const BatchView&, const IterateView<S>&, int k, int steps);
  void (*backward)(const BatchView&, const IterateView<S>&, int k);
  void (*finish)(const BatchView&, const IterateView<S>&, const S* x, int steps);
  // The same for a pair, with what it shares (see `products`): rows, or features of several documents, first … last −
  // 1. True if all norms are tame.
  bool (*finish_singles)(const BatchView&, const IterateView<S>& a, const IterateView<S>& b, const S* x, int steps,
                         bool difference, S* pair, int first, int last);
  bool (*finish_multi)(const BatchView&, const IterateView<S>& a, const IterateView<S>& b, bool difference, S* pair,
                       int first, int last);
  // Logits to residuals of rows first … last − 1; inner < rows separates g's rows from f's.
  void (*residuals)(const std::int32_t* label, int inner, int first, int last, const IterateView<S>&, int k, int rows,
                    Weights);
  // z and w = λ(y − z): the residuals of z with α, of w with λβ for f's rows and α λ times the difference for g's.
  void (*residuals_dual)(const std::int32_t* label, int inner, int first, int last, const IterateView<S>& z,
                         const IterateView<S>& w, int k, int rows, double lambda, Weights z_weights, Weights w_weights);
  // The mean c and w = λ(y_1 − y_−1)/2 of a pair y_±1 = c ± w/λ.
  void (*residuals_central)(const std::int32_t* label, int inner, int first, int last, const IterateView<S>& c,
                            const IterateView<S>& w, int k, int rows, double lambda, Weights up, Weights down);
  // A vector v beside y: w.inner (diag p − pp') l_v for g's rows, p the softmax of y's logits, and what y has as f's
  // residuals for f's, whose logits of v are not read.
  void (*residuals_system)(const std::int32_t* label, int inner, int first, int last, const IterateView<S>& y,
                           const IterateView<S>& v, int k, int rows, Weights);
  // Slope and curvature in s of Σ_r CE(s l_r) over rows first … last − 1 of l = a's logits + part · b's; b may be null.
  void (*scale_slope)(const std::int32_t* label, int first, int last, const IterateView<S>& a, const IterateView<S>* b,
                      int k, int rows, double part, double s, double* slope, double* curvature);
  // Features first … last − 1: the scalars of untouched rows. b and pair may be null.
  Sizes (*shrink)(const IterateView<S>& a, const IterateView<S>* b, S* pair, const S* x, int steps, std::int64_t first,
                  std::int64_t last);
  // pair_i ← <a_i, b_i>, or |b_i|² − |a_i|² = <b_i − a_i, b_i + a_i>, for the features listed.
  void (*products)(const IterateView<S>& a, const IterateView<S>& b, bool difference, const std::int32_t* feature,
                   std::int64_t count, S* pair);
  // The features of a batch from storage and back; no feature may be single. `own`: <A, E> of v.
  void (*momentum_begin)(const BatchView&, const MomentumView<S>&);
  void (*momentum_finish)(const BatchView&, const MomentumView<S>& y, const MomentumView<S>& v, S* own, const S* x);
};

// For rows of this cut, compiled for one instruction set; a slower general version where the cut has none of its own.
template <class S, Instructions set>
[[nodiscard]] const Kernels<S>& compiled(Cut cut);
template <class S>
[[nodiscard]] const Kernels<S>& table(Cut cut, Instructions set = instructions());

}  // namespace obolus::kernels::softmax
