// What a SoftmaxOracle says of itself and of the state of a run: its smoothness, and its losses and accuracies on whole
// pools.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "obolus/core/convex_set.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/problems/softmax_oracle.hpp"
#include "problems/log_sum_exp.hpp"

namespace obolus {

// ---- Smoothness -----------------------------------------------------------------------------------------------------

namespace {

// The largest eigenvalue of a a'/n by the power method, from below.
double max_eigenvalue(const SparseRows& a, const RoundRows& now) {
  const auto rows = to_size(now.inner);
  if (rows == 0) return 0.0;
  std::vector<double> u(rows, 1.0), v(to_size(a.columns));
  double value = 0.0;
  for (int i = 0; i < 30; ++i) {
    std::fill(v.begin(), v.end(), 0.0);
    const auto each = [&](std::size_t r, auto&& body) {
      const auto row = to_size(now.row[r]);
      for (auto k = to_size(a.start[row]); k < to_size(a.start[row + 1]); ++k)
        body(to_size(a.column[k]), double(a.value[k]));
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
  double max = 0.0;
  RoundRows some;
  for (Round t = 2; t <= 5; ++t) {
    pools_.of_round(t, some);
    max = std::max(max, 0.5 * max_eigenvalue(pools_.data().train, some));
  }
  double max_x = 0.0;
  set.visit([&]<class Set>(const Set& s) {
    if constexpr (std::is_same_v<Set, sets::Box>) max_x = s.upper.maxCoeff();
    else max_x = std::numeric_limits<double>::infinity();
  });
  return max + (std::isfinite(max_x) ? std::max(0.0, max_x) : 0.0);
}

// ---- Measures -------------------------------------------------------------------------------------------------------

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
    const auto i = to_size(row);
    for (std::int64_t k = a.start[i]; k < a.start[i + 1]; ++k) {
      const auto entry = to_size(k);
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
  const std::span<const std::int32_t> judged(now.row.data() + now.inner, to_size(now.outer()));
  std::size_t at = to_size(now.inner);
  const Score s = score(pools_.data().train, judged, y, 1.0, [&](std::int32_t) { return now.label[at++]; });
  out.add("loss", s.loss);
  out.add("accuracy", s.accuracy);
}

template <class S>
void SoftmaxOracle<S>::evaluate(In<S> x, In<S> y, Evaluation& out) {
  const LabelledRows& data = pools_.data();
  const RoundRows& now = rows();
  const std::vector<std::int32_t>& pool = pools_.inner_pool();
  const Score noisy = score(data.train, pool, y, 1.0, [&](std::int32_t row) { return pools_.label(row, round_); });
  const Score clean =
      score(data.train, pool, y, 1.0, [&](std::int32_t row) { return pools_.clean_label(row, round_); });
  const std::span<const std::int32_t> batch(now.row.data(), to_size(now.inner));
  std::size_t at = 0;
  const Score last = score(data.train, batch, y, 1.0, [&](std::int32_t) { return now.label[at++]; });
  std::vector<std::int32_t> tests(to_size(data.test.rows()));
  std::iota(tests.begin(), tests.end(), 0);
  const auto test_label = [&](std::int32_t row) { return pools_.test_label(row, round_); };
  const Score test = score(data.test, tests, y, 1.0, test_label);
  out.add("test_accuracy", test.accuracy);
  out.add("test_loss", test.loss);
  if (options_.temperature == Temperature::fitted)
    out.add("test_loss_scaled", score(data.test, tests, y, outer_scale(y), test_label).loss);
  out.add("train_noisy", noisy.loss);
  out.add("train_clean", clean.loss);
  out.add("train_batch", last.loss);
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
  out.add("x_q05", quantile(0.05));
  out.add("x_q50", quantile(0.5));
  out.add("x_q95", quantile(0.95));
  out.add("x_zero", double((x.array() == S(0)).count()) / double(x.size()));
}

template double SoftmaxOracle<float>::inner_smoothness(const ConvexSet&);
template double SoftmaxOracle<double>::inner_smoothness(const ConvexSet&);
template void SoftmaxOracle<float>::judge(In<float>, In<float>, Evaluation&);
template void SoftmaxOracle<double>::judge(In<double>, In<double>, Evaluation&);
template void SoftmaxOracle<float>::evaluate(In<float>, In<float>, Evaluation&);
template void SoftmaxOracle<double>::evaluate(In<double>, In<double>, Evaluation&);

}  // namespace obolus
