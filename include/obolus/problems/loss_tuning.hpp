// A network whose loss is tuned: the paper's image experiment (§7.1).
//     g(x, θ) = mean over g's pictures of CE(label, γ_j z_j + Δ_j),   x = (γ, Δ), one of each a class,
//     f(θ)    = mean over f's pictures of u_label CE(label, z),
// z the logits of the network with weights y = θ: blocks of [3×3 convolution, ReLU, 2×2 max-pooling, batch
// normalisation], hidden layers, a linear head. Batch normalisation takes the statistics of the pictures at hand.
// scale = "sigmoid" puts 1/(1 + e^−γ_j) in the place of γ_j (AutoBalance: Li et al., NeurIPS 2021); weights =
// "weighted_mean" makes f = Σ u CE/Σ u (PyTorch's weighted cross-entropy).
//
// g is not convex in θ: the paper's theorems do not apply, g_yy is indefinite nearly everywhere, and a "solution" is
// where steps end. Nothing is drawn from a round's pictures: under batch normalisation the mean of samples' gradients
// is not the gradient of all.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "obolus/core/evaluation.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/problems/picture_pools.hpp"

namespace obolus {

template <class S>
class Network;

template <class S = double>
class LossTuning {
 public:
  using Scalar = S;
  using Options = LossTuningOptions;
  static constexpr std::string_view name = "loss_tuning";
  static constexpr std::string_view title = "a network with a tuned loss, on pictures";
  static constexpr bool convex = false;

  LossTuning(const Options& options, std::uint64_t seed);
  // Data of one's own.
  LossTuning(const Options& options, std::shared_ptr<const LabelledPictures> data, std::uint64_t seed);
  LossTuning(LossTuning&&) noexcept;
  ~LossTuning();

  [[nodiscard]] Dims dims() const;
  void reveal(Round t);
  // γ = 1, Δ = 0; convolutions N(0, 2/(9·channels out)), hidden layers N(0, 2/width in), the head 0.
  void start(Out<S> x, Out<S> y);

  double outer_value(In<S> x, In<S> y);
  double inner_value(In<S> x, In<S> y);
  void outer_gradient_x(In<S> x, In<S> y, Out<S> d);
  void outer_gradient_y(In<S> x, In<S> y, Out<S> d);
  void inner_gradient_x(In<S> x, In<S> y, Out<S> d);
  void inner_gradient_y(In<S> x, In<S> y, Out<S> d);
  void inner_hvp_yy(In<S> x, In<S> y, In<S> v, Out<S> d);
  void inner_hvp_xy(In<S> x, In<S> y, In<S> v, Out<S> d);

  // Accuracies and losses on the test pictures, with the batch statistics of g's pictures (PyTorch's momentum 1) and,
  // named …_own, with those of the test pictures, about 500 at a time; and how x is spread. phase_loss is g on all
  // training pictures of the phase, with the batch statistics of the round's.
  void evaluate(In<S> x, In<S> y, Evaluation& out);
  // Loss and accuracy on f's pictures of the round.
  void judge(In<S> x, In<S> y, Evaluation& out);

  // Threads share the pictures; the results are the same for any number.
  void set_threads(int threads);
  // "avx512", "avx2" or "portable"
  [[nodiscard]] const char* kernels() const;
  [[nodiscard]] PicturePools& pools() { return pools_; }

 private:
  enum class Data : std::uint8_t { none, inner, outer };
  // What the network has been taken to: calls at one point share their passes.
  struct Point {
    Data data = Data::none;
    bool slopes = false;  // backward has been there, for g's at `x`
    Vector<S> x, y;
  };

  void load();  // the pictures of the round
  void forward(Data data, In<S> y);
  void backward_inner(In<S> x, In<S> y);
  [[nodiscard]] std::span<const std::int32_t> labels(Data data) const;
  // (γ, Δ) as g's loss takes them: x, or the sigmoid's values in the place of γ.
  [[nodiscard]] const S* loss_parameters(In<S> x);
  // d ← a gradient in loss_parameters(x), which x_gradient_ has, as one in x.
  void chain_rule(In<S> x, Out<S> d);
  double outer_loss(In<S> y);
  // use(number(i), logits of that picture of the set) for each i < all.
  void each_of(const Pictures& set, Index all, bool own_statistics, In<S> y,
               const std::function<std::int32_t(Index)>& number,
               const std::function<void(std::int32_t, const S*)>& use);
  void score_test(In<S> y, const char* suffix, bool own_statistics, Evaluation& out);
  [[nodiscard]] double phase_loss(In<S> x, In<S> y);

  Options options_;
  PicturePools pools_;
  std::uint64_t seed_;
  std::unique_ptr<Network<S>> network_;
  Round round_ = 1;
  bool loaded_ = false;
  RoundPictures now_;
  std::vector<S> pixels_, evaluated_;  // of the pictures at hand, g's first; of some that are evaluated
  Point point_;
  Vector<S> gradient_, x_gradient_, parameters_;  // scratch
};

extern template class LossTuning<float>;
extern template class LossTuning<double>;

}  // namespace obolus
