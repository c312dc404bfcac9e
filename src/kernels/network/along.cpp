// Network along a direction of its weights: tangents, and the products that follow.
#include <algorithm>

#include "kernels/network/network.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {

template <class S>
void Network<S>::normalise_tangent(std::size_t block) {
  Block& k = blocks_[block];
  const double count = double(count_) * k.windows();
  for (int c = 0; c < k.own_out; ++c) {
    double sum = 0, product = 0;
    for (int p = 0; p < parts_; ++p) {
      sum += part_[to_size(p)].sum[c];
      product += part_[to_size(p)].product_sum[c];
    }
    const double inverse = double(k.inverse[c]), inverse_t = -inverse * inverse * product / count;
    const double a_t = double(k.scale[c]) * inverse_t + double(scale_t_[block][c]) * inverse, mean_t = sum / count;
    k.mean_t[c] = static_cast<S>(mean_t);
    k.inverse_t[c] = static_cast<S>(inverse_t);
    k.a_t[c] = static_cast<S>(a_t);
    k.b_t[c] = static_cast<S>(double(shift_t_[block][c]) - mean_t * double(k.a[c]) - double(k.mean[c]) * a_t);
  }
}

template <class S>
void Network<S>::flatten_tangent() {
  const Block& k = blocks_.back();
  each_part([&](Part&, int first, int last) {
    const Index start = Index(first) * k.windows(), end = Index(last) * k.windows();
    for (Index r = start; r < end; ++r)
      for (int c = 0; c < k.out; ++c) {
        const Index i = r * k.out + c;
        layers_[0].input_t[i] = k.a[c] * k.pooled_t[i] + (k.a_t[c] * k.pooled[i] + k.b_t[c]);
      }
  });
}

template <class S>
void Network<S>::layers_tangent() {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    each_part([&](Part&, int first, int last) {
      S* out = layer.output_t + Index(first) * layer.out;
      for (int r = first; r < last; ++r) std::copy_n(layer.bias_t, layer.out, layer.output_t + Index(r) * layer.out);
      const Index in = Index(first) * layer.in;
      table_->multiply(last - first, layer.out, layer.in, layer.input + in, layer.in, 1, layer.transposed_t, layer.out,
                       out, layer.out, true);
      if (l > 0 || !blocks_.empty())  // pictures have no tangent
        table_->multiply(last - first, layer.out, layer.in, layer.input_t + in, layer.in, 1, layer.transposed,
                         layer.out, out, layer.out, true);
      const S* value = layer.output + Index(first) * layer.out;
      if (layer.rectified)
        for (Index i = 0; i < Index(last - first) * layer.out; ++i) out[i] = value[i] > 0 ? out[i] : S(0);
    });
  }
}

template <class S>
void Network<S>::tangent(const S* direction) {
  load_direction(direction);
  for (std::size_t l = 0; l < blocks_.size(); ++l) {
    const Block& k = blocks_[l];
    each_part([&](Part& part, int first, int last) {
      std::fill_n(part.sum, k.out, 0.0);
      std::fill_n(part.product_sum, k.out, 0.0);
      table_->tangent(k, part, first, last);
    });
    normalise_tangent(l);
  }
  if (!blocks_.empty()) flatten_tangent();
  layers_tangent();
}

template <class S>
void Network<S>::layers_tangent_backward(S* product) {
  for (std::size_t l = layers_.size(); l-- > 0;) {
    Layer& layer = layers_[l];
    const bool moves = l > 0 || !blocks_.empty();
    run(chunks_of(layer.own_out), [&](Index i) {
      const int first = static_cast<int>(i) * channels_a_chunk,
                rows = std::min(channels_a_chunk, layer.own_out - first);
      S* to = layer.gradient + Index(first) * layer.in;
      table_->multiply(rows, layer.in, count_, layer.slope_t + first, 1, layer.out, layer.input, layer.in, to, layer.in,
                       false);
      if (moves)
        table_->multiply(rows, layer.in, count_, layer.slope + first, 1, layer.out, layer.input_t, layer.in, to,
                         layer.in, true);
    });
    layer_gradient(layer, product, layer.slope_t);
    if (!moves) return;
    S* to = l == 0 ? blocks_.back().slope_t : layers_[l - 1].slope_t;
    each_part([&](Part&, int first, int last) {
      S* slope = to + Index(first) * layer.in;
      const Index out = Index(first) * layer.out;
      table_->multiply(last - first, layer.in, layer.out, layer.slope_t + out, layer.out, 1, layer.weights, layer.in,
                       slope, layer.in, false);
      table_->multiply(last - first, layer.in, layer.out, layer.slope + out, layer.out, 1, layer.weights_t, layer.in,
                       slope, layer.in, true);
      const S* input = layer.input + Index(first) * layer.in;
      if (l > 0)
        for (Index i = 0; i < Index(last - first) * layer.in; ++i) slope[i] = input[i] > 0 ? slope[i] : S(0);
    });
  }
}

// The tangents of start_backward.
template <class S>
void Network<S>::start_tangent_backward(std::size_t block, S* out) {
  Block& k = blocks_[block];
  const double count = double(count_) * k.windows();
  S *scale = out + theta_[block] + (9 * k.own_in + 1) * k.own_out, *shift = scale + k.own_out;
  for (int c = 0; c < k.own_out; ++c) {
    const auto i = to_size(c);
    double slope_t = 0, product_t = 0;
    for (int p = 0; p < parts_; ++p) {
      const Part& part = part_[to_size(p)];
      slope_t += part.sum[i];
      product_t += part.product_sum[i] + part.cross_sum[i];
    }
    const double a = double(k.a[c]), a_t = double(k.a_t[c]), inverse = double(k.inverse[c]),
                 inverse_t = double(k.inverse_t[c]), slope = sums_[block].slope[i], product = sums_[block].product[i];
    product_t += product * inverse_t / inverse;
    scale[c] = static_cast<S>(product_t);
    shift[c] = static_cast<S>(slope_t);
    const double fall_t = -(a_t * inverse * product + a * inverse_t * product + a * inverse * product_t) / count;
    k.fall_t[c] = static_cast<S>(fall_t);
    k.constant_t[c] = static_cast<S>(-(a_t * slope + a * slope_t) / count - fall_t * double(k.mean[c]) -
                                     double(k.fall[c]) * double(k.mean_t[c]));
  }
}

template <class S>
void Network<S>::tangent_backward(S* product) {
  layers_tangent_backward(product);
  if (blocks_.empty()) return;
  const Block& last = blocks_.back();
  const auto clear = [](Part& part, int channels) {
    for (double* sum : {part.sum, part.product_sum, part.cross_sum}) std::fill_n(sum, channels, 0.0);
  };
  each_part([&](Part& part, int first, int end) {
    clear(part, last.out);
    const Index start = Index(first) * last.windows() * last.out;
    const int windows = (end - first) * last.windows();
    table_->sums(last.slope_t + start, last.pooled + start, last.mean, last.inverse, last.out, windows, part.sum,
                 part.product_sum);
    table_->sums(last.slope + start, last.pooled_t + start, last.mean_t, last.inverse, last.out, windows, part.unused,
                 part.cross_sum);
  });
  for (std::size_t l = blocks_.size(); l-- > 0;) {
    const Block& k = blocks_[l];
    start_tangent_backward(l, product);
    each_part([&](Part& part, int first, int end) {
      std::fill_n(part.gradient, 9 * k.in * k.out, S(0));
      std::fill_n(part.bias, k.out, 0.0);
      if (l > 0) clear(part, k.in);
      table_->tangent_backward(k, part, first, end);
    });
    collect(l, product);
  }
}

// The members defined here.
template class Network<float>;
template class Network<double>;

}  // namespace obolus
