// The hot loops of a small convolutional network: blocks of 3×3 convolution, ReLU, 2×2 max-pooling and batch
// normalisation, and dense layers.
//
// Two savings are exact. A tile of Winograd's F(2×2, 3×3) is a pooling window: convolution, ReLU and maximum happen in
// registers, and the output of the convolution is never stored. And a window passes on one of its four places:
// gradients and tangents visit that place alone. Batch normalisation, h = a·p + b by channel, is applied where the next
// block loads p.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/instructions.hpp"

namespace obolus::kernels::network {

// One block. Channels are padded to whole packs, and those beyond the block's own stay 0; the first block reads one
// channel. Arrays over pictures are [picture][window][out].
template <class S>
struct Block {
  int height = 0, width = 0;    // of its input
  int rows = 0, columns = 0;    // of windows
  int in = 1, out = 0;          // channels
  int group = 1;                // pictures processed at a time
  std::size_t images = 0;       // where its images start in a part
  const S* pictures = nullptr;  // what the first block reads, [picture][height][width]
  const Block* before = nullptr;

  const S* theta = nullptr;  // weights [out][3][3][in], unpadded: own_out × 9 × own_in numbers
  int own_in = 1, own_out = 0;
  S* winograd = nullptr;  // [16][in][out]
  S* taps = nullptr;      // [in / pack][out][9][pack], and [9][out] in the first block
  S *bias = nullptr, *scale = nullptr;

  S* pooled = nullptr;                     // p
  std::uint8_t* winner = nullptr;          // which of the window's four places it came from
  S* slope = nullptr;                      // of the loss in h
  S *a = nullptr, *b = nullptr;            // h = a p + b
  S *mean = nullptr, *inverse = nullptr;   // of p, and 1/√(variance + ε)
  S *fall = nullptr, *constant = nullptr;  // slope in p = a slope + fall p + constant

  // Tangents along a direction of the weights, named after what they are tangents of.
  S *taps_t = nullptr, *bias_t = nullptr;
  S *pooled_t = nullptr, *slope_t = nullptr;
  S *a_t = nullptr, *b_t = nullptr;  // h_t = a p_t + a_t p + b_t
  S *mean_t = nullptr, *inverse_t = nullptr, *fall_t = nullptr, *constant_t = nullptr;

  [[nodiscard]] int windows() const { return rows * columns; }
  [[nodiscard]] int padded_width() const { return width + 2; }
  [[nodiscard]] int pixels() const { return (height + 2) * (width + 2); }
};

// A place that passed: where it is in the image, and the index of its flow or the bits of the flow itself.
struct Passed {
  std::int32_t place, flow;
};

// The working memory and the sums of one part of the batch. The number of parts depends on the size of the batch, not
// on the threads.
template <class S>
struct Part {
  S *image = nullptr, *image_t = nullptr;     // [picture of group][in / pack][pixel][pack], a border of 0 around it
  S *spectrum = nullptr, *product = nullptr;  // Winograd's V and M: [16][window of a strip][channels], V of two strips
  S *flow = nullptr, *flow_t = nullptr;       // slope in p behind the ReLU: [window of group][out]
  S* dots = nullptr;                          // a pack per window
  S* back = nullptr;                          // slope in the image: [in / pack][pixel][pack]
  S* patches = nullptr;                       // of a picture of the first block: [window][16], and a pack of padding
  // Places that passed: a list per channel, and a bit per channel for each window and place.
  std::int32_t *corner = nullptr, *count = nullptr;
  Passed* list = nullptr;
  std::uint64_t* passed = nullptr;

  S* gradient = nullptr;   // of the taps, in their layout
  double* bias = nullptr;  // of the bias
  double count_of_p = 0;   // statistics of p by channel: count, mean, Σ (p − mean)²
  double *mean = nullptr, *squares = nullptr;
  double *sum = nullptr, *product_sum = nullptr, *cross_sum = nullptr, *unused = nullptr;  // see `sums`
};

template <class S>
struct Kernels {
  const char* name;
  int pack;
  // Weights o = first … last − 1 in the layout of the loops; tangents have no spectrum.
  void (*prepare)(const Block<S>&, const S* theta, S* taps, S* winograd, int first, int last);
  // On pictures first … last − 1.
  void (*forward)(const Block<S>&, Part<S>&, int first, int last);
  void (*backward)(const Block<S>&, Part<S>&, int first, int last);
  void (*tangent)(const Block<S>&, Part<S>&, int first, int last);
  void (*tangent_backward)(const Block<S>&, Part<S>&, int first, int last);
  // sum ← sum + Σ u and product ← product + Σ u·(p − mean)·inverse, by channel. The backward passes sum over the block
  // before: its slope and p; along a direction, its slope_t and p, and the product of slope and p_t; `tangent` sums
  // over p_t and p.
  void (*sums)(const S* u, const S* p, const S* mean, const S* inverse, int out, int count, double* sum,
               double* product);
  // gradient[o][9][own_in] ← the sum over the parts, for o = first … last − 1
  void (*collect)(const Block<S>&, const Part<S>* parts, int count, S* gradient, int first, int last);
  // c(r, n) = Σ_k a(r, k) b(k, n), added to c when `more`; n in whole packs, a with any strides.
  void (*multiply)(int rows, int columns, int depth, const S* a, std::ptrdiff_t a_row, std::ptrdiff_t a_step,
                   const S* b, std::ptrdiff_t b_row, S* c, std::ptrdiff_t c_row, bool more);
};

template <class S, Instructions set>
[[nodiscard]] const Kernels<S>& compiled();
template <class S>
[[nodiscard]] const Kernels<S>& table(Instructions set = instructions());

}  // namespace obolus::kernels::network
