// Counts what an optimiser asks of a problem. Primitives are charged what their definition costs in plain gradients,
// whether or not the problem fuses them, so that budgets compare algorithms and not implementations. A difference
// g_x(y) − g_x(z) is charged as the two gradients it stands for.
#pragma once

#include <cstdint>

#include "obolus/core/archive.hpp"
#include "obolus/core/inner.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/whole_rounds.hpp"

namespace obolus {

struct OracleCounts {
  std::int64_t f_x = 0, f_y = 0, g_x = 0, g_y = 0;  // gradients
  std::int64_t hvp_yy = 0, hvp_xy = 0;              // g_yy v and g_xy v
  std::int64_t values = 0;                          // f or g alone
  std::int64_t samples = 0;                         // ξ and ζ drawn

  [[nodiscard]] std::int64_t grad_f() const { return f_x + f_y; }
  [[nodiscard]] std::int64_t grad_g() const { return g_x + g_y; }

  void fields(Archive& a) {
    a("f_x", f_x);
    a("f_y", f_y);
    a("g_x", g_x);
    a("g_y", g_y);
    a("hvp", hvp_yy);
    a("cross", hvp_xy);
    a("values", values);
    a("samples", samples);
  }
  friend bool operator==(const OracleCounts&, const OracleCounts&) = default;
};

template <FirstOrderOracle P>
class Counted {
 public:
  using Scalar = ScalarOf<P>;
  using Inner = obolus::Inner<P>;

  explicit Counted(P& problem) : p_(&problem), inner_(problem) {}

  [[nodiscard]] OracleCounts& counts() { return counts_; }
  [[nodiscard]] const OracleCounts& counts() const { return counts_; }
  [[nodiscard]] P& problem() { return *p_; }

  [[nodiscard]] Dims dims() const { return p_->dims(); }
  void reveal(Round t)
    requires Stream<P>
  {
    p_->reveal(t);
  }
  double outer_value(In<Scalar> x, In<Scalar> y) {
    ++counts_.values;
    return p_->outer_value(x, y);
  }
  double inner_value(In<Scalar> x, In<Scalar> y) {
    ++counts_.values;
    return p_->inner_value(x, y);
  }
  void outer_gradient_x(In<Scalar> x, In<Scalar> y, Out<Scalar> d) {
    ++counts_.f_x;
    p_->outer_gradient_x(x, y, d);
  }
  void outer_gradient_y(In<Scalar> x, In<Scalar> y, Out<Scalar> d) {
    ++counts_.f_y;
    p_->outer_gradient_y(x, y, d);
  }
  void inner_gradient_x(In<Scalar> x, In<Scalar> y, Out<Scalar> d) {
    ++counts_.g_x;
    p_->inner_gradient_x(x, y, d);
  }
  void inner_gradient_y(In<Scalar> x, In<Scalar> y, Out<Scalar> d) {
    ++counts_.g_y;
    p_->inner_gradient_y(x, y, d);
  }

  void inner_hvp_yy(In<Scalar> x, In<Scalar> y, In<Scalar> v, Out<Scalar> d)
    requires HvpOracle<P>
  {
    ++counts_.hvp_yy;
    p_->inner_hvp_yy(x, y, v, d);
  }
  void inner_hvp_xy(In<Scalar> x, In<Scalar> y, In<Scalar> v, Out<Scalar> d)
    requires HvpOracle<P>
  {
    ++counts_.hvp_xy;
    p_->inner_hvp_xy(x, y, v, d);
  }
  void resample(SampleSizes sizes, Rng& rng)
    requires StochasticOracle<P>
  {
    counts_.samples += sizes.outer + sizes.inner;
    p_->resample(sizes, rng);
  }
  void expectation()
    requires StochasticOracle<P>
  {
    p_->expectation();
  }

  [[nodiscard]] Inner make_inner() { return inner_.make(*p_, Vector<Scalar>::Zero(p_->dims().y)); }
  void to_dense(const Inner& inner, Out<Scalar> out) { inner_.to_dense(*p_, inner, out); }
  void from_dense(In<Scalar> in, Inner& inner) { inner_.from_dense(*p_, in, inner); }
  void copy(const Inner& from, Inner& to) { inner_.copy(*p_, from, to); }
  void axpy(double a, const Inner& from, Inner& to) { inner_.axpy(*p_, a, from, to); }
  [[nodiscard]] bool all_finite(const Inner& inner) { return inner_.all_finite(*p_, inner); }

  void descend(In<Scalar> x, Inner& z, double alpha, std::int64_t steps = 1) {
    counts_.g_y += steps;
    inner_.descend(*p_, x, z, alpha, steps);
  }
  void descend_penalised(In<Scalar> x, Inner& y, double beta, Penalty penalty, std::int64_t steps = 1) {
    charge_penalised(steps);
    inner_.descend_penalised(*p_, x, y, beta, penalty, steps);
  }
  void descend_pair(In<Scalar> x, Inner& y, Inner& z, double beta, Penalty penalty, double alpha,
                    std::int64_t steps = 1) {
    counts_.g_y += steps;
    charge_penalised(steps);
    inner_.descend_pair(*p_, x, y, z, beta, penalty, alpha, steps);
  }
  void descend_dual(In<Scalar> x, Inner& z, Inner& w, DualStep step, std::int64_t steps = 1) {
    counts_.g_y += steps;
    charge_penalised(steps);
    inner_.descend_dual(*p_, x, z, w, step, steps);
  }
  void descend_central(In<Scalar> x, Inner& c, Inner& w, CentralStep step, std::int64_t steps = 1) {
    charge_penalised(2 * steps);
    inner_.descend_central(*p_, x, c, w, step, steps);
  }
  void descend_system(In<Scalar> x, Inner& y, Inner& v, SystemStep step)
    requires HvpOracle<P>
  {
    charge_penalised(1);
    ++counts_.hvp_yy;
    inner_.descend_system(*p_, x, y, v, step);
  }
  void implicit_direction(In<Scalar> x, const Inner& y, const Inner& v, Out<Scalar> d)
    requires HvpOracle<P>
  {
    ++counts_.f_x;
    ++counts_.hvp_xy;
    inner_.implicit_direction(*p_, x, y, v, d);
  }
  void bound(Inner& v, double radius) { inner_.bound(*p_, v, radius); }
  LoopResult descend_until(In<Scalar> x, Inner& z, double alpha, Until until) {
    const LoopResult result = inner_.descend_until(*p_, x, z, alpha, until);
    counts_.g_y += result.steps + 1;
    return result;
  }
  LoopResult descend_penalised_until(In<Scalar> x, Inner& y, double beta, Penalty penalty, Until until) {
    const LoopResult result = inner_.descend_penalised_until(*p_, x, y, beta, penalty, until);
    charge_penalised(result.steps + 1);
    return result;
  }
  LoopResult descend_dual_until(In<Scalar> x, const Inner& z, Inner& w, DualStep step, Until until) {
    const LoopResult result = inner_.descend_dual_until(*p_, x, z, w, step, until);
    charge_penalised(result.steps + 1);
    return result;
  }
  [[nodiscard]] double gradient_norm(In<Scalar> x, const Inner& z) {
    ++counts_.g_y;
    return inner_.gradient_norm(*p_, x, z);
  }
  [[nodiscard]] double penalised_gradient_norm(In<Scalar> x, const Inner& y, Penalty penalty) {
    charge_penalised(1);
    return inner_.penalised_gradient_norm(*p_, x, y, penalty);
  }
  void penalty_direction(In<Scalar> x, const Inner& y, const Inner& z, double lambda, Out<Scalar> d) {
    charge_direction();
    inner_.penalty_direction(*p_, x, y, z, lambda, d);
  }
  void dual_direction(In<Scalar> x, const Inner& z, const Inner& w, double lambda, Out<Scalar> d) {
    charge_direction();
    inner_.dual_direction(*p_, x, z, w, lambda, d);
  }
  void central_direction(In<Scalar> x, const Inner& c, const Inner& w, double lambda, Out<Scalar> d) {
    charge_direction();
    ++counts_.f_x;
    inner_.central_direction(*p_, x, c, w, lambda, d);
  }

  [[nodiscard]] bool unrolls() const { return obolus::unrolls(*p_); }
  void unroll(In<Scalar> x, Inner& y, double alpha, std::int64_t steps, Out<Scalar> h)
    requires Unrolls<P>
  {
    counts_.g_y += steps;
    ++counts_.f_y;
    ++counts_.f_x;
    counts_.hvp_yy += steps - 1;
    counts_.hvp_xy += steps;
    p_->unroll(x, y, alpha, steps, h);
  }

  using Momentum = obolus::Momentum<P>;
  [[nodiscard]] bool holds_momentum() const { return obolus::holds_momentum(*p_); }
  [[nodiscard]] Momentum make_momentum()
    requires HoldsMomentum<P>
  {
    return p_->make_momentum();
  }
  void momentum_from_dense(const DenseMomentum<Scalar>& from, Momentum& m)
    requires HoldsMomentum<P>
  {
    p_->momentum_from_dense(from, m);
  }
  void momentum_y(const Momentum& m, Out<Scalar> y)
    requires HoldsMomentum<P>
  {
    p_->momentum_y(m, y);
  }
  [[nodiscard]] Status momentum_round(In<Scalar> x, Momentum& m, const MomentumStep& step, Out<Scalar> d)
    requires HoldsMomentum<P>
  {
    const std::int64_t points = step.first ? 1 : 2;
    charge_penalised(points);
    counts_.f_x += points;
    counts_.hvp_yy += points;
    counts_.hvp_xy += points;
    return p_->momentum_round(x, m, step, d);
  }

 private:
  void charge_penalised(std::int64_t n) {
    counts_.f_y += n;
    counts_.g_y += n;
  }
  void charge_direction() {
    counts_.f_x += 1;
    counts_.g_x += 2;
  }

  P* p_;
  InnerSpace<P> inner_;
  OracleCounts counts_;
};

}  // namespace obolus
