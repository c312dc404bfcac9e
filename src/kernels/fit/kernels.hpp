// The hot loops of `obolus fit`: K steps of a linear model on one batch, with derivatives of the weights carried along.
//
// Weights are stored in rows, one per feature: `parts` × `outputs` numbers. The first part is the weights z, the others
// are their derivatives s_j by hyperparameters; the row ends with Σ value² of its feature. A round reads every row of
// weights once and writes it once. In between, all steps work on the batch alone, because steps on the batch X stay in
// the span of its rows (P: the feature scales, R: residuals):
//     z ← z − α P X'R    ⇒    X z ← X z − α G R,    G = X P X'.
// A row of weights has 4, 8 or a multiple of 16 numbers, and all memory starts on a cache line.
// A batch is laid out by lane (part × output), with `stride` rows side by side in each.
#pragma once

#include <cstdint>

#include "kernels/instructions.hpp"

namespace obolus::kernels::fit {

struct Entry {
  std::int32_t slot;
  float value;
  friend bool operator==(const Entry&, const Entry&) = default;
};

inline constexpr int rows_unit = 16;  // stride is a multiple of this

// The hyperparameter a part is the derivative by. The weights themselves have no explicit term.
enum class Part : std::uint8_t { weights, rate, replay, recent, shift, scale, implicit };

template <class S>
struct Batch {
  int rows, stride, parts, outputs;
  const std::int32_t* label;   // classes; −1 in the padding
  const S* target;             // numbers
  const S* weight;             // of each row in the loss, 0 in the padding
  const S *replayed, *recent;  // 1 for replayed rows, for those before the newest one; 0 otherwise
  const Part* part;
  const int* part_class;     // of shift and scale
  const S *shift, *scale;    // of every class's logit in the inner loss, or null
  S *logits, *push, *total;  // lanes × stride: X z and X s_j; dR/d…; Σ α push
  S* scratch;                // outputs × stride, twice
};

// A derivative that changes too when the weights decay.
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
  // row ← factor · row; then, for each of `moved`, its part += more · the first part
  void (*decay)(S* row, int lanes, int outputs, S factor, const Moved<S>* moved, int count);
  // Σ row · by over as many numbers as `by` has, a multiple of 4
  S (*product)(const S* row, const S* by, int count);
  // sum += by · line, of 4, 8 or a multiple of 16 numbers
  void (*add_line)(const S* line, S by, int count, S* sum);
  // row[0 … width) += scale Σ_k line_k · pushes[k], k < count
  void (*absorb)(const S* line, int count, S scale, const S* pushes, S* row, int width);
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
