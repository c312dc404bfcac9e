#include "kernels/network/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr double epsilon = 1e-5;  // of the batch normalisation

}  // namespace

// ---- Weights --------------------------------------------------------------------------------------------------------

template <class S>
void Network<S>::load_layer(const Layer& layer, const S* theta, S* weights, S* transposed, S* bias) const {
  const S* from = theta + layer.theta;
  const int own = layer.own_in / layer.pixels, channels = layer.in / layer.pixels;
  for (int o = 0; o < layer.own_out; ++o)
    for (int p = 0; p < layer.pixels; ++p)
      for (int c = 0; c < own; ++c, ++from) {
        const Index i = Index(p) * channels + c;
        weights[Index(o) * layer.in + i] = *from;
        transposed[i * layer.out + o] = *from;
      }
  std::copy_n(from, layer.own_out, bias);
}

template <class S>
void Network<S>::load_weights(const S* theta) {
  Index all = 0;
  for (const Block& k : blocks_) all += chunks_of(k.own_out);
  run(all, [&](Index chunk) {
    std::size_t l = 0;
    for (; chunk >= chunks_of(blocks_[l].own_out); ++l) chunk -= chunks_of(blocks_[l].own_out);
    const Block& k = blocks_[l];
    const int first = static_cast<int>(chunk) * channels_a_chunk;
    table_->prepare(k, theta + theta_[l], k.taps, k.winograd, first, std::min(first + channels_a_chunk, k.own_out));
  });
  for (std::size_t l = 0; l < blocks_.size(); ++l) {
    const Block& k = blocks_[l];
    const S* from = theta + theta_[l] + 9 * k.own_in * k.own_out;
    for (S* to : {k.bias, k.scale, shift_[l]}) {
      std::copy_n(from, k.own_out, to);
      from += k.own_out;
    }
  }
  for (const Layer& layer : layers_) load_layer(layer, theta, layer.weights, layer.transposed, layer.bias);
}

template <class S>
void Network<S>::load_direction(const S* theta) {
  for (std::size_t l = 0; l < blocks_.size(); ++l) {
    Block& k = blocks_[l];
    const S* from = theta + theta_[l];
    table_->prepare(k, from, k.taps_t, nullptr, 0, k.own_out);
    from += 9 * k.own_in * k.own_out;
    for (S* to : {k.bias_t, scale_t_[l], shift_t_[l]}) {
      std::copy_n(from, k.own_out, to);
      from += k.own_out;
    }
  }
  for (const Layer& layer : layers_) load_layer(layer, theta, layer.weights_t, layer.transposed_t, layer.bias_t);
}

// ---- Forward --------------------------------------------------------------------------------------------------------

// Statistics of the whole batch from those of its parts, one after the other; then h = a p + b.
template <class S>
void Network<S>::normalise(std::size_t block) {
  Block& k = blocks_[block];
  for (int c = 0; c < k.own_out; ++c) {
    const auto i = to_size(c);
    double count = 0, mean = 0, squares = 0;
    for (int p = 0; p < parts_; ++p) {
      const Part& part = part_[to_size(p)];
      const double more = part.count_of_p, off = part.mean[i] - mean;
      squares += part.squares[i] + off * off * count * more / (count + more);
      mean += off * more / (count + more);
      count += more;
    }
    // An infinite variance would silence the channel and hide the overflow.
    const double inverse =
        std::isfinite(squares) ? 1.0 / std::sqrt(squares / count + epsilon) : std::numeric_limits<double>::quiet_NaN();
    k.mean[i] = static_cast<S>(mean);
    k.inverse[i] = static_cast<S>(inverse);
  }
}

template <class S>
void Network<S>::pass(const S* theta, const S* pictures, int count, bool own_statistics) {
  make_room(count);
  load_weights(theta);
  for (std::size_t l = 0; l < blocks_.size(); ++l) {
    Block& k = blocks_[l];
    k.pictures = pictures;
    each_part([&](Part& part, int first, int last) {
      part.count_of_p = 0;
      std::fill_n(part.mean, k.out, 0.0);
      std::fill_n(part.squares, k.out, 0.0);
      table_->forward(k, part, first, last);
    });
    if (own_statistics) normalise(l);
    for (int c = 0; c < k.own_out; ++c) {
      k.a[c] = k.scale[c] * k.inverse[c];
      k.b[c] = shift_[l][c] - k.mean[c] * k.a[c];
    }
  }
  if (blocks_.empty())
    for (int r = 0; r < count; ++r)
      std::copy_n(pictures + Index(r) * layers_[0].own_in, layers_[0].own_in,
                  layers_[0].input + Index(r) * layers_[0].in);
  layers_forward();
}

template <class S>
void Network<S>::forward(const S* theta, const S* pictures, int count) {
  pass(theta, pictures, count, true);
}
template <class S>
void Network<S>::predict(const S* theta, const S* pictures, int count) {
  pass(theta, pictures, count, false);
}

template <class S>
void Network<S>::flatten(int first, int last) {
  if (blocks_.empty()) return;
  const Block& k = blocks_.back();
  const Index start = Index(first) * k.windows(), end = Index(last) * k.windows();
  for (Index r = start; r < end; ++r)
    for (int c = 0; c < k.out; ++c) layers_[0].input[r * k.out + c] = k.a[c] * k.pooled[r * k.out + c] + k.b[c];
}

template <class S>
void Network<S>::layers_forward() {
  each_part([&](Part&, int first, int last) {
    flatten(first, last);
    for (Layer& layer : layers_) {
      S* out = layer.output + Index(first) * layer.out;
      for (int r = first; r < last; ++r) std::copy_n(layer.bias, layer.out, layer.output + Index(r) * layer.out);
      table_->multiply(last - first, layer.out, layer.in, layer.input + Index(first) * layer.in, layer.in, 1,
                       layer.transposed, layer.out, out, layer.out, true);
      if (layer.rectified)
        for (Index i = 0; i < Index(last - first) * layer.out; ++i) out[i] = out[i] < 0 ? S(0) : out[i];
    }
  });
}

// ---- Backward -------------------------------------------------------------------------------------------------------

// d ← Σ_r slope_r of a layer, the gradient in its bias, and its weights' gradient from layer.gradient.
template <class S>
void Network<S>::layer_gradient(const Layer& layer, S* gradient, const S* slope) {
  S* to = gradient + layer.theta;
  const int own = layer.own_in / layer.pixels, channels = layer.in / layer.pixels;
  for (int o = 0; o < layer.own_out; ++o)
    for (int p = 0; p < layer.pixels; ++p)
      to = std::copy_n(layer.gradient + Index(o) * layer.in + p * channels, own, to);
  for (int o = 0; o < layer.own_out; ++o) {
    double sum = 0;
    for (int r = 0; r < count_; ++r) sum += double(slope[Index(r) * layer.out + o]);
    *to++ = static_cast<S>(sum);
  }
}

template <class S>
void Network<S>::layers_backward(S* gradient) {
  for (std::size_t l = layers_.size(); l-- > 0;) {
    Layer& layer = layers_[l];
    run(chunks_of(layer.own_out), [&](Index i) {
      const int first = static_cast<int>(i) * channels_a_chunk,
                rows = std::min(channels_a_chunk, layer.own_out - first);
      table_->multiply(rows, layer.in, count_, layer.slope + first, 1, layer.out, layer.input, layer.in,
                       layer.gradient + Index(first) * layer.in, layer.in, false);
    });
    layer_gradient(layer, gradient, layer.slope);
    if (l == 0 && blocks_.empty()) return;
    S* to = l == 0 ? blocks_.back().slope : layers_[l - 1].slope;
    each_part([&](Part&, int first, int last) {
      S* slope = to + Index(first) * layer.in;
      table_->multiply(last - first, layer.in, layer.out, layer.slope + Index(first) * layer.out, layer.out, 1,
                       layer.weights, layer.in, slope, layer.in, false);
      const S* input = layer.input + Index(first) * layer.in;
      if (l > 0)
        for (Index i = 0; i < Index(last - first) * layer.in; ++i) slope[i] = input[i] > 0 ? slope[i] : S(0);
    });
  }
}

// Sums of the parts, and the slope in p: a slope + fall p + constant.
template <class S>
void Network<S>::start_backward(std::size_t block, S* gradient) {
  Block& k = blocks_[block];
  const double count = double(count_) * k.windows();
  S *scale = gradient + theta_[block] + (9 * k.own_in + 1) * k.own_out, *shift = scale + k.own_out;
  for (int c = 0; c < k.own_out; ++c) {
    const auto i = to_size(c);
    double slope = 0, product = 0;
    for (int p = 0; p < parts_; ++p) {
      slope += part_[to_size(p)].sum[i];
      product += part_[to_size(p)].product_sum[i];
    }
    sums_[block].slope[i] = slope;
    sums_[block].product[i] = product;
    scale[c] = static_cast<S>(product);
    shift[c] = static_cast<S>(slope);
    const double fall = -double(k.a[c]) * double(k.inverse[c]) * product / count;
    k.fall[c] = static_cast<S>(fall);
    k.constant[c] = static_cast<S>(-double(k.a[c]) * slope / count - fall * double(k.mean[c]));
  }
}

// The sum of the parts' gradients of a block's weights, at its place in the whole.
template <class S>
void Network<S>::collect(std::size_t block, S* gradient) {
  const Block& k = blocks_[block];
  S* to = gradient + theta_[block];
  run(chunks_of(k.own_out), [&](Index chunk) {
    const int first = static_cast<int>(chunk) * channels_a_chunk, last = std::min(first + channels_a_chunk, k.own_out);
    table_->collect(k, part_.data(), parts_, to, first, last);
  });
  for (int o = 0; o < k.own_out; ++o) {
    double sum = 0;
    for (int p = 0; p < parts_; ++p) sum += part_[to_size(p)].bias[o];
    to[9 * k.own_in * k.own_out + o] = static_cast<S>(sum);
  }
}

template <class S>
void Network<S>::backward(S* gradient) {
  layers_backward(gradient);
  if (blocks_.empty()) return;
  const Block& last = blocks_.back();
  each_part([&](Part& part, int first, int end) {
    std::fill_n(part.sum, last.out, 0.0);
    std::fill_n(part.product_sum, last.out, 0.0);
    const Index start = Index(first) * last.windows() * last.out;
    table_->sums(last.slope + start, last.pooled + start, last.mean, last.inverse, last.out,
                 (end - first) * last.windows(), part.sum, part.product_sum);
  });
  for (std::size_t l = blocks_.size(); l-- > 0;) {
    const Block& k = blocks_[l];
    start_backward(l, gradient);
    each_part([&](Part& part, int first, int end) {
      std::fill_n(part.gradient, 9 * k.in * k.out, S(0));
      std::fill_n(part.bias, k.out, 0.0);
      if (l > 0) {
        std::fill_n(part.sum, k.in, 0.0);
        std::fill_n(part.product_sum, k.in, 0.0);
      }
      table_->backward(k, part, first, end);
    });
    collect(l, gradient);
  }
}

template class Network<float>;
template class Network<double>;

}  // namespace obolus
