#include "obolus/problems/softmax_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "obolus/core/error.hpp"
#include "problems/fitted_scale.hpp"
#include "problems/softmax_data.hpp"

namespace obolus {
namespace {

// log Σ_c exp(s l_c) and, through `each(c, p_c)`, the softmax of s l, in double; `each` may overwrite l_c.
template <class Column, class Each>
double log_sum_exp(const Column& l, double scale, Each&& each) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0.0;
  for (Index c = 0; c < l.size(); ++c) most = std::max(most, scale * double(l(c)));
  for (Index c = 0; c < l.size(); ++c) sum += std::exp(scale * double(l(c)) - most);
  for (Index c = 0; c < l.size(); ++c) each(c, std::exp(scale * double(l(c)) - most) / sum);
  return most + std::log(sum);
}

}  // namespace

template <class S>
SoftmaxOracle<S>::SoftmaxOracle(const Options& options, std::uint64_t seed)
    : SoftmaxOracle(options, load_rows(options, seed), seed) {}

template <class S>
SoftmaxOracle<S>::SoftmaxOracle(const Options& options, std::shared_ptr<const LabelledRows> data, std::uint64_t seed)
    : options_(options), pools_(options, std::move(data), seed) {
  make_groups();
  first_.resize(pools_.classes()), second_.resize(pools_.classes());
}

// Groups of features alike frequent: equal numbers of features each, the rarest first.
template <class S>
void SoftmaxOracle<S>::make_groups() {
  const Index features = pools_.features();
  groups_ = features;
  if (options_.sharing == Sharing::feature) return;
  groups_ = options_.sharing == Sharing::global ? 1 : std::min<Index>(options_.groups, features);
  std::vector<std::int64_t> frequency(static_cast<std::size_t>(features), 0);
  for (const std::int32_t column : pools_.data().train.column) ++frequency[static_cast<std::size_t>(column)];
  std::vector<std::int32_t> order(static_cast<std::size_t>(features));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return frequency[static_cast<std::size_t>(a)] < frequency[static_cast<std::size_t>(b)];
  });
  group_.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    group_[static_cast<std::size_t>(order[i])] =
        static_cast<std::int32_t>(i * static_cast<std::size_t>(groups_) / order.size());
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
  sizes_ = sizes, next_numbers_ = rng;
  drawn_ = true;
}
template <class S>
void SoftmaxOracle<S>::draw(SampleSizes sizes, Rng& rng, RoundRows& out) {
  if (options_.batch == 0) return pools_.draw(round_, sizes, rng, out);
  if (!current_) pools_.of_round(round_, revealed_), current_ = true;
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
  if (!current_) pools_.of_round(round_, revealed_), current_ = true;
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
    const auto row = static_cast<std::size_t>(now.row[static_cast<std::size_t>(r)]);
    for (std::int64_t k = a.start[row]; k < a.start[row + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
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
    const auto row = static_cast<std::size_t>(now.row[static_cast<std::size_t>(first + r)]);
    for (std::int64_t k = a.start[row]; k < a.start[row + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
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
    sum += log_sum_exp(l.col(r), scale, [](Index, double) {}) -
           scale * double(l(now.label[static_cast<std::size_t>(first + r)], r));
  return l.cols() > 0 ? sum / static_cast<double>(l.cols()) : 0.0;
}

template <class S>
double SoftmaxOracle<S>::scale_of(const Logits& l, Index first) const {
  const RoundRows& now = drawn_ ? sample_ : revealed_;
  return fitted_scale(1e-14, [&](double scale, double& slope, double& curvature) {
    for (Index r = 0; r < l.cols(); ++r) {
      double mean = 0.0, square = 0.0;
      log_sum_exp(l.col(r), scale, [&](Index c, double p) {
        mean += p * double(l(c, r)), square += p * double(l(c, r)) * double(l(c, r));
      });
      slope += mean - double(l(now.label[static_cast<std::size_t>(first + r)], r));
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
    outer_logits_(now.label[static_cast<std::size_t>(now.inner + r)], r) -= S(weight);
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
    logits_(now.label[static_cast<std::size_t>(r)], r) -= S(weight);
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

// ---- Smoothness ------------------------------------------------------------------------------------------------------

namespace {

// The largest eigenvalue of a a'/n by the power method, from below.
double largest_eigenvalue(const SparseRows& a, const RoundRows& now) {
  const auto rows = static_cast<std::size_t>(now.inner);
  if (rows == 0) return 0.0;
  std::vector<double> u(rows, 1.0), v(static_cast<std::size_t>(a.columns));
  double value = 0.0;
  for (int i = 0; i < 30; ++i) {
    std::fill(v.begin(), v.end(), 0.0);
    const auto each = [&](std::size_t r, auto&& body) {
      const auto row = static_cast<std::size_t>(now.row[r]);
      for (auto k = static_cast<std::size_t>(a.start[row]); k < static_cast<std::size_t>(a.start[row + 1]); ++k)
        body(static_cast<std::size_t>(a.column[k]), double(a.value[k]));
    };
    for (std::size_t r = 0; r < rows; ++r) each(r, [&](std::size_t f, double w) { v[f] += w * u[r]; });
    double squares = 0.0;
    for (std::size_t r = 0; r < rows; ++r) {
      u[r] = 0.0;
      each(r, [&](std::size_t f, double w) { u[r] += w * v[f]; });
      squares += u[r] * u[r];
    }
    value = std::sqrt(squares);
    if (value == 0.0) return 0.0;
    for (double& number : u) number /= value;
  }
  return value / static_cast<double>(rows);
}

}  // namespace

// The Hessian of a softmax loss in its logits is at most ½.
template <class S>
double SoftmaxOracle<S>::inner_smoothness(const ConvexSet& set) {
  double largest = 0.0;
  RoundRows some;
  for (Round t = 2; t <= 5; ++t) {
    pools_.of_round(t, some);
    largest = std::max(largest, 0.5 * largest_eigenvalue(pools_.data().train, some));
  }
  double most_x = 0.0;
  set.visit([&]<class Set>(const Set& s) {
    if constexpr (std::is_same_v<Set, sets::Box>) most_x = s.upper.maxCoeff();
    else most_x = std::numeric_limits<double>::infinity();
  });
  return largest + (std::isfinite(most_x) ? std::max(0.0, most_x) : 0.0);
}

// ---- Measures --------------------------------------------------------------------------------------------------------

template <class S>
template <class Rows, class Label>
auto SoftmaxOracle<S>::score(const SparseRows& a, const Rows& rows, In<S> y, double scale, Label&& label) const
    -> Score {
  const Index classes = pools_.classes();
  Vector<S> l(classes);
  Score sum;
  Index count = 0;
  for (const auto row : rows) {
    l.setZero();
    const auto i = static_cast<std::size_t>(row);
    for (std::int64_t k = a.start[i]; k < a.start[i + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      l += S(a.value[entry]) * y.segment(a.column[entry] * classes, classes);
    }
    const Index own = label(row);
    Index best = 0;
    l.maxCoeff(&best);
    sum.loss += log_sum_exp(l, scale, [](Index, double) {}) - scale * double(l(own));
    sum.accuracy += best == own ? 1.0 : 0.0;
    ++count;
  }
  const double n = static_cast<double>(std::max<Index>(1, count));
  return {sum.loss / n, sum.accuracy / n};
}

template <class S>
void SoftmaxOracle<S>::judge(In<S>, In<S> y, Evaluation& out) {
  const RoundRows& now = rows();
  const std::span<const std::int32_t> judged(now.row.data() + now.inner, static_cast<std::size_t>(now.outer()));
  std::size_t at = static_cast<std::size_t>(now.inner);
  const Score s = score(pools_.data().train, judged, y, 1.0, [&](std::int32_t) { return now.label[at++]; });
  out.add("loss", s.loss), out.add("accuracy", s.accuracy);
}

template <class S>
void SoftmaxOracle<S>::evaluate(In<S> x, In<S> y, Evaluation& out) {
  const LabelledRows& data = pools_.data();
  const RoundRows& now = rows();
  const std::vector<std::int32_t>& pool = pools_.inner_pool();
  const Score noisy = score(data.train, pool, y, 1.0, [&](std::int32_t row) { return pools_.label(row, round_); });
  const Score clean =
      score(data.train, pool, y, 1.0, [&](std::int32_t row) { return pools_.clean_label(row, round_); });
  const std::span<const std::int32_t> batch(now.row.data(), static_cast<std::size_t>(now.inner));
  std::size_t at = 0;
  const Score last = score(data.train, batch, y, 1.0, [&](std::int32_t) { return now.label[at++]; });
  std::vector<std::int32_t> tests(static_cast<std::size_t>(data.test.rows()));
  std::iota(tests.begin(), tests.end(), 0);
  const auto test_label = [&](std::int32_t row) { return pools_.test_label(row, round_); };
  const Score test = score(data.test, tests, y, 1.0, test_label);
  out.add("test_accuracy", test.accuracy), out.add("test_loss", test.loss);
  if (options_.temperature == Temperature::fitted)
    out.add("test_loss_scaled", score(data.test, tests, y, outer_scale(y), test_label).loss);
  out.add("train_noisy", noisy.loss), out.add("train_clean", clean.loss), out.add("train_batch", last.loss);
  const Index classes = pools_.classes();
  double penalty = 0.0;
  for (Index i = 0; i < pools_.features(); ++i)
    penalty += 0.5 * double(x(static_cast<Index>(group_of(i)))) *
               y.segment(i * classes, classes).template cast<double>().squaredNorm();
  out.add("penalty", penalty);
  Vector<S> sorted = x;
  std::sort(sorted.begin(), sorted.end());
  const auto quantile = [&](double q) { return double(sorted(static_cast<Index>(q * double(sorted.size() - 1)))); };
  out.add("x_mean", x.template cast<double>().mean());
  out.add("x_q05", quantile(0.05)), out.add("x_q50", quantile(0.5)), out.add("x_q95", quantile(0.95));
  out.add("x_zero", double((x.array() == S(0)).count()) / double(x.size()));
}

template class SoftmaxOracle<float>;
template class SoftmaxOracle<double>;

}  // namespace obolus
