// Any problem, as an AnyOracle.
#pragma once

#include <utility>

#include "obolus/any/any_oracle.hpp"
#include "obolus/core/inner.hpp"

namespace obolus {

template <FirstOrderOracle P>
  requires Stream<P>
class Erased final : public Forwarding<AnyOracle<ScalarOf<P>>, P> {
  using S = ScalarOf<P>;
  using Own = obolus::Inner<P>;
  using Forwarding<AnyOracle<S>, P>::p_, Forwarding<AnyOracle<S>, P>::refuse;

 public:
  template <class... Args>
  explicit Erased(std::in_place_t, Args&&... args)
      : Forwarding<AnyOracle<S>, P>(std::in_place, std::forward<Args>(args)...), space_(p_) {}

  [[nodiscard]] P& problem() { return p_; }

  void set_threads(int threads) override {
    if constexpr (requires { p_.set_threads(threads); }) p_.set_threads(threads);
  }
  void start(Out<S> x, Out<S> y) override {
    if constexpr (Starts<P>) {
      p_.start(x, y);
    } else {
      x.setZero();
      y.setZero();
    }
  }

  void evaluate([[maybe_unused]] In<S> x, [[maybe_unused]] In<S> y, [[maybe_unused]] Evaluation& out) override {
    if constexpr (Evaluated<P>) p_.evaluate(x, y, out);
  }
  void judge([[maybe_unused]] In<S> x, [[maybe_unused]] In<S> y, [[maybe_unused]] Evaluation& out) override {
    if constexpr (Judged<P>) p_.judge(x, y, out);
  }

  [[nodiscard]] std::optional<Constants> constants(const ConvexSet& set) override {
    if constexpr (KnowsConstants<P>) return p_.constants(set);
    else return std::nullopt;
  }
  [[nodiscard]] double inner_smoothness(const ConvexSet& set) override {
    if constexpr (EstimatesSmoothness<P>) return p_.inner_smoothness(set);
    else return Constants::none;
  }
  [[nodiscard]] Variation variation(Round t, const ConvexSet& set) override {
    if constexpr (KnowsVariation<P>) return p_.variation(t, set);
    else return {};
  }

  [[nodiscard]] AnyInner make_inner() override {
    return AnyInner(std::in_place, space_.make(p_, Vector<S>::Zero(p_.dims().y)));
  }
  void to_dense(const AnyInner& inner, Out<S> out) override { space_.to_dense(p_, own(inner), out); }
  void from_dense(In<S> in, AnyInner& inner) override { space_.from_dense(p_, in, own(inner)); }
  void copy(const AnyInner& from, AnyInner& to) override { space_.copy(p_, own(from), own(to)); }
  void axpy(double a, const AnyInner& from, AnyInner& to) override { space_.axpy(p_, a, own(from), own(to)); }
  [[nodiscard]] bool all_finite(const AnyInner& inner) override { return space_.all_finite(p_, own(inner)); }
  void descend(In<S> x, AnyInner& z, double alpha, std::int64_t steps) override {
    space_.descend(p_, x, own(z), alpha, steps);
  }
  void descend_penalised(In<S> x, AnyInner& y, double beta, Penalty penalty, std::int64_t steps) override {
    space_.descend_penalised(p_, x, own(y), beta, penalty, steps);
  }
  void descend_pair(In<S> x, AnyInner& y, AnyInner& z, double beta, Penalty penalty, double alpha,
                    std::int64_t steps) override {
    space_.descend_pair(p_, x, own(y), own(z), beta, penalty, alpha, steps);
  }
  void descend_dual(In<S> x, AnyInner& z, AnyInner& w, DualStep step, std::int64_t steps) override {
    space_.descend_dual(p_, x, own(z), own(w), step, steps);
  }
  void descend_central(In<S> x, AnyInner& c, AnyInner& w, CentralStep step, std::int64_t steps) override {
    space_.descend_central(p_, x, own(c), own(w), step, steps);
  }
  void descend_system(In<S> x, AnyInner& y, AnyInner& v, SystemStep step) override {
    if constexpr (HvpOracle<P>) space_.descend_system(p_, x, own(y), own(v), step);
    else refuse("Hessian-vector products");
  }
  void implicit_direction(In<S> x, const AnyInner& y, const AnyInner& v, Out<S> d) override {
    if constexpr (HvpOracle<P>) space_.implicit_direction(p_, x, own(y), own(v), d);
    else refuse("Hessian-vector products");
  }
  void bound(AnyInner& v, double radius) override { space_.bound(p_, own(v), radius); }
  LoopResult descend_until(In<S> x, AnyInner& z, double alpha, Until until) override {
    return space_.descend_until(p_, x, own(z), alpha, until);
  }
  LoopResult descend_penalised_until(In<S> x, AnyInner& y, double beta, Penalty penalty, Until until) override {
    return space_.descend_penalised_until(p_, x, own(y), beta, penalty, until);
  }
  LoopResult descend_dual_until(In<S> x, const AnyInner& z, AnyInner& w, DualStep step, Until until) override {
    return space_.descend_dual_until(p_, x, own(z), own(w), step, until);
  }
  [[nodiscard]] double gradient_norm(In<S> x, const AnyInner& z) override {
    return space_.gradient_norm(p_, x, own(z));
  }
  [[nodiscard]] double penalised_gradient_norm(In<S> x, const AnyInner& y, Penalty penalty) override {
    return space_.penalised_gradient_norm(p_, x, own(y), penalty);
  }
  void penalty_direction(In<S> x, const AnyInner& y, const AnyInner& z, double lambda, Out<S> d) override {
    space_.penalty_direction(p_, x, own(y), own(z), lambda, d);
  }
  void dual_direction(In<S> x, const AnyInner& z, const AnyInner& w, double lambda, Out<S> d) override {
    space_.dual_direction(p_, x, own(z), own(w), lambda, d);
  }
  void central_direction(In<S> x, const AnyInner& c, const AnyInner& w, double lambda, Out<S> d) override {
    space_.central_direction(p_, x, own(c), own(w), lambda, d);
  }

  [[nodiscard]] bool unrolls() const override { return obolus::unrolls(p_); }
  void unroll(In<S> x, AnyInner& y, double alpha, std::int64_t steps, Out<S> h) override {
    if constexpr (Unrolls<P>) p_.unroll(x, own(y), alpha, steps, h);
    else refuse("derivatives through its steps");
  }
  [[nodiscard]] bool holds_momentum() const override { return obolus::holds_momentum(p_); }
  [[nodiscard]] AnyInner make_momentum() override {
    if constexpr (HoldsMomentum<P>) return AnyInner(std::in_place, p_.make_momentum());
    else refuse(no_momentum);
  }
  void momentum_from_dense(const DenseMomentum<S>& from, AnyInner& m) override {
    if constexpr (HoldsMomentum<P>) p_.momentum_from_dense(from, m.as<obolus::Momentum<P>>());
    else refuse(no_momentum);
  }
  void momentum_y(const AnyInner& m, Out<S> y) override {
    if constexpr (HoldsMomentum<P>) p_.momentum_y(m.as<obolus::Momentum<P>>(), y);
    else refuse(no_momentum);
  }
  [[nodiscard]] Status momentum_round(In<S> x, AnyInner& m, const MomentumStep& step, Out<S> d) override {
    if constexpr (HoldsMomentum<P>) return p_.momentum_round(x, m.as<obolus::Momentum<P>>(), step, d);
    else refuse(no_momentum);
  }

 private:
  static constexpr const char* no_momentum = "storage of momenta";
  static Own& own(AnyInner& inner) { return inner.as<Own>(); }
  static const Own& own(const AnyInner& inner) { return inner.as<Own>(); }

  InnerSpace<P> space_;
};

}  // namespace obolus
