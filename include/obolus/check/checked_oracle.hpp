// A problem behind virtual calls: the checks are compiled once per scalar, not once per problem.
#pragma once

#include "obolus/core/capabilities.hpp"
#include "obolus/core/oracle.hpp"

namespace obolus::checks {

// Calls that `capabilities` does not promise do nothing.
template <class S>
class CheckedOracle {
 public:
  using Scalar = S;

  virtual ~CheckedOracle() = default;
  [[nodiscard]] virtual Capabilities capabilities() const = 0;
  [[nodiscard]] virtual bool is_stream() const = 0;
  [[nodiscard]] virtual Dims dims() const = 0;
  virtual void reveal(Round t) = 0;
  virtual double outer_value(In<S> x, In<S> y) = 0;
  virtual double inner_value(In<S> x, In<S> y) = 0;
  virtual void outer_gradient_x(In<S> x, In<S> y, Out<S> d) = 0;
  virtual void outer_gradient_y(In<S> x, In<S> y, Out<S> d) = 0;
  virtual void inner_gradient_x(In<S> x, In<S> y, Out<S> d) = 0;
  virtual void inner_gradient_y(In<S> x, In<S> y, Out<S> d) = 0;
  virtual void inner_gradient_x_difference(In<S> x, In<S> z, In<S> delta, Out<S> d) = 0;
  virtual void inner_gradient_y_difference(In<S> x, In<S> z, In<S> delta, Out<S> d) = 0;
  virtual void inner_hvp_yy(In<S> x, In<S> y, In<S> v, Out<S> d) = 0;
  virtual void inner_hvp_xy(In<S> x, In<S> y, In<S> v, Out<S> d) = 0;
  virtual void inner_solution(In<S> x, Out<S> y) = 0;
  virtual void resample(SampleSizes sizes, Rng& rng) = 0;
  virtual void expectation() = 0;
};

template <FirstOrderOracle P>
class CheckedProblem final : public CheckedOracle<ScalarOf<P>> {
  using S = ScalarOf<P>;

 public:
  explicit CheckedProblem(P& p) : p_(p) {}

  [[nodiscard]] Capabilities capabilities() const override { return capabilities_of(p_); }
  [[nodiscard]] bool is_stream() const override { return Stream<P>; }
  [[nodiscard]] Dims dims() const override { return p_.dims(); }
  void reveal([[maybe_unused]] Round t) override {
    if constexpr (Stream<P>) p_.reveal(t);
  }
  double outer_value(In<S> x, In<S> y) override { return p_.outer_value(x, y); }
  double inner_value(In<S> x, In<S> y) override { return p_.inner_value(x, y); }
  void outer_gradient_x(In<S> x, In<S> y, Out<S> d) override { p_.outer_gradient_x(x, y, d); }
  void outer_gradient_y(In<S> x, In<S> y, Out<S> d) override { p_.outer_gradient_y(x, y, d); }
  void inner_gradient_x(In<S> x, In<S> y, Out<S> d) override { p_.inner_gradient_x(x, y, d); }
  void inner_gradient_y(In<S> x, In<S> y, Out<S> d) override { p_.inner_gradient_y(x, y, d); }
  void inner_gradient_x_difference(In<S> x, In<S> z, In<S> delta, Out<S> d) override {
    if constexpr (DifferenceOracle<P>) p_.inner_gradient_x_difference(x, z, delta, d);
  }
  void inner_gradient_y_difference(In<S> x, In<S> z, In<S> delta, Out<S> d) override {
    if constexpr (DifferenceOracle<P>) p_.inner_gradient_y_difference(x, z, delta, d);
  }
  void inner_hvp_yy(In<S> x, In<S> y, In<S> v, Out<S> d) override {
    if constexpr (HvpOracle<P>) p_.inner_hvp_yy(x, y, v, d);
  }
  void inner_hvp_xy(In<S> x, In<S> y, In<S> v, Out<S> d) override {
    if constexpr (HvpOracle<P>) p_.inner_hvp_xy(x, y, v, d);
  }
  void inner_solution(In<S> x, Out<S> y) override {
    if constexpr (ClosedFormOracle<P>) p_.inner_solution(x, y);
  }
  void resample(SampleSizes sizes, Rng& rng) override {
    if constexpr (StochasticOracle<P>) p_.resample(sizes, rng);
  }
  void expectation() override {
    if constexpr (StochasticOracle<P>) p_.expectation();
  }

 private:
  P& p_;
};

// Whether `reveal` means anything to this problem.
template <FirstOrderOracle P>
[[nodiscard]] constexpr bool is_stream([[maybe_unused]] const P& p) {
  if constexpr (requires { p.is_stream(); }) return p.is_stream();
  else return Stream<P>;
}

}  // namespace obolus::checks
