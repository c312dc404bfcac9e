#include "obolus/problems/loss_tuning.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/network/network.hpp"
#include "obolus/core/to_size.hpp"
#include "problems/class_loss.hpp"

namespace obolus {
namespace {

NetworkShape shape_of(const LossTuningOptions& options, const PicturePools& pools) {
  return {pools.side(), pools.side(), widths_of(options.channels, "problem.channels"),
          widths_of(options.hidden, "problem.hidden"), pools.classes()};
}

}  // namespace

template <class S>
LossTuning<S>::LossTuning(const Options& options, std::uint64_t seed)
    : LossTuning(options, pictures_of(options, seed), seed) {}

template <class S>
LossTuning<S>::LossTuning(const Options& options, std::shared_ptr<const LabelledPictures> data, std::uint64_t seed)
    : options_(options),
      pools_(options, std::move(data), seed),
      seed_(seed),
      network_(std::make_unique<Network<S>>(shape_of(options, pools_))) {
  const Dims d = dims();
  point_.x.resize(d.x);
  point_.y.resize(d.y);
  gradient_.resize(d.y);
  x_gradient_.resize(d.x);
  parameters_.resize(d.x);
}

template <class S>
LossTuning<S>::LossTuning(LossTuning&&) noexcept = default;
template <class S>
LossTuning<S>::~LossTuning() = default;

template <class S>
Dims LossTuning<S>::dims() const {
  return {2 * pools_.classes(), network_->parameters()};
}
template <class S>
void LossTuning<S>::set_threads(int threads) {
  network_->set_threads(threads);
}
template <class S>
const char* LossTuning<S>::kernels() const {
  return network_->kernels();
}

// ---- The stream -----------------------------------------------------------------------------------------------------

template <class S>
void LossTuning<S>::reveal(Round t) {
  round_ = t;
  loaded_ = false;
}

template <class S>
void LossTuning<S>::load() {
  if (loaded_) return;
  pools_.of_round(round_, now_);
  const auto size = to_size(pools_.side() * pools_.side());
  pixels_.resize(now_.picture.size() * size);
  for (std::size_t i = 0; i < now_.picture.size(); ++i)
    pools_.write(pools_.data().train, now_.picture[i], round_, pixels_.data() + i * size);
  point_.data = Data::none;
  loaded_ = true;
}

template <class S>
std::span<const std::int32_t> LossTuning<S>::labels(Data data) const {
  const std::span<const std::int32_t> all(now_.label);
  const auto inner = to_size(now_.inner);
  return data == Data::inner ? all.first(inner) : all.subspan(inner);
}

template <class S>
void LossTuning<S>::start(Out<S> x, Out<S> y) {
  const Index classes = pools_.classes();
  x.head(classes).setOnes();
  x.tail(classes).setZero();
  y.setZero();
  Rng rng = Rng(seed_).child("network");
  const NetworkShape& shape = network_->shape();
  Index at = 0, in = 1, height = shape.height, width = shape.width;
  const auto fill = [&](Index count, double variance) {
    for (Index i = 0; i < count; ++i) y[at + i] = static_cast<S>(std::sqrt(variance) * rng.normal());
    at += count;
  };
  for (const Index out : shape.channels) {
    fill(out * 9 * in, 2.0 / static_cast<double>(9 * out));
    y.segment(at + out, out).setOnes();  // bias 0, scale 1, shift 0
    at += 3 * out;
    in = out;
    height /= 2;
    width /= 2;
  }
  in *= height * width;
  for (const Index out : shape.hidden) {
    fill(out * in, 2.0 / static_cast<double>(in));
    at += out;
    in = out;
  }
}

// ---- Passes ---------------------------------------------------------------------------------------------------------

template <class S>
void LossTuning<S>::forward(Data data, In<S> y) {
  load();
  const bool same_bits =
      std::equal(y.data(), y.data() + y.size(), point_.y.data());  // NaN is never equal: asked again, computed again
  if (point_.data == data && same_bits) return;
  const auto size = to_size(pools_.side() * pools_.side());
  const S* pictures = pixels_.data() + (data == Data::inner ? 0 : to_size(now_.inner) * size);
  network_->forward(y.data(), pictures, static_cast<int>(data == Data::inner ? now_.inner : now_.outer()));
  point_.data = data;
  point_.slopes = false;
  point_.y = y;
}

template <class S>
const S* LossTuning<S>::loss_parameters(In<S> x) {
  if (options_.scale == ClassScale::plain) return x.data();
  parameters_ = x;
  for (Index j = 0; j < pools_.classes(); ++j) parameters_[j] = static_cast<S>(1.0 / (1.0 + std::exp(-double(x[j]))));
  return parameters_.data();
}

// σ' = σ(1 − σ), the latter as σ(−γ): 1 − σ would lose its digits where σ is near 1.
template <class S>
void LossTuning<S>::chain_rule(In<S> x, Out<S> d) {
  d = x_gradient_;
  if (options_.scale == ClassScale::plain) return;
  for (Index j = 0; j < pools_.classes(); ++j) {
    const double gamma = double(x[j]);
    d[j] *= static_cast<S>(1.0 / ((1.0 + std::exp(-gamma)) * (1.0 + std::exp(gamma))));
  }
}

// g's passes at (x, y), unless they are there already; g's gradient in y is then in gradient_.
template <class S>
void LossTuning<S>::backward_inner(In<S> x, In<S> y) {
  forward(Data::inner, y);
  if (point_.slopes && std::equal(x.data(), x.data() + x.size(), point_.x.data())) return;
  scaled_loss<S>(*network_, labels(Data::inner), loss_parameters(x), nullptr);
  network_->backward(gradient_.data());
  point_.slopes = true;
  point_.x = x;
}

// ---- The oracle -----------------------------------------------------------------------------------------------------

// f, and its slopes for the pass back.
template <class S>
double LossTuning<S>::outer_loss(In<S> y) {
  forward(Data::outer, y);
  const bool by_sum = options_.weights == ClassWeights::weighted_mean;
  return weighted_loss(*network_, labels(Data::outer), pools_.class_weight(round_), by_sum);
}
template <class S>
double LossTuning<S>::outer_value(In<S>, In<S> y) {
  return outer_loss(y);
}
template <class S>
double LossTuning<S>::inner_value(In<S> x, In<S> y) {
  forward(Data::inner, y);
  return scaled_loss<S>(*network_, labels(Data::inner), loss_parameters(x), nullptr, false);
}
template <class S>
void LossTuning<S>::outer_gradient_x(In<S>, In<S>, Out<S> d) {
  d.setZero();
}
template <class S>
void LossTuning<S>::outer_gradient_y(In<S>, In<S> y, Out<S> d) {
  outer_loss(y);
  network_->backward(gradient_.data());
  d = gradient_;
}
template <class S>
void LossTuning<S>::inner_gradient_x(In<S> x, In<S> y, Out<S> d) {
  forward(Data::inner, y);
  scaled_loss(*network_, labels(Data::inner), loss_parameters(x), x_gradient_.data(), false);
  chain_rule(x, d);
}
template <class S>
void LossTuning<S>::inner_gradient_y(In<S> x, In<S> y, Out<S> d) {
  backward_inner(x, y);
  d = gradient_;
}
template <class S>
void LossTuning<S>::inner_hvp_yy(In<S> x, In<S> y, In<S> v, Out<S> d) {
  backward_inner(x, y);
  network_->tangent(v.data());
  scaled_loss_tangent<S>(*network_, labels(Data::inner), loss_parameters(x), nullptr);
  network_->tangent_backward(d.data());
}
template <class S>
void LossTuning<S>::inner_hvp_xy(In<S> x, In<S> y, In<S> v, Out<S> d) {
  forward(Data::inner, y);
  network_->tangent(v.data());
  scaled_loss_tangent(*network_, labels(Data::inner), loss_parameters(x), x_gradient_.data());
  chain_rule(x, d);
}

// ---- Measures -------------------------------------------------------------------------------------------------------

namespace {

// Right answers by class, and the loss.
struct Score {
  std::vector<double> right, of_class;
  double loss = 0.0;
  explicit Score(Index classes) : right(to_size(classes)), of_class(to_size(classes)) {}

  template <class S>
  void add(const S* z, std::int32_t label) {
    double q[detail::max_classes], p[detail::max_classes];
    const auto classes = static_cast<Index>(right.size());
    std::copy_n(z, classes, q);
    loss += detail::soft_max(q, classes, p) - q[label];
    of_class[to_size(label)] += 1.0;
    if (std::max_element(q, q + classes) - q == label) right[to_size(label)] += 1.0;
  }
  [[nodiscard]] double count() const {
    double n = 0.0;
    for (const double of : of_class) n += of;
    return n;
  }
  [[nodiscard]] double accuracy() const {
    double n = 0.0;
    for (const double r : right) n += r;
    return n / count();
  }
  // Mean recall of the classes there are.
  [[nodiscard]] double balanced() const {
    double sum = 0.0, classes = 0.0;
    for (std::size_t j = 0; j < right.size(); ++j)
      if (of_class[j] > 0) {
        sum += right[j] / of_class[j];
        classes += 1.0;
      }
    return sum / classes;
  }
};

}  // namespace

template <class S>
void LossTuning<S>::each_of(const Pictures& set, Index all, bool own_statistics, In<S> y,
                            const std::function<std::int32_t(Index)>& number,
                            const std::function<void(std::int32_t, const S*)>& use) {
  const Index chunks = (all + 499) / 500, at_once = (all + chunks - 1) / chunks;
  const auto size = to_size(pools_.side() * pools_.side());
  evaluated_.resize(to_size(at_once) * size);
  for (Index first = 0; first < all; first += at_once) {
    const Index count = std::min(at_once, all - first);
    for (Index i = 0; i < count; ++i)
      pools_.write(set, number(first + i), round_, evaluated_.data() + to_size(i) * size);
    if (own_statistics) network_->forward(y.data(), evaluated_.data(), static_cast<int>(count));
    else network_->predict(y.data(), evaluated_.data(), static_cast<int>(count));
    for (Index i = 0; i < count; ++i) use(number(first + i), network_->logits() + to_size(i) * network_->row());
  }
}

template <class S>
void LossTuning<S>::score_test(In<S> y, const char* suffix, bool own_statistics, Evaluation& out) {
  const Pictures& test = pools_.data().test;
  const Index all = options_.test_pictures > 0 ? static_cast<Index>(options_.test_pictures) : test.count();
  Score score(pools_.classes());
  each_of(
      test, all, own_statistics, y, [](Index i) { return static_cast<std::int32_t>(i); },
      [&](std::int32_t picture, const S* logits) { score.add(logits, pools_.test_label(picture, round_)); });
  const std::string end(suffix);
  out.add("test_balanced" + end, score.balanced());
  out.add("test_accuracy" + end, score.accuracy());
  out.add("test_loss" + end, score.loss / score.count());
}

template <class S>
double LossTuning<S>::phase_loss(In<S> x, In<S> y) {
  const auto& pool = pools_.inner_pool(round_);
  const S* parameters = loss_parameters(x);
  double loss = 0.0, p[detail::max_classes];
  each_of(
      pools_.data().train, static_cast<Index>(pool.size()), false, y, [&](Index i) { return pool[to_size(i)]; },
      [&](std::int32_t picture, const S* logits) {
        loss += detail::scaled_row(logits, pools_.classes(), parameters, p, pools_.label(picture, round_));
      });
  return loss / static_cast<double>(pool.size());
}

template <class S>
void LossTuning<S>::judge(In<S>, In<S> y, Evaluation& out) {
  forward(Data::outer, y);
  Score score(pools_.classes());
  const auto label = labels(Data::outer);
  for (std::size_t i = 0; i < label.size(); ++i) score.add(network_->logits() + i * network_->row(), label[i]);
  out.add("loss", score.loss / score.count());
  out.add("accuracy", score.accuracy());
}

template <class S>
void LossTuning<S>::evaluate(In<S> x, In<S> y, Evaluation& out) {
  out.add("train_loss", inner_value(x, y));
  if (options_.phase_loss) out.add("phase_loss", phase_loss(x, y));
  score_test(y, "", false, out);
  score_test(y, "_own", true, out);
  point_.data = Data::none;
  const Index classes = pools_.classes();
  const auto spread = [&](const char* what, const auto& part) {
    out.add(std::string(what) + "_least", double(part.minCoeff()));
    out.add(std::string(what) + "_most", double(part.maxCoeff()));
  };
  spread("scale", Eigen::Map<const Vector<S>>(loss_parameters(x), classes));
  spread("shift", x.tail(classes));
}

template class LossTuning<float>;
template class LossTuning<double>;

}  // namespace obolus
