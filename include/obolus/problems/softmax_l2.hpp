// Softmax regression whose L2 penalties are the outer variable, on sparse rows: the paper's text experiment (§7.2), and
// the form in which a person's own stream is tuned.
//
// The functions are SoftmaxOracle's. The iterates are LazyRows, and every step of the first-order family, of FSOBO and
// of OBBO and SOBBO is made of kernels on them (src/kernels/softmax/kernels.hpp); SOGD's y, v and momenta are a
// LazyMomentum. A round costs what the documents in it cost, and a few numbers per word of the vocabulary.
#pragma once

#include <memory>

#include "obolus/core/inner_storage.hpp"
#include "obolus/core/whole_rounds.hpp"
#include "obolus/problems/lazy_momentum.hpp"
#include "obolus/problems/lazy_rows.hpp"
#include "obolus/problems/softmax_oracle.hpp"

namespace obolus {

template <class S = double>
class SoftmaxL2 : public SoftmaxOracle<S> {
 public:
  using Inner = LazyRows<S>;
  static constexpr std::string_view name = "softmax_l2";
  static constexpr std::string_view title = "softmax regression with tuned L2 penalties, on text";

  SoftmaxL2(const SoftmaxOptions& options, std::uint64_t seed);
  SoftmaxL2(const SoftmaxOptions& options, std::shared_ptr<const LabelledRows> data, std::uint64_t seed);
  ~SoftmaxL2();

  // Threads share the work of a round; the results are the same for any number.
  void set_threads(int threads);

  [[nodiscard]] Inner make_inner();
  void to_dense(const Inner& inner, Out<S> out);
  void from_dense(In<S> in, Inner& inner);
  void copy(const Inner& from, Inner& to);
  void axpy(double a, const Inner& from, Inner& to);
  [[nodiscard]] bool all_finite(const Inner& inner);

  void descend(In<S> x, Inner& z, double alpha, std::int64_t steps = 1);
  void descend_penalised(In<S> x, Inner& y, double beta, Penalty penalty, std::int64_t steps = 1);
  void descend_pair(In<S> x, Inner& y, Inner& z, double beta, Penalty penalty, double alpha, std::int64_t steps = 1);
  void descend_dual(In<S> x, Inner& z, Inner& w, DualStep step, std::int64_t steps = 1);
  void descend_central(In<S> x, Inner& c, Inner& w, CentralStep step, std::int64_t steps = 1);
  void penalty_direction(In<S> x, const Inner& y, const Inner& z, double lambda, Out<S> d);
  void dual_direction(In<S> x, const Inner& z, const Inner& w, double lambda, Out<S> d);
  void central_direction(In<S> x, const Inner& c, const Inner& w, double lambda, Out<S> d);

  void descend_system(In<S> x, Inner& y, Inner& v, SystemStep step);
  void implicit_direction(In<S> x, const Inner& y, const Inner& v, Out<S> d);
  void bound(Inner& v, double radius);
  void unroll(In<S> x, Inner& y, double alpha, std::int64_t steps, Out<S> h);

  using Momentum = LazyMomentum<S>;
  [[nodiscard]] Momentum make_momentum();
  void momentum_from_dense(const DenseMomentum<S>& from, Momentum& m);
  void momentum_y(const Momentum& m, Out<S> y);
  [[nodiscard]] Status momentum_round(In<S> x, Momentum& m, const MomentumStep& step, Out<S> d);

  // "avx512", "avx2" or "portable"
  [[nodiscard]] const char* kernels() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

extern template class SoftmaxL2<float>;
extern template class SoftmaxL2<double>;

}  // namespace obolus
