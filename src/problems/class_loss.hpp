// Losses of a network's logits, with what they leave for its backward passes.
//     scaled loss    mean of CE(label, γ_j z_j + Δ_j), x = (γ, Δ)      the paper's parametric loss, g
//     weighted loss  mean of u_label CE(label, z), or Σ u CE/Σ u       f
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/network/network.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {

namespace detail {

inline constexpr Index max_classes = 256;

// p ← softmax of q; log Σ e^q is returned.
inline double soft_max(const double* q, Index classes, double* p) {
  const double max = *std::max_element(q, q + classes);
  double sum = 0.0;
  for (Index j = 0; j < classes; ++j) sum += p[j] = std::exp(q[j] - max);
  for (Index j = 0; j < classes; ++j) p[j] /= sum;
  return max + std::log(sum);
}

template <class S>
double scaled_row(const S* z, Index classes, const S* x, double* p, std::int32_t label) {
  double q[max_classes];
  for (Index j = 0; j < classes; ++j) q[j] = double(x[j]) * double(z[j]) + double(x[classes + j]);
  return soft_max(q, classes, p) - q[label];
}

}  // namespace detail

// The loss; net.slope(), if asked for; and by_x ← its gradient in x unless that is null.
template <class S>
double scaled_loss(Network<S>& net, std::span<const std::int32_t> label, const S* x, S* by_x, bool slopes = true) {
  const Index classes = net.shape().classes;
  const double n = static_cast<double>(label.size());
  double loss = 0.0, p[detail::max_classes], sums[2 * detail::max_classes] = {};
  for (std::size_t r = 0; r < label.size(); ++r) {
    const S* z = net.logits() + r * net.row();
    loss += detail::scaled_row(z, classes, x, p, label[r]);
    p[label[r]] -= 1.0;
    for (Index j = 0; j < classes; ++j) {
      sums[j] += p[j] * double(z[j]);
      sums[classes + j] += p[j];
      if (slopes) net.slope()[r * net.row() + to_size(j)] = static_cast<S>(double(x[j]) * p[j] / n);
    }
  }
  for (Index j = 0; by_x != nullptr && j < 2 * classes; ++j) by_x[j] = static_cast<S>(sums[j] / n);
  return loss / n;
}

// Along net.logits_tangent(): net.slope_tangent(); and by_x ← the tangent of the gradient in x unless that is null.
template <class S>
void scaled_loss_tangent(Network<S>& net, std::span<const std::int32_t> label, const S* x, S* by_x) {
  const Index classes = net.shape().classes;
  const double n = static_cast<double>(label.size());
  double p[detail::max_classes], sums[2 * detail::max_classes] = {};
  for (std::size_t r = 0; r < label.size(); ++r) {
    const S *z = net.logits() + r * net.row(), *z_t = net.logits_tangent() + r * net.row();
    detail::scaled_row(z, classes, x, p, label[r]);
    double mean = 0.0;
    for (Index j = 0; j < classes; ++j) mean += p[j] * double(x[j]) * double(z_t[j]);
    for (Index j = 0; j < classes; ++j) {
      const double p_t = p[j] * (double(x[j]) * double(z_t[j]) - mean);
      sums[j] += p_t * double(z[j]) + (p[j] - (label[r] == j ? 1.0 : 0.0)) * double(z_t[j]);
      sums[classes + j] += p_t;
      net.slope_tangent()[r * net.row() + to_size(j)] = static_cast<S>(double(x[j]) * p_t / n);
    }
  }
  for (Index j = 0; by_x != nullptr && j < 2 * classes; ++j) by_x[j] = static_cast<S>(sums[j] / n);
}

// The loss and net.slope(). u is by label; `by_sum`: divided by Σ u_label, not by the number of pictures.
template <class S>
double weighted_loss(Network<S>& net, std::span<const std::int32_t> label, std::span<const double> u, bool by_sum) {
  const Index classes = net.shape().classes;
  double n = by_sum ? 0.0 : static_cast<double>(label.size());
  for (std::size_t r = 0; by_sum && r < label.size(); ++r) n += u[to_size(label[r])];
  double loss = 0.0, q[detail::max_classes], p[detail::max_classes];
  for (std::size_t r = 0; r < label.size(); ++r) {
    const S* z = net.logits() + r * net.row();
    const double weight = u[to_size(label[r])];
    for (Index j = 0; j < classes; ++j) q[j] = double(z[j]);
    loss += weight * (detail::soft_max(q, classes, p) - q[label[r]]);
    p[label[r]] -= 1.0;
    for (Index j = 0; j < classes; ++j) net.slope()[r * net.row() + to_size(j)] = static_cast<S>(weight * p[j] / n);
  }
  return loss / n;
}

}  // namespace obolus
