#include "obolus/problems/softmax_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "problems/fitted_scale.hpp"
#include "problems/log_sum_exp.hpp"
#include "problems/softmax_data.hpp"

namespace obolus {

template <class S>
SoftmaxOracle<S>::SoftmaxOracle(const Options& options, std::uint64_t seed)
    : SoftmaxOracle(options, load_rows(options, seed), seed) {}

template <class S>
SoftmaxOracle<S>::SoftmaxOracle(const Options& options, std::shared_ptr<const LabelledRows> data, std::uint64_t seed)
    : options_(options), pools_(options, std::move(data), seed) {
  make_groups();
  first_.resize(pools_.classes());
  second_.resize(pools_.classes());
}

// Groups of features alike frequent: equal numbers of features each, the rarest first.
template <class S>
void SoftmaxOracle<S>::make_groups() {
  const Index features = pools_.features();
  groups_ = features;
  if (options_.sharing == Sharing::feature) return;
  groups_ = options_.sharing == Sharing::global ? 1 : std::min<Index>(options_.groups, features);
  std::vector<std::int64_t> frequency(to_size(features), 0);
  for (const std::int32_t column : pools_.data().train.column) ++frequency[to_size(column)];
  std::vector<std::int32_t> order(to_size(features));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return frequency[to_size(a)] < frequency[to_size(b)]; });
  group_.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    group_[to_size(order[i])] = static_cast<std::int32_t>(i * to_size(groups_) / order.size());
}

template <class S>
void SoftmaxOracle<S>::reveal(Round t) {
  current_ = current_ && t == round_;
  round_ = t;
  drawn_ = false;
}
template <class S>
void SoftmaxOracle<S>::resample(SampleSizes sizes, Rng& rng) {
  draw(sizes, rng, sample_);
  sizes_ = sizes;
  next_numbers_ = rng;
  drawn_ = true;
}
template <class S>
void SoftmaxOracle<S>::draw(SampleSizes sizes, Rng& rng, RoundRows& out) {
  if (options_.batch == 0) return pools_.draw(round_, sizes, rng, out);
  if (!current_) {
    pools_.of_round(round_, revealed_);
    current_ = true;
  }
  revealed_.draw(sizes, rng, out);
}
template <class S>
void SoftmaxOracle<S>::foresee(RoundRows& out) {
  Rng rng = next_numbers_;
  draw(sizes_, rng, out);
}
template <class S>
void SoftmaxOracle<S>::expectation() {
  drawn_ = false;
}
template <class S>
const RoundRows& SoftmaxOracle<S>::rows() {
  if (drawn_) return sample_;
  if (!current_) {
    pools_.of_round(round_, revealed_);
    current_ = true;
  }
  return revealed_;
}

template <class S>
void SoftmaxOracle<S>::logits(In<S> y, Index first, Index last, Logits& out) {
  const SparseRows& a = pools_.data().train;
  const Index classes = pools_.classes();
  const RoundRows& now = rows();
  out.resize(classes, last - first);
  for (Index r = first; r < last; ++r) {
    auto column = out.col(r - first);
    column.setZero();
    const auto row = to_size(now.row[to_size(r)]);
    for (std::int64_t k = a.start[row]; k < a.start[row + 1]; ++k) {
      const auto entry = to_size(k);
      column += S(a.value[entry]) * y.segment(a.column[entry] * classes, classes);
    }
  }
}

template <class S>
void SoftmaxOracle<S>::scatter(const Logits& residual, Index first, Out<S> d) const {
  const SparseRows& a = pools_.data().train;
  const Index classes = pools_.classes();
  const RoundRows& now = drawn_ ? sample_ : revealed_;
  for (Index r = 0; r < residual.cols(); ++r) {
    const auto row = to_size(now.row[to_size(first + r)]);
    for (std::int64_t k = a.start[row]; k < a.start[row + 1]; ++k) {
      const auto entry = to_size(k);
      d.segment(a.column[entry] * classes, classes) += S(a.value[entry]) * residual.col(r);
    }
  }
}

template <class S>
void SoftmaxOracle<S>::penalty_part(In<S> x, In<S> v, Out<S> d) const {
  const Index classes = pools_.classes();
  const S* from = v.data();
  S* to = d.data();
  for (Index i = 0; i < pools_.features(); ++i) {
    const S weight = x(static_cast<Index>(group_of(i)));
    for (Index c = 0; c < classes; ++c) *to++ = weight * *from++;
  }
}

template <class S>
void SoftmaxOracle<S>::group_products(In<S> u, In<S> v, S weight, Out<S> d) const {
  const Index classes = pools_.classes();
  d.setZero();
  for (Index i = 0; i < pools_.features(); ++i)
    d(static_cast<Index>(group_of(i))) += weight * u.segment(i * classes, classes).dot(v.segment(i * classes, classes));
}

template <class S>
double SoftmaxOracle<S>::cross_entropy(const Logits& l, Index first, double scale) const {
  const RoundRows& now = drawn_ ? sample_ : revealed_;
  double sum = 0.0;
  for (Index r = 0; r < l.cols(); ++r)
    sum += log_sum_exp(l.col(r), scale, [](Index, double) {}) - scale * double(l(now.label[to_size(first + r)], r));
  return l.cols() > 0 ? sum / static_cast<double>(l.cols()) : 0.0;
}

template <class S>
double SoftmaxOracle<S>::scale_of(const Logits& l, Index first) const {
  const RoundRows& now = drawn_ ? sample_ : revealed_;
  return fitted_scale(1e-14, [&](double scale, double& slope, double& curvature) {
    for (Index r = 0; r < l.cols(); ++r) {
      double mean = 0.0, square = 0.0;
      log_sum_exp(l.col(r), scale, [&](Index c, double p) {
        mean += p * double(l(c, r));
        square += p * double(l(c, r)) * double(l(c, r));
      });
      slope += mean - double(l(now.label[to_size(first + r)], r));
      curvature += square - mean * mean;
    }
  });
}

template <class S>
double SoftmaxOracle<S>::outer_scale(In<S> y) {
  const Index inner = rows().inner;
  logits(y, inner, rows().size(), outer_logits_);
  return options_.temperature == Temperature::fitted ? scale_of(outer_logits_, inner) : 1.0;
}

template <class S>
double SoftmaxOracle<S>::outer_value(In<S>, In<S> y) {
  const double scale = outer_scale(y);
  return cross_entropy(outer_logits_, rows().inner, scale);
}

template <class S>
double SoftmaxOracle<S>::inner_value(In<S> x, In<S> y) {
  const Index classes = pools_.classes();
  logits(y, 0, rows().inner, logits_);
  double penalty = 0.0;
  for (Index i = 0; i < pools_.features(); ++i)
    penalty += 0.5 * double(x(static_cast<Index>(group_of(i)))) *
               y.segment(i * classes, classes).template cast<double>().squaredNorm();
  return cross_entropy(logits_, 0, 1.0) + penalty;
}

template <class S>
void SoftmaxOracle<S>::outer_gradient_x(In<S>, In<S>, Out<S> d) {
  d.setZero();
}

template <class S>
void SoftmaxOracle<S>::outer_gradient_y(In<S>, In<S> y, Out<S> d) {
  const double scale = outer_scale(y), weight = scale / static_cast<double>(std::max<Index>(1, outer_logits_.cols()));
  const RoundRows& now = rows();
  for (Index r = 0; r < outer_logits_.cols(); ++r) {
    log_sum_exp(outer_logits_.col(r), scale, [&](Index c, double p) { outer_logits_(c, r) = S(weight * p); });
    outer_logits_(now.label[to_size(now.inner + r)], r) -= S(weight);
  }
  d.setZero();
  scatter(outer_logits_, now.inner, d);
}

template <class S>
void SoftmaxOracle<S>::inner_gradient_x(In<S>, In<S> y, Out<S> d) {
  group_products(y, y, S(0.5), d);
}

template <class S>
void SoftmaxOracle<S>::inner_gradient_y(In<S> x, In<S> y, Out<S> d) {
  const RoundRows& now = rows();
  const double weight = 1.0 / static_cast<double>(std::max<Index>(1, now.inner));
  logits(y, 0, now.inner, logits_);
  for (Index r = 0; r < now.inner; ++r) {
    log_sum_exp(logits_.col(r), 1.0, [&](Index c, double p) { logits_(c, r) = S(weight * p); });
    logits_(now.label[to_size(r)], r) -= S(weight);
  }
  penalty_part(x, y, d);
  scatter(logits_, 0, d);
}

// ½(|z_i + δ_i|² − |z_i|²) = <δ_i, z_i> + ½|δ_i|²
template <class S>
void SoftmaxOracle<S>::inner_gradient_x_difference(In<S>, In<S> z, In<S> delta, Out<S> d) {
  const Index classes = pools_.classes();
  d.setZero();
  for (Index i = 0; i < pools_.features(); ++i) {
    const auto di = delta.segment(i * classes, classes);
    d(static_cast<Index>(group_of(i))) += di.dot(z.segment(i * classes, classes)) + S(0.5) * di.squaredNorm();
  }
}

// With p the softmax at z and e_c = expm1 of the change of logit c, the change of p is p_c (e_c − Σ p e)/(1 + Σ p e).
template <class S>
void SoftmaxOracle<S>::inner_gradient_y_difference(In<S> x, In<S> z, In<S> delta, Out<S> d) {
  const RoundRows& now = rows();
  const double weight = 1.0 / static_cast<double>(std::max<Index>(1, now.inner));
  logits(z, 0, now.inner, logits_);
  logits(delta, 0, now.inner, other_);
  Vector<double>&p = first_, &e = second_;
  for (Index r = 0; r < now.inner; ++r) {
    log_sum_exp(logits_.col(r), 1.0, [&](Index c, double value) { p(c) = value; });
    const double centre = p.dot(other_.col(r).template cast<double>());  // only differences of logits count
    for (Index c = 0; c < e.size(); ++c) e(c) = std::expm1(double(other_(c, r)) - centre);
    const double mean = p.dot(e);
    for (Index c = 0; c < e.size(); ++c) other_(c, r) = S(weight * p(c) * (e(c) - mean) / (1.0 + mean));
  }
  penalty_part(x, delta, d);
  scatter(other_, 0, d);
}

template <class S>
void SoftmaxOracle<S>::inner_hvp_yy(In<S> x, In<S> y, In<S> v, Out<S> d) {
  const RoundRows& now = rows();
  const double weight = 1.0 / static_cast<double>(std::max<Index>(1, now.inner));
  logits(y, 0, now.inner, logits_);
  logits(v, 0, now.inner, other_);
  Vector<double>& p = first_;
  for (Index r = 0; r < now.inner; ++r) {
    log_sum_exp(logits_.col(r), 1.0, [&](Index c, double value) { p(c) = value; });
    const double mean = p.dot(other_.col(r).template cast<double>());
    for (Index c = 0; c < p.size(); ++c) other_(c, r) = S(weight * p(c) * (double(other_(c, r)) - mean));
  }
  penalty_part(x, v, d);
  scatter(other_, 0, d);
}

template <class S>
void SoftmaxOracle<S>::inner_hvp_xy(In<S>, In<S> y, In<S> v, Out<S> d) {
  group_products(y, v, S(1), d);
}

template class SoftmaxOracle<float>;
template class SoftmaxOracle<double>;

}  // namespace obolus
