// The size of a network, and all memory it needs.
#include <algorithm>

#include "kernels/network/network.hpp"

namespace obolus {
namespace {

constexpr int pictures_a_part = 16, max_parts = 16;

int padded(Index channels, int pack) { return static_cast<int>((channels + pack - 1) / pack * pack); }
std::size_t whole_lines(std::size_t numbers) { return (numbers + 15) / 16 * 16; }

}  // namespace

Index NetworkShape::parameters() const {
  Index total = 0, in = 1, h = height, w = width;
  for (const Index out : channels) {
    total += out * (9 * in + 3);
    in = out;
    h /= 2;
    w /= 2;
  }
  in *= h * w;
  for (const Index out : hidden) {
    total += out * (in + 1);
    in = out;
  }
  return total + classes * (in + 1);
}

double NetworkShape::operations() const {
  double total = 0;
  Index in = 1, h = height, w = width;
  for (const Index out : channels) {
    h /= 2;
    w /= 2;
    const double pairs = static_cast<double>(h * w * in * out);
    // First block: 4 places × 9 taps forward, a quarter of that backward. Later ones: 16 products forward; backward, 9
    // for the weights and 9 for the image.
    total += 2.0 * pairs * (in == 1 ? 36 + 9 : 16 + 9 + 9);
    in = out;
  }
  in *= h * w;
  for (const Index out : hidden) {
    total += 6.0 * static_cast<double>(in * out);
    in = out;
  }
  return total + 6.0 * static_cast<double>(in * classes);
}

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
  blocks_.resize(shape_.channels.size());
  sums_.resize(blocks_.size());
  theta_.resize(blocks_.size());
  scale_t_.resize(blocks_.size());
  shift_.resize(blocks_.size());
  shift_t_.resize(blocks_.size());
  Index height = shape_.height, width = shape_.width;
  std::size_t offset = 0;
  for (std::size_t l = 0; l < blocks_.size(); ++l) {
    Block& k = blocks_[l];
    k.before = l == 0 ? nullptr : &blocks_[l - 1];
    k.height = static_cast<int>(height);
    k.width = static_cast<int>(width);
    height /= 2;
    width /= 2;
    k.rows = static_cast<int>(height);
    k.columns = static_cast<int>(width);
    k.own_in = l == 0 ? 1 : blocks_[l - 1].own_out;
    k.in = l == 0 ? 1 : blocks_[l - 1].out;
    k.own_out = static_cast<int>(shape_.channels[l]);
    k.out = padded(k.own_out, table_->pack);
    k.group = l == 0 ? 1 : std::clamp(36 / k.windows(), 1, pictures_a_part);
    theta_[l] = offset;
    offset += to_size(k.own_out * (9 * k.own_in + 3));
    const auto taps = to_size(9 * k.in * k.out), out = to_size(k.out);
    k.taps = take<S>(taps);
    k.taps_t = take<S>(taps);
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
    pixels = last.windows();
    own = pixels * last.own_out;
    in = pixels * last.out;
  }
  for (std::size_t l = 0; l <= shape_.hidden.size(); ++l) {
    Layer& layer = layers_.emplace_back();
    layer.rectified = l < shape_.hidden.size();
    layer.own_in = own;
    layer.in = in;
    layer.pixels = pixels;
    layer.own_out = static_cast<int>(layer.rectified ? shape_.hidden[l] : shape_.classes);
    layer.out = padded(layer.own_out, table_->pack);
    layer.theta = offset;
    offset += to_size(layer.own_out) * to_size(layer.own_in + 1);
    const auto all = to_size(layer.in) * to_size(layer.out);
    for (S** array : {&layer.weights, &layer.transposed, &layer.weights_t, &layer.transposed_t, &layer.gradient})
      *array = take<S>(all);
    layer.bias = take<S>(to_size(layer.out));
    layer.bias_t = take<S>(to_size(layer.out));
    own = layer.own_out;
    in = layer.out;
    pixels = 1;
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
    raise(windows, w);
    raise(flow, w * to_size(k.out));
    raise(lists, w * to_size(k.out));
    raise(taps, to_size(9 * k.in * k.out));
    raise(out, to_size(k.out));
  }
  part.image = take<S>(image);
  part.image_t = take<S>(image);
  part.back = take<S>(back);
  part.spectrum = take<S>(spectrum);
  part.product = take<S>(product);
  part.flow = take<S>(flow);
  part.flow_t = take<S>(flow);
  part.patches = take<S>(16 * windows + to_size(table_->pack));
  part.dots = take<S>((windows + 1) * to_size(table_->pack));
  part.corner = take<std::int32_t>(windows);
  part.passed = take<std::uint64_t>(4 * windows * ((out + 63) / 64));
  part.list = take<kernels::network::Passed>(lists + 1);
  part.count = take<std::int32_t>(out);
  part.gradient = take<S>(taps);
  for (double** array :
       {&part.bias, &part.mean, &part.squares, &part.sum, &part.product_sum, &part.cross_sum, &part.unused})
    *array = take<double>(out);
}

// Memory for `count` pictures, and for all that depends on the number of parts.
template <class S>
void Network<S>::make_room(int count) {
  count_ = count;
  parts_ = std::clamp(count / pictures_a_part, 1, max_parts);
  if (count <= room_) return;
  room_ = 0;  // no memory is valid if an allocation below fails
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

// The members defined here.
template class Network<float>;
template class Network<double>;

}  // namespace obolus
