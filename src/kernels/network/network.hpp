// A small network: blocks of [3×3 convolution, ReLU, 2×2 max-pooling, batch normalisation], hidden dense layers with
// ReLU, and a linear head. Gradients of any loss of its logits, and exact products of their Jacobians in the weights
// with a direction.
//
// The weights are one vector: for every block W[out][3][3][in], bias, scale and shift of the normalisation; for every
// hidden layer and the head W[out][in], bias. Pictures are flattened with their channels last. Calls build on each
// other: `backward` and `tangent` on the last `forward`, `tangent_backward` on the last of all three.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/network/kernels.hpp"
#include "obolus/core/memory.hpp"
#include "obolus/core/parallel.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

struct NetworkShape {
  Index height = 0, width = 0;
  std::vector<Index> channels, hidden;
  Index classes = 0;

  [[nodiscard]] Index parameters() const;
  // Operations of one gradient per picture, without any that can be avoided, if all places pass the ReLUs.
  [[nodiscard]] double operations() const;
};

template <class S>
class Network {
 public:
  explicit Network(const NetworkShape& shape, const kernels::network::Kernels<S>& table = kernels::network::table<S>());
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // Threads share the pictures; the results are the same for any number.
  void set_threads(int threads) { pool_ = threads > 1 ? std::make_unique<ThreadPool>(threads) : nullptr; }
  [[nodiscard]] const NetworkShape& shape() const { return shape_; }
  [[nodiscard]] const char* kernels() const { return table_->name; }
  [[nodiscard]] Index parameters() const { return parameters_; }

  // Logits of pictures [count][height × width], which must not move while calls build on this one.
  void forward(const S* theta, const S* pictures, int count);
  // The same under the statistics of the last `forward`; nothing can build on it.
  void predict(const S* theta, const S* pictures, int count);
  // [picture][row]: the logits of a picture and their tangents, and the slopes of the loss in them.
  [[nodiscard]] std::size_t row() const { return to_size(layers_.back().out); }
  [[nodiscard]] const S* logits() const { return layers_.back().output; }
  [[nodiscard]] const S* logits_tangent() const { return layers_.back().output_t; }
  [[nodiscard]] S* slope() { return layers_.back().slope; }
  [[nodiscard]] S* slope_tangent() { return layers_.back().slope_t; }

  void backward(S* gradient);         // from slope()
  void tangent(const S* direction);   // to logits_tangent()
  void tangent_backward(S* product);  // from slope_tangent()

 private:
  using Block = kernels::network::Block<S>;
  using Part = kernels::network::Part<S>;
  struct Layer {  // dense
    int in = 0, out = 0, own_in = 0, own_out = 0;
    int pixels = 1;  // of its input: own_in and in count the channels of all of them
    bool rectified = false;
    std::size_t theta = 0;
    S *weights = nullptr, *transposed = nullptr, *bias = nullptr;  // [out][in], [in][out]
    S *weights_t = nullptr, *transposed_t = nullptr, *bias_t = nullptr;
    S *input = nullptr, *output = nullptr, *slope = nullptr;  // slope: of the loss, before the ReLU
    S *input_t = nullptr, *output_t = nullptr, *slope_t = nullptr;
    S* gradient = nullptr;  // [out][in]
  };
  struct Sums {  // Σ slope and Σ slope·(p − mean)/deviation by channel, and their tangents
    std::vector<double> slope, product, slope_t, product_t;
  };

  template <class T>
  T* take(std::size_t count);
  void make_blocks();
  void make_layers();
  void make_room(int count);
  void make_part(Part& part);
  [[nodiscard]] int first_of(int part) const { return static_cast<int>(Index(count_) * part / parts_); }

  // Threads share the output channels of a block or a layer in chunks.
  static constexpr int channels_a_chunk = 16;
  [[nodiscard]] static Index chunks_of(int channels) { return (channels + channels_a_chunk - 1) / channels_a_chunk; }

  template <class Body>
  void run(Index chunks, Body&& body);
  template <class Body>
  void each_part(Body&& body);  // body(part, first, last)

  void pass(const S* theta, const S* pictures, int count, bool own_statistics);
  void load_weights(const S* theta);
  void load_direction(const S* theta);
  void load_layer(const Layer& layer, const S* theta, S* weights, S* transposed, S* bias) const;
  void normalise(std::size_t block);
  void normalise_tangent(std::size_t block);
  void flatten(int first, int last);
  void flatten_tangent();
  void layers_forward();
  void layers_tangent();
  void layers_backward(S* gradient);
  void layers_tangent_backward(S* product);
  void layer_gradient(const Layer& layer, S* gradient, const S* slope_sum);
  void start_backward(std::size_t block, S* gradient);
  void start_tangent_backward(std::size_t block, S* out);
  void collect(std::size_t block, S* gradient);

  NetworkShape shape_;
  const kernels::network::Kernels<S>* table_;
  std::unique_ptr<ThreadPool> pool_;
  Index parameters_ = 0;
  std::vector<std::vector<std::byte, LineAllocator<std::byte>>> fixed_, roomy_;  // memory behind all pointers
  bool growing_ = false;
  std::vector<Block> blocks_;
  std::vector<std::size_t> theta_;  // where each block's weights start
  std::vector<Sums> sums_;
  std::vector<S*> scale_t_, shift_, shift_t_;
  std::vector<Layer> layers_;
  std::vector<Part> part_;
  int count_ = 0, room_ = 0, parts_ = 1;
};

template <class S>
template <class Body>
void Network<S>::run(Index chunks, Body&& body) {
  if (pool_) return pool_->run(chunks, body);
  for (Index i = 0; i < chunks; ++i) body(i);
}
template <class S>
template <class Body>
void Network<S>::each_part(Body&& body) {
  run(parts_, [&](Index i) {
    const int part = static_cast<int>(i);
    body(part_[to_size(i)], first_of(part), first_of(part + 1));
  });
}

extern template class Network<float>;
extern template class Network<double>;

}  // namespace obolus
