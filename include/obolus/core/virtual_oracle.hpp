// A problem behind virtual calls: what is written for it is compiled once per scalar, not once per problem.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "obolus/core/capabilities.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/oracle.hpp"

namespace obolus {

// Models every oracle concept; `capabilities` tells which calls the problem behind it can answer.
template <class S>
class VirtualOracle {
 public:
  using Scalar = S;

  virtual ~VirtualOracle() = default;
  [[nodiscard]] virtual Capabilities capabilities() const = 0;
  [[nodiscard]] virtual bool is_stream() const = 0;  // otherwise `reveal` does nothing
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

// `Base`, a VirtualOracle, whose calls go to a problem P. It is held as `Held`: P itself, or a P& that outlives this.
template <class Base, class Held, class P = std::remove_reference_t<Held>>
class Forwarding : public Base {
  using S = ScalarOf<P>;

 public:
  template <class... Args>
  explicit Forwarding(std::in_place_t, Args&&... args) : p_(std::forward<Args>(args)...) {}

  [[nodiscard]] Capabilities capabilities() const override { return capabilities_of(const_cast<P&>(p_)); }
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
    else refuse("differences of inner gradients");
  }
  void inner_gradient_y_difference(In<S> x, In<S> z, In<S> delta, Out<S> d) override {
    if constexpr (DifferenceOracle<P>) p_.inner_gradient_y_difference(x, z, delta, d);
    else refuse("differences of inner gradients");
  }
  void inner_hvp_yy(In<S> x, In<S> y, In<S> v, Out<S> d) override {
    if constexpr (HvpOracle<P>) p_.inner_hvp_yy(x, y, v, d);
    else refuse("Hessian-vector products");
  }
  void inner_hvp_xy(In<S> x, In<S> y, In<S> v, Out<S> d) override {
    if constexpr (HvpOracle<P>) p_.inner_hvp_xy(x, y, v, d);
    else refuse("Hessian-vector products");
  }
  void inner_solution(In<S> x, Out<S> y) override {
    if constexpr (ClosedFormOracle<P>) p_.inner_solution(x, y);
    else refuse("a closed-form inner solution");
  }
  void resample(SampleSizes sizes, Rng& rng) override {
    if constexpr (StochasticOracle<P>) p_.resample(sizes, rng);
    else refuse("samples");
  }
  void expectation() override {
    if constexpr (StochasticOracle<P>) p_.expectation();
  }

 protected:
  Held p_;

  [[noreturn]] static void refuse(const char* what) {
    throw ConfigError(std::string("this problem does not offer ") + what);
  }
};

}  // namespace obolus
