// The hot loops of `softmax_l2`: sparse rows times weights and back, and what stands between them. Each is compiled twice, for
// AVX2 with FMA and for any processor, and the better one that runs here is chosen once, at run time.
//
// A round's K steps on one batch, for an iterate θ whose row i shrinks by ρ_i = 1 − δ x_i a step:
//     θ_i ← ρ_i θ_i − Σ_r a_ri R_r,   R_r a function of the logits Σ_i a_ri θ_i.
// Rows that no document of the batch touches only shrink: storage has θ_i = scale_i · rows_i, and their K steps are
// scale_i ← ρ_i^K scale_i. A feature that occurs once in the batch is read once and written once: with a its value in row r,
//     its part of the logits of step k   = a ρ^k θ_i − Σ_{j<k} a² ρ^(k−1−j) R_r^j,
//     its weights after K steps           = ρ^K θ_i − a Σ_k ρ^(K−1−k) R_r^k.
// Only features of two and more documents are visited in every step, as compact rows. All of this is exact.
#pragma once

#include <cstdint>

namespace obolus::kernels {

// Steps that one pass takes at most; longer loops are cut.
inline constexpr int block = 8;

struct Entry {
  std::int32_t index;
  float value;
};

// A batch by rows and columns; the first `inner` rows are g's, the others f's. For a single step all features are treated as those of
// several documents, and there are no columns.
struct BatchView {
  int rows, inner, multi, room;  // room: features of several documents that any batch like this may have
  bool by_columns;
  const std::int32_t* label;
  const std::int32_t* single_start;  // features of one document, by row
  const Entry* single;
  const std::int32_t* row_start;  // the others by row, as indices into multi_feature
  const Entry* row;
  const std::int32_t *multi_feature, *column_start, *column_inner;  // and by column, as rows, g's first
  const Entry* column;
};

template <class S>
struct IterateView {
  S *rows, *scale, *norm;  // θ_i = scale_i rows_i, norm_i = |θ_i|²
  int stride, classes;     // rows_i has `stride` numbers, the first `classes` count and the others are 0
  S decay;                 // δ
  int reads, writes;       // rows of the batch it reads (logits) and those that change it
  S *compact, *shrink;     // by feature of several documents: θ_i and ρ_i
  S *single, *moment;      // by row and step: the two sums over features of one document
  S* logits;               // by step and row: logits, then residuals R
};

// Weights of the residuals: R = weight (softmax(scale l) − label). One for each kind of row.
struct Weights {
  double inner, outer, scale;  // scale: of f's logits
};

template <class S>
struct Kernels {
  const char* name;
  // K steps on a batch, column by column.
  void (*begin)(const BatchView&, const IterateView<S>&, const S* x, int steps);
  void (*forward)(const BatchView&, const IterateView<S>&, int k, int steps);
  void (*backward)(const BatchView&, const IterateView<S>&, int k);
  void (*finish)(const BatchView&, const IterateView<S>&, const S* x, int steps);
  // The same for a pair, with what it shares (see `products`): rows, or features of several documents, first … last − 1.
  void (*finish_singles)(const BatchView&, const IterateView<S>& a, const IterateView<S>& b, const S* x, int steps,
                         bool difference, S* pair, int first, int last);
  void (*finish_multi)(const BatchView&, const IterateView<S>& a, const IterateView<S>& b, bool difference, S* pair,
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
  // Slope and curvature in s of Σ_r CE(s l_r) over rows first … last − 1 of l = a + b·other.
  void (*scale_slope)(const std::int32_t* label, int first, int last, const IterateView<S>& a, const S* logits,
                      const S* other, double b, double s, double* slope, double* curvature);
  // Features first … last − 1: the scalars of rows that nobody touched. True when a scale grew beyond reason. b and pair may be
  // null.
  bool (*shrink)(const IterateView<S>& a, const IterateView<S>* b, S* pair, const S* x, int steps, std::int64_t first,
                 std::int64_t last);
  // pair_i ← <a_i, b_i>, or |b_i|² − |a_i|² = <b_i − a_i, b_i + a_i>, for the features listed.
  void (*products)(const IterateView<S>& a, const IterateView<S>& b, bool difference, const std::int32_t* feature,
                   std::int64_t count, S* pair);
};

// Numbers in a row of weights: whole packs of 32 bytes.
template <class S>
[[nodiscard]] constexpr int stride_of(int classes) {
  constexpr int lanes = 32 / static_cast<int>(sizeof(S));
  return (classes + lanes - 1) / lanes * lanes;
}

// By packs in a row.
template <class S>
[[nodiscard]] const Kernels<S>& portable(int packs);
template <class S>
[[nodiscard]] const Kernels<S>& avx2(int packs);
// The fastest that runs here. OBOLUS_KERNELS=portable in the environment asks for the other.
template <class S>
[[nodiscard]] const Kernels<S>& best(int classes);

}  // namespace obolus::kernels
