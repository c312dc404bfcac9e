#include "kernels/network/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr double epsilon = 1e-5;  // of the batch normalisation
constexpr int pictures_a_part = 16, max_parts = 16;

int padded(Index channels, int pack) { return static_cast<int>((channels + pack - 1) / pack * pack); }
std::size_t whole_lines(std::size_t numbers) { return (numbers + 15) / 16 * 16; }

}  // namespace

Index NetworkShape::parameters() const {
  Index total = 0, in = 1, h = height, w = width;
  for (const Index out : channels) total += out * (9 * in + 3), in = out, h /= 2, w /= 2;
  in *= h * w;
  for (const Index out : hidden) total += out * (in + 1), in = out;
  return total + classes * (in + 1);
}

double NetworkShape::operations() const {
  double total = 0;
  Index in = 1, h = height, w = width;
  for (const Index out : channels) {
    h /= 2, w /= 2;
    const double pairs = static_cast<double>(h * w * in * out);
    // The first: 4 places × 9 taps there, a quarter of it back. Later: 16 products there, and 9 for the weights and 9 for the image back.
    total += 2.0 * pairs * (in == 1 ? 36 + 9 : 16 + 9 + 9);
    in = out;
  }
  in *= h * w;
  for (const Index out : hidden) total += 6.0 * static_cast<double>(in * out), in = out;
  return total + 6.0 * static_cast<double>(in * classes);
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

template <class S>
template <class T>
T* Network<S>::take(std::size_t count) {
  auto& store = growing_ ? roomy_ : fixed_;
  store.emplace_back(count * sizeof(T));  // zeros
  return reinterpret_cast<T*>(store.back().data());
}

template <class S>
Network<S>::Network(const NetworkShape& shape, const kernels::network::Kernels<S>& table)
    : shape_(shape), table_(&table), parameters_(shape.parameters()) {
  make_blocks();
  make_layers();
}

template <class S>
void Network<S>::make_blocks() {
  blocks_.resize(shape_.channels.size()), sums_.resize(blocks_.size()), theta_.resize(blocks_.size());
  scale_t_.resize(blocks_.size()), shift_.resize(blocks_.size()), shift_t_.resize(blocks_.size());
  Index height = shape_.height, width = shape_.width;
  std::size_t offset = 0;
  for (std::size_t l = 0; l < blocks_.size(); ++l) {
    Block& k = blocks_[l];
    k.before = l == 0 ? nullptr : &blocks_[l - 1];
    k.height = static_cast<int>(height), k.width = static_cast<int>(width);
    height /= 2, width /= 2;
    k.rows = static_cast<int>(height), k.columns = static_cast<int>(width);
    k.own_in = l == 0 ? 1 : blocks_[l - 1].own_out, k.in = l == 0 ? 1 : blocks_[l - 1].out;
    k.own_out = static_cast<int>(shape_.channels[l]), k.out = padded(k.own_out, table_->pack);
    k.group = l == 0 ? 1 : std::clamp(36 / k.windows(), 1, pictures_a_part);
    theta_[l] = offset;
    offset += to_size(k.own_out * (9 * k.own_in + 3));
    const auto taps = to_size(9 * k.in * k.out), out = to_size(k.out);
    k.taps = take<S>(taps), k.taps_t = take<S>(taps);
    if (l > 0) k.winograd = take<S>(to_size(16 * k.in * k.out));
    for (S** array :
         {&k.bias, &k.scale, &k.a, &k.b, &k.mean, &k.inverse, &k.fall, &k.constant, &k.bias_t, &k.a_t, &k.b_t,
          &k.mean_t, &k.inverse_t, &k.fall_t, &k.constant_t, &scale_t_[l], &shift_[l], &shift_t_[l]})
      *array = take<S>(out);
    for (auto* sum : {&sums_[l].slope, &sums_[l].product, &sums_[l].slope_t, &sums_[l].product_t}) sum->resize(out);
  }
}

template <class S>
void Network<S>::make_layers() {
  std::size_t offset = blocks_.empty() ? 0 : theta_.back();
  int pixels = 1, own = static_cast<int>(shape_.height * shape_.width), in = padded(own, table_->pack);
  if (!blocks_.empty()) {
    const Block& last = blocks_.back();
    offset += to_size(last.own_out * (9 * last.own_in + 3));
    pixels = last.windows(), own = pixels * last.own_out, in = pixels * last.out;
  }
  for (std::size_t l = 0; l <= shape_.hidden.size(); ++l) {
    Layer& layer = layers_.emplace_back();
    layer.rectified = l < shape_.hidden.size();
    layer.own_in = own, layer.in = in, layer.pixels = pixels;
    layer.own_out = static_cast<int>(layer.rectified ? shape_.hidden[l] : shape_.classes);
    layer.out = padded(layer.own_out, table_->pack);
    layer.theta = offset;
    offset += to_size(layer.own_out) * to_size(layer.own_in + 1);
    const auto all = to_size(layer.in) * to_size(layer.out);
    for (S** array : {&layer.weights, &layer.transposed, &layer.weights_t, &layer.transposed_t, &layer.gradient})
      *array = take<S>(all);
    layer.bias = take<S>(to_size(layer.out)), layer.bias_t = take<S>(to_size(layer.out));
    own = layer.own_out, in = layer.out, pixels = 1;
  }
}

template <class S>
void Network<S>::make_part(Part& part) {
  std::size_t image = 0, spectrum = 0, product = 0, windows = 0, flow = 0, back = 0, taps = 0, out = 0, lists = 0;
  for (Block& k : blocks_) {
    const auto raise = [](std::size_t& max, std::size_t value) { max = std::max(max, value); };
    const auto w = to_size(k.group * k.windows());
    k.images = image;
    image += whole_lines(to_size(k.group) * to_size(k.in * k.pixels()));
    raise(back, to_size(k.in * k.pixels()));
    raise(spectrum, k.before == nullptr ? 0 : 16 * w * to_size(k.in));
    raise(product, k.before == nullptr ? 0 : 16 * w * to_size(k.out));
    raise(windows, w), raise(flow, w * to_size(k.out));
    raise(lists, w * to_size(k.out));
    raise(taps, to_size(9 * k.in * k.out)), raise(out, to_size(k.out));
  }
  part.image = take<S>(image), part.image_t = take<S>(image), part.back = take<S>(back);
  part.spectrum = take<S>(spectrum), part.product = take<S>(product);
  part.flow = take<S>(flow), part.flow_t = take<S>(flow);
  part.patches = take<S>(16 * windows + to_size(table_->pack));
  part.dots = take<S>((windows + 1) * to_size(table_->pack));
  part.corner = take<std::int32_t>(windows), part.passed = take<std::uint64_t>(4 * windows * ((out + 63) / 64));
  part.list = take<kernels::network::Passed>(lists + 1);
  part.count = take<std::int32_t>(out);
  part.gradient = take<S>(taps);
  for (double** array :
       {&part.bias, &part.mean, &part.squares, &part.sum, &part.product_sum, &part.cross_sum, &part.unused})
    *array = take<double>(out);
}

// Room for so many pictures; all that depends on the number of parts.
template <class S>
void Network<S>::make_room(int count) {
  count_ = count;
  parts_ = std::clamp(count / pictures_a_part, 1, max_parts);
  if (count <= room_) return;
  room_ = 0;  // nothing is there if memory runs out below
  roomy_.clear();
  growing_ = true;
  const auto pictures = to_size(count);
  for (Block& k : blocks_) {
    const std::size_t all = pictures * to_size(k.windows() * k.out);
    for (S** array : {&k.pooled, &k.slope, &k.pooled_t, &k.slope_t}) *array = take<S>(all);
    k.winner = take<std::uint8_t>(all + 64);
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    const std::size_t in = pictures * to_size(layer.in), out = pictures * to_size(layer.out);
    layer.input = l == 0 ? take<S>(in) : layers_[l - 1].output;
    layer.input_t = l == 0 ? take<S>(in) : layers_[l - 1].output_t;
    for (S** array : {&layer.output, &layer.output_t, &layer.slope, &layer.slope_t}) *array = take<S>(out);
  }
  part_.assign(to_size(parts_), {});
  for (Part& part : part_) make_part(part);
  growing_ = false;
  room_ = count;
}

// ---- Weights --------------------------------------------------------------------------------------------------------

template <class S>
void Network<S>::load_layer(const Layer& layer, const S* theta, S* weights, S* transposed, S* bias) const {
  const S* from = theta + layer.theta;
  const int own = layer.own_in / layer.pixels, channels = layer.in / layer.pixels;
  for (int o = 0; o < layer.own_out; ++o)
    for (int p = 0; p < layer.pixels; ++p)
      for (int c = 0; c < own; ++c, ++from) {
        const Index i = Index(p) * channels + c;
        weights[Index(o) * layer.in + i] = *from, transposed[i * layer.out + o] = *from;
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
    for (S* to : {k.bias, k.scale, shift_[l]}) std::copy_n(from, k.own_out, to), from += k.own_out;
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
    for (S* to : {k.bias_t, scale_t_[l], shift_t_[l]}) std::copy_n(from, k.own_out, to), from += k.own_out;
  }
  for (const Layer& layer : layers_) load_layer(layer, theta, layer.weights_t, layer.transposed_t, layer.bias_t);
}

// ---- Forward --------------------------------------------------------------------------------------------------------

// Statistics of the whole batch from those of its parts, one after the other; then h = a p + b.
template <class S>
void Network<S>::normalise(std::size_t l) {
  Block& k = blocks_[l];
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
    // A variance beyond the numbers would make a dead channel of it, and hide that.
    const double inverse =
        std::isfinite(squares) ? 1.0 / std::sqrt(squares / count + epsilon) : std::numeric_limits<double>::quiet_NaN();
    k.mean[i] = static_cast<S>(mean), k.inverse[i] = static_cast<S>(inverse);
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
      std::fill_n(part.mean, k.out, 0.0), std::fill_n(part.squares, k.out, 0.0);
      table_->forward(k, part, first, last);
    });
    if (own_statistics) normalise(l);
    for (int c = 0; c < k.own_out; ++c) k.a[c] = k.scale[c] * k.inverse[c], k.b[c] = shift_[l][c] - k.mean[c] * k.a[c];
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
void Network<S>::start_backward(std::size_t l, S* gradient) {
  Block& k = blocks_[l];
  const double count = double(count_) * k.windows();
  S *scale = gradient + theta_[l] + (9 * k.own_in + 1) * k.own_out, *shift = scale + k.own_out;
  for (int c = 0; c < k.own_out; ++c) {
    const auto i = to_size(c);
    double slope = 0, product = 0;
    for (int p = 0; p < parts_; ++p) slope += part_[to_size(p)].sum[i], product += part_[to_size(p)].product_sum[i];
    sums_[l].slope[i] = slope, sums_[l].product[i] = product;
    scale[c] = static_cast<S>(product), shift[c] = static_cast<S>(slope);
    const double fall = -double(k.a[c]) * double(k.inverse[c]) * product / count;
    k.fall[c] = static_cast<S>(fall);
    k.constant[c] = static_cast<S>(-double(k.a[c]) * slope / count - fall * double(k.mean[c]));
  }
}

// The parts' gradients of a block's weights, in its place of the whole.
template <class S>
void Network<S>::collect(std::size_t l, S* gradient) {
  const Block& k = blocks_[l];
  S* to = gradient + theta_[l];
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
    std::fill_n(part.sum, last.out, 0.0), std::fill_n(part.product_sum, last.out, 0.0);
    const Index start = Index(first) * last.windows() * last.out;
    table_->sums(last.slope + start, last.pooled + start, last.mean, last.inverse, last.out,
                 (end - first) * last.windows(), part.sum, part.product_sum);
  });
  for (std::size_t l = blocks_.size(); l-- > 0;) {
    const Block& k = blocks_[l];
    start_backward(l, gradient);
    each_part([&](Part& part, int first, int end) {
      std::fill_n(part.gradient, 9 * k.in * k.out, S(0)), std::fill_n(part.bias, k.out, 0.0);
      if (l > 0) std::fill_n(part.sum, k.in, 0.0), std::fill_n(part.product_sum, k.in, 0.0);
      table_->backward(k, part, first, end);
    });
    collect(l, gradient);
  }
}

template class Network<float>;
template class Network<double>;

}  // namespace obolus
