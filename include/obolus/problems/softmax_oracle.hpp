// Softmax regression with tuned penalties, by the book:
//     g(x, θ) = mean over g's rows of CE(label, θ'a) + ½ Σ_i x_i |θ_i|²,
//     f(θ) = mean over f's rows of CE(label, s θ'a),
// θ_i the weights of feature i in every class, y = (θ_1, θ_2, …). s is 1, or fitted: f = min_s mean CE(label, s θ'a),
// and its gradient is taken at that s (Danskin).
//
// Every call is written from the definition on dense vectors. `SoftmaxL2` has the same functions with iterates that are
// not.
#pragma once

#include <memory>
#include <vector>

#include "obolus/core/evaluation.hpp"
#include "obolus/core/knowledge.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/problems/softmax_pools.hpp"

namespace obolus {

template <class S = double>
class SoftmaxOracle {
 public:
  using Scalar = S;
  using Options = SoftmaxOptions;
  static constexpr std::string_view name = "softmax_l2_dense";
  static constexpr std::string_view title = "softmax_l2 without its kernels, to compare with";

  SoftmaxOracle(const Options& options, std::uint64_t seed);
  // Data of one's own.
  SoftmaxOracle(const Options& options, std::shared_ptr<const LabelledRows> data, std::uint64_t seed);

  [[nodiscard]] Dims dims() const { return {groups_, pools_.features() * pools_.classes()}; }
  void reveal(Round t);
  // Draws, with replacement, from what the round is: its batch, or with batch = 0 the whole pools.
  void resample(SampleSizes sizes, Rng& rng);
  void expectation();

  double outer_value(In<S> x, In<S> y);
  double inner_value(In<S> x, In<S> y);
  void outer_gradient_x(In<S> x, In<S> y, Out<S> d);
  void outer_gradient_y(In<S> x, In<S> y, Out<S> d);
  void inner_gradient_x(In<S> x, In<S> y, Out<S> d);
  void inner_gradient_y(In<S> x, In<S> y, Out<S> d);
  void inner_gradient_x_difference(In<S> x, In<S> z, In<S> delta, Out<S> d);
  void inner_gradient_y_difference(In<S> x, In<S> z, In<S> delta, Out<S> d);
  void inner_hvp_yy(In<S> x, In<S> y, In<S> v, Out<S> d);
  void inner_hvp_xy(In<S> x, In<S> y, In<S> v, Out<S> d);

  // ½ the largest eigenvalue of a'a/n over a few rounds' rows of g, plus the largest x of the set.
  [[nodiscard]] double inner_smoothness(const ConvexSet& set);

  // Losses and accuracies on whole pools and on the test rows, and how x is spread.
  void evaluate(In<S> x, In<S> y, Evaluation& out);
  // Loss and accuracy on f's rows of the round, without a fitted scale.
  void judge(In<S> x, In<S> y, Evaluation& out);

  [[nodiscard]] SoftmaxPools& pools() { return pools_; }

 protected:
  [[nodiscard]] Round round() const { return round_; }
  [[nodiscard]] const Options& options() const { return options_; }
  // The rows that f and g are now: the round's, or those drawn.
  [[nodiscard]] const RoundRows& rows();
  [[nodiscard]] bool drawn() const { return drawn_; }
  // The next draw, if it is of the same size as the last and continues the same random numbers.
  void foresee(RoundRows& out);
  // Which x_i is feature i's; empty: the i-th.
  [[nodiscard]] const std::vector<std::int32_t>& group() const { return group_; }
  [[nodiscard]] std::size_t group_of(Index feature) const {
    return to_size(group_.empty() ? feature : group_[to_size(feature)]);
  }
  void make_groups();

 private:
  void draw(SampleSizes sizes, Rng& rng, RoundRows& out);
  using Logits = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;  // classes × rows

  // logits(c, r) = Σ_i a_ri y_ic over rows first … last − 1
  void logits(In<S> y, Index first, Index last, Logits& out);
  // d ← d + Σ_r a_r residual_r'
  void scatter(const Logits& residual, Index first, Out<S> d) const;
  // d_i ← x_i v_i, and d_g ← Σ <u_i, v_i> over the features of group g
  void penalty_part(In<S> x, In<S> v, Out<S> d) const;
  void group_products(In<S> u, In<S> v, S weight, Out<S> d) const;
  [[nodiscard]] double scale_of(const Logits& logits, Index first) const;
  struct Score {
    double loss = 0.0, accuracy = 0.0;
  };
  template <class Rows, class Label>
  [[nodiscard]] Score score(const SparseRows& data, const Rows& rows, In<S> y, double scale, Label&& label) const;
  [[nodiscard]] double cross_entropy(const Logits& logits, Index first, double scale) const;
  double outer_scale(In<S> y);  // leaves f's logits in outer_logits_

  Options options_;
  SoftmaxPools pools_;
  Index groups_ = 0;
  std::vector<std::int32_t> group_;
  Round round_ = 1;
  bool current_ = false, drawn_ = false;
  RoundRows revealed_, sample_;
  SampleSizes sizes_;                     // of the last draw
  Rng next_numbers_{0};                   // and where it ended
  Logits logits_, outer_logits_, other_;  // scratch, as are
  Vector<double> first_, second_;         // numbers by class
};

extern template class SoftmaxOracle<float>;
extern template class SoftmaxOracle<double>;

}  // namespace obolus
