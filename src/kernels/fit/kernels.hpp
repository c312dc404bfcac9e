// The hot loops of `obolus fit`: K steps of a linear model on one batch, with derivatives of the weights carried along.
//
// Weights stand in rows, one a feature: `parts` × `outputs` numbers, the first part being the weights z, the others their
// derivatives s_j by hyperparameters; at the end of a row, Σ value² of its feature. A round needs every row of weights twice: once to
// read, once to write. In between all steps happen among the batch's own numbers, because steps on the batch X leave the span of its rows
// (P: the feature scales, R: residuals):
//     z ← z − α P X'R    ⇒    X z ← X z − α G R,    G = X P X'.
// A row of weights has 4, 8 or a multiple of 16 numbers, and all memory starts on a cache line.
// Numbers of a batch are laid out by lane (part × output), with the rows side by side, `stride` of them.
#pragma once

#include <cstdint>

#include "kernels/instructions.hpp"

namespace obolus::kernels::fit {

struct Entry {
  std::int32_t slot;
  float value;
  friend bool operator==(const Entry&, const Entry&) = default;
};

inline constexpr int rows_unit = 16;  // stride is a multiple of it

// What a part is the derivative by. Weights themselves have no explicit term.
enum class Part : std::uint8_t { weights, rate, replay, shift, scale, implicit };

template <class S>
struct Batch {
  int rows, stride, parts, outputs;
  const std::int32_t* label;  // classes; −1 in the padding
  const S* target;            // numbers
  const S* weight;            // of each row in the loss, 0 in the padding
  const S* replayed;          // 1 for replayed rows, 0 otherwise
  const Part* part;
  const int* part_class;     // of shift and scale
  const S *shift, *scale;    // of every class's logit in the inner loss, or null
  S *logits, *push, *total;  // lanes × stride: X z and X s_j; dR/d…; Σ α push
  S* scratch;                // outputs × stride, twice
};

// A derivative that a decay of the weights changes, too.
template <class S>
struct Moved {
  int part;
  S more;
};

template <class S>
struct Kernels {
  const char* name;
  // sum[0 … width) += Σ value · weights[slot]
  void (*gather)(const Entry* entries, std::int64_t count, const S* weights, int width, S* sum);
  // weights[slot] += value · step[slot's position in the list] · push
  void (*scatter)(const Entry* entries, const S* feature_scale, std::int64_t count, S* weights, int width,
                  const S* push);
  // row ← factor · row, then a part's numbers += more · the first part's, for each of `moved`
  void (*decay)(S* row, int lanes, int outputs, S factor, const Moved<S>* moved, int count);
  // Σ row · by over as many numbers as `by` has, a multiple of 4
  S (*product)(const S* row, const S* by, int count);
  // gram[k][r] += Σ scale · value_k · value_r over one feature's entries (slot: the row); `column`: stride zeros, and left so
  void (*gram)(const Entry* column, int count, S feature_scale, S* dense, S* gram, int stride);
  void (*residuals_softmax)(const Batch<S>&);
  void (*residuals_logistic)(const Batch<S>&);  // one output
  void (*residuals_squared)(const Batch<S>&);   // one output
  // logits ← logits − α G push, total ← total + α push
  void (*step)(const Batch<S>&, const S* gram, S alpha);
};

template <class S, Instructions set>
[[nodiscard]] const Kernels<S>& compiled();
template <class S>
[[nodiscard]] const Kernels<S>& table(Instructions set = instructions());

}  // namespace obolus::kernels::fit
