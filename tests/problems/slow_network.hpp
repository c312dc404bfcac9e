// The convolutional network of `loss_tuning` and its two losses by definition: nested loops, one number at a time. The
// number type N is double or Dual; the slopes of a gradient taken at Duals with slopes v are the second derivative
// times v, with no error but rounding.
//
// A block: convolution 3×3 (padding 1, stride 1, bias), max(0, ·), maximum of 2×2 (stride 2; an odd last row or column
// is left out), batch normalisation. Then, pixel by pixel and channels last, hidden layers max(0, W a + b) and a linear
// head to the logits z. θ holds, row-major in this order of indices,
//   for each block         W[o][ky][kx][i], bias[o], scale[o], shift[o],
//   for each hidden layer  W[o][i], bias[o], and the same for the head.
// With x = (γ, δ): g(x, θ) = mean of CE(label, γ_j z_j + δ_j) over the batch, f(θ) = mean of u_label CE(label, z).
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace obolus::test::slow {

struct Dual {
  double value, slope;
  Dual(double v = 0.0, double s = 0.0) : value(v), slope(s) {}  // NOLINT: a double is a Dual of slope 0
};
inline Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
inline Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
inline Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
inline Dual operator/(Dual a, Dual b) { return {a.value / b.value, (a.slope - a.value / b.value * b.slope) / b.value}; }
inline Dual& operator+=(Dual& a, Dual b) { return a = a + b; }
inline bool operator>(Dual a, Dual b) { return a.value > b.value; }
inline Dual exp(Dual a) { return {std::exp(a.value), a.slope * std::exp(a.value)}; }
inline Dual log(Dual a) { return {std::log(a.value), a.slope / a.value}; }
inline Dual sqrt(Dual a) { return {std::sqrt(a.value), a.slope / (2.0 * std::sqrt(a.value))}; }

template <class N>
using Numbers = std::vector<N>;
using Reals = Numbers<double>;

inline Numbers<Dual> with_slopes(const Reals& values, const Reals& slopes = {}) {
  Numbers<Dual> out(values.begin(), values.end());
  for (std::size_t i = 0; i < slopes.size(); ++i) out[i].slope = slopes[i];
  return out;
}
inline Reals slopes_of(const Numbers<Dual>& duals) {
  Reals out;
  for (const Dual& a : duals) out.push_back(a.slope);
  return out;
}

// ---- The network and its data --------------------------------------------------------------------------------------

using Sizes = std::vector<std::size_t>;

struct Network {
  std::size_t height, width;  // of a picture, which has one channel
  Sizes channels, hidden;     // widths of the blocks and of the hidden layers
  std::size_t classes;
};

struct Batch {
  Reals pictures;  // [picture][row][column]
  Sizes labels;    // one a picture
};

inline std::size_t parameter_count(const Network& net) {
  std::size_t height = net.height, width = net.width, in = 1, count = 0;
  for (const std::size_t out : net.channels) {
    count += out * 9 * in + 3 * out;
    height /= 2;
    width /= 2;
    in = out;
  }
  in *= height * width;
  for (const std::size_t out : net.hidden) {
    count += out * in + out;
    in = out;
  }
  return count + net.classes * in + net.classes;
}

// Numbers [picture][row][column][channel], zeros at first.
template <class N>
struct Maps {
  std::size_t count, height, width, channels;
  Numbers<N> values = Numbers<N>(count * height * width * channels, N(0.0));

  [[nodiscard]] std::size_t index(std::size_t b, std::size_t r, std::size_t c, std::size_t k) const {
    return ((b * height + r) * width + c) * channels + k;
  }
  N& at(std::size_t b, std::size_t r, std::size_t c, std::size_t k) { return values[index(b, r, c, k)]; }
  const N& at(std::size_t b, std::size_t r, std::size_t c, std::size_t k) const { return values[index(b, r, c, k)]; }

  void each(auto&& act) const {
    for (std::size_t b = 0; b < count; ++b)
      for (std::size_t r = 0; r < height; ++r)
        for (std::size_t c = 0; c < width; ++c)
          for (std::size_t k = 0; k < channels; ++k) act(b, r, c, k);
  }
};

// act(ky, kx, row, column) for the places under a kernel about (r, c) that are not in the border of zeros.
void each_under_kernel(const auto& maps, std::size_t r, std::size_t c, auto&& act) {
  for (std::size_t ky = 0; ky < 3; ++ky)
    for (std::size_t kx = 0; kx < 3; ++kx)
      if (r + ky >= 1 && r + ky <= maps.height && c + kx >= 1 && c + kx <= maps.width)
        act(ky, kx, r + ky - 1, c + kx - 1);
}

template <class N>
struct Statistics {
  Numbers<N> mean, variance;  // by channel; the variance divides by the number of values
};

// ---- One walk through the network and back -------------------------------------------------------------------------

// The loss is the mean of u_label CE(label, a) with a = γ z + δ; f and g are cases of it. Every part maps its input,
// lets the parts after it turn that into the derivative by its output, and makes of it the one by its input.
template <class N>
struct Walk {
  Network net;
  Batch batch;
  Numbers<N> x, theta;
  Reals u;
  std::vector<Statistics<N>> given = {};  // instead of the batch's own; the derivatives are no derivatives then

  N value = N(0.0);
  Numbers<N> logits = {}, by_x = Numbers<N>(x.size(), N(0.0)), by_theta = Numbers<N>(theta.size(), N(0.0));
  std::vector<Statistics<N>> statistics = {};
  Sizes routes = {};     // every decision for a branch, in order: the loss is smooth where they do not change
  std::size_t next = 0;  // of the parameters

  Walk& walk() {
    const std::size_t count = batch.pictures.size() / (net.height * net.width);
    from_block(0, {count, net.height, net.width, 1, {batch.pictures.begin(), batch.pictures.end()}});
    return *this;
  }

 private:
  std::size_t take(std::size_t count) { return std::exchange(next, next + count); }

  Numbers<N> from_block(std::size_t l, const Maps<N>& input) {
    using std::sqrt;
    if (l == net.channels.size()) return from_layer(0, input.values, input.values.size() / input.count);
    const std::size_t in = input.channels, out = net.channels[l];
    const std::size_t weights = take(out * 9 * in), bias = take(out), scale = take(out), shift = take(out);
    const auto weight = [&](auto o, auto ky, auto kx, auto i) { return weights + ((o * 3 + ky) * 3 + kx) * in + i; };

    Maps<N> pooled{input.count, input.height / 2, input.width / 2, out}, normalised = pooled, output = pooled;
    Sizes winner(pooled.values.size(), 4);  // 2·row + column in its window, 4 where the maximum is 0
    output.each([&](auto b, auto r, auto c, auto o) {
      for (std::size_t place = 0; place < 4; ++place) {
        N a = theta[bias + o];
        each_under_kernel(input, 2 * r + place / 2, 2 * c + place % 2, [&](auto ky, auto kx, auto row, auto column) {
          for (std::size_t i = 0; i < in; ++i) a += theta[weight(o, ky, kx, i)] * input.at(b, row, column, i);
        });
        if (a > pooled.at(b, r, c, o)) {
          pooled.at(b, r, c, o) = a;
          winner[pooled.index(b, r, c, o)] = place;
        }
      }
    });
    routes.insert(routes.end(), winner.begin(), winner.end());

    const N n(static_cast<double>(pooled.count * pooled.height * pooled.width));
    Statistics<N> s{Numbers<N>(out, N(0.0)), Numbers<N>(out, N(0.0))};
    output.each([&](auto b, auto r, auto c, auto o) { s.mean[o] += pooled.at(b, r, c, o) / n; });
    output.each([&](auto b, auto r, auto c, auto o) {
      const N away = pooled.at(b, r, c, o) - s.mean[o];
      s.variance[o] += away * away / n;
    });
    statistics.push_back(s);
    if (!given.empty()) s = given[l];
    const auto deviation = [&](auto o) { return sqrt(s.variance[o] + N(1e-5)); };
    output.each([&](auto b, auto r, auto c, auto o) {
      normalised.at(b, r, c, o) = (pooled.at(b, r, c, o) - s.mean[o]) / deviation(o);
      output.at(b, r, c, o) = theta[scale + o] * normalised.at(b, r, c, o) + theta[shift + o];
    });

    Maps<N> d_output = output, d_input{input.count, input.height, input.width, in};
    d_output.values = from_block(l + 1, output);

    output.each([&](auto b, auto r, auto c, auto o) {
      by_theta[scale + o] += d_output.at(b, r, c, o) * normalised.at(b, r, c, o);
      by_theta[shift + o] += d_output.at(b, r, c, o);
    });
    output.each([&](auto b, auto r, auto c, auto o) {
      const std::size_t place = winner[output.index(b, r, c, o)];
      if (place == 4) return;
      const N through_mean = by_theta[shift + o] / n;
      const N through_variance = normalised.at(b, r, c, o) * by_theta[scale + o] / n;
      const N d = theta[scale + o] / deviation(o) * (d_output.at(b, r, c, o) - through_mean - through_variance);
      by_theta[bias + o] += d;
      each_under_kernel(input, 2 * r + place / 2, 2 * c + place % 2, [&](auto ky, auto kx, auto row, auto column) {
        for (std::size_t i = 0; i < in; ++i) {
          by_theta[weight(o, ky, kx, i)] += d * input.at(b, row, column, i);
          d_input.at(b, row, column, i) += d * theta[weight(o, ky, kx, i)];
        }
      });
    });
    return d_input.values;
  }

  // Hidden layers and the head; `input` is [picture][i].
  Numbers<N> from_layer(std::size_t l, const Numbers<N>& input, std::size_t in) {
    const bool head = l == net.hidden.size();
    const std::size_t out = head ? net.classes : net.hidden[l], count = input.size() / in;
    const std::size_t weights = take(out * in), bias = take(out);
    Numbers<N> output(count * out, N(0.0)), d_input(count * in, N(0.0));
    for (std::size_t b = 0; b < count; ++b)
      for (std::size_t o = 0; o < out; ++o) {
        N a = theta[bias + o];
        for (std::size_t i = 0; i < in; ++i) a += theta[weights + o * in + i] * input[b * in + i];
        if (head || a > N(0.0)) output[b * out + o] = a;
        if (!head) routes.push_back(a > N(0.0) ? 1 : 0);
      }
    const Numbers<N> d_output = head ? at_logits(output) : from_layer(l + 1, output, out);
    for (std::size_t b = 0; b < count; ++b)
      for (std::size_t o = 0; o < out; ++o) {
        if (!head && !(output[b * out + o] > N(0.0))) continue;
        const N d = d_output[b * out + o];
        by_theta[bias + o] += d;
        for (std::size_t i = 0; i < in; ++i) {
          by_theta[weights + o * in + i] += d * input[b * in + i];
          d_input[b * in + i] += d * theta[weights + o * in + i];
        }
      }
    return d_input;
  }

  // CE(label, a) = log Σ_j e^{a_j} − a_label
  Numbers<N> at_logits(const Numbers<N>& z) {
    using std::exp, std::log;
    logits = z;
    const std::size_t classes = net.classes;
    Numbers<N> by_z(z.size(), N(0.0));
    for (std::size_t b = 0; b < batch.labels.size(); ++b) {
      const std::size_t label = batch.labels[b];
      const N weight(u[label] / static_cast<double>(batch.labels.size()));
      Numbers<N> a;
      for (std::size_t j = 0; j < classes; ++j) a.push_back(x[j] * z[b * classes + j] + x[classes + j]);
      N max = a[0], sum(0.0);
      for (const N& one : a) max = one > max ? one : max;
      for (const N& one : a) sum += exp(one - max);
      value += weight * (log(sum) + max - a[label]);
      for (std::size_t j = 0; j < classes; ++j) {
        const N d = weight * (exp(a[j] - max) / sum - N(j == label ? 1.0 : 0.0));
        by_z[b * classes + j] = d * x[j];
        by_x[j] += d * z[b * classes + j];
        by_x[classes + j] += d;
      }
    }
    return by_z;
  }
};

// ---- What is asked of it -------------------------------------------------------------------------------------------

template <class N>
Walk<N> inner(const Network& net, const Batch& batch, const Numbers<N>& x, const Numbers<N>& theta) {
  return Walk<N>{net, batch, x, theta, Reals(net.classes, 1.0)}.walk();
}
template <class N>
N inner_value(const Network& net, const Batch& batch, const Numbers<N>& x, const Numbers<N>& theta) {
  return inner(net, batch, x, theta).value;
}
template <class N>
Numbers<N> inner_gradient_x(const Network& net, const Batch& batch, const Numbers<N>& x, const Numbers<N>& theta) {
  return inner(net, batch, x, theta).by_x;
}
template <class N>
Numbers<N> inner_gradient_y(const Network& net, const Batch& batch, const Numbers<N>& x, const Numbers<N>& theta) {
  return inner(net, batch, x, theta).by_theta;
}

template <class N>
Walk<N> outer(const Network& net, const Batch& batch, const Reals& u, const Numbers<N>& theta,
              const std::vector<Statistics<N>>& given = {}) {
  Numbers<N> x(2 * net.classes, N(0.0));
  for (std::size_t j = 0; j < net.classes; ++j) x[j] = N(1.0);
  return Walk<N>{net, batch, x, theta, u, given}.walk();
}
template <class N>
N outer_value(const Network& net, const Batch& batch, const Reals& u, const Numbers<N>& theta) {
  return outer(net, batch, u, theta).value;
}
template <class N>
Numbers<N> outer_gradient_y(const Network& net, const Batch& batch, const Reals& u, const Numbers<N>& theta) {
  return outer(net, batch, u, theta).by_theta;
}

// [picture][class]; with `given`, what `statistics` said of another batch. Labels are not needed.
template <class N>
Numbers<N> logits(const Network& net, const Batch& batch, const Numbers<N>& theta,
                  const std::vector<Statistics<N>>& given = {}) {
  return outer(net, {batch.pictures, {}}, {}, theta, given).logits;
}
template <class N>
std::vector<Statistics<N>> statistics(const Network& net, const Batch& batch, const Numbers<N>& theta) {
  return outer(net, {batch.pictures, {}}, {}, theta).statistics;
}

// g_yy v and g_xy v: how the two gradients of g change as θ moves along v.
inline Reals inner_hvp_yy(const Network& net, const Batch& batch, const Reals& x, const Reals& theta, const Reals& v) {
  return slopes_of(inner(net, batch, with_slopes(x), with_slopes(theta, v)).by_theta);
}
inline Reals inner_hvp_xy(const Network& net, const Batch& batch, const Reals& x, const Reals& theta, const Reals& v) {
  return slopes_of(inner(net, batch, with_slopes(x), with_slopes(theta, v)).by_x);
}

}  // namespace obolus::test::slow
