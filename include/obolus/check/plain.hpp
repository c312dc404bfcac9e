// A problem reduced to its gradients, or to these and its products: every primitive runs by its definition in
// core/inner.hpp.
#pragma once

#include "obolus/core/capabilities.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// Refers to a problem, which must outlive it. Iterates are dense vectors. Differences are kept, since the definitions
// use them: subtracted gradients where the problem has none.
template <FirstOrderOracle P>
class Plain {
 public:
  using Scalar = ScalarOf<P>;

  explicit Plain(P& problem) : p_(&problem) {}

  [[nodiscard]] Dims dims() const { return p_->dims(); }
  double outer_value(In<Scalar> x, In<Scalar> y) { return p_->outer_value(x, y); }
  double inner_value(In<Scalar> x, In<Scalar> y) { return p_->inner_value(x, y); }
  void outer_gradient_x(In<Scalar> x, In<Scalar> y, Out<Scalar> d) { p_->outer_gradient_x(x, y, d); }
  void outer_gradient_y(In<Scalar> x, In<Scalar> y, Out<Scalar> d) { p_->outer_gradient_y(x, y, d); }
  void inner_gradient_x(In<Scalar> x, In<Scalar> y, Out<Scalar> d) { p_->inner_gradient_x(x, y, d); }
  void inner_gradient_y(In<Scalar> x, In<Scalar> y, Out<Scalar> d) { p_->inner_gradient_y(x, y, d); }
  void inner_gradient_x_difference(In<Scalar> x, In<Scalar> z, In<Scalar> delta, Out<Scalar> d)
    requires DifferenceOracle<P>
  {
    if (capabilities_of(*p_).difference) return p_->inner_gradient_x_difference(x, z, delta, d);
    Vector<Scalar> low(d.size());
    p_->inner_gradient_x(x, z, low);
    p_->inner_gradient_x(x, z + delta, d);
    d -= low;
  }
  void inner_gradient_y_difference(In<Scalar> x, In<Scalar> z, In<Scalar> delta, Out<Scalar> d)
    requires DifferenceOracle<P>
  {
    if (capabilities_of(*p_).difference) return p_->inner_gradient_y_difference(x, z, delta, d);
    Vector<Scalar> low(d.size());
    p_->inner_gradient_y(x, z, low);
    p_->inner_gradient_y(x, z + delta, d);
    d -= low;
  }
  void reveal(Round t)
    requires Stream<P>
  {
    p_->reveal(t);
  }

 protected:
  P* p_;
};

template <FirstOrderOracle P>
class PlainWithProducts : public Plain<P> {
 public:
  using typename Plain<P>::Scalar;
  using Plain<P>::Plain;
  void inner_hvp_yy(In<Scalar> x, In<Scalar> y, In<Scalar> v, Out<Scalar> d)
    requires HvpOracle<P>
  {
    this->p_->inner_hvp_yy(x, y, v, d);
  }
  void inner_hvp_xy(In<Scalar> x, In<Scalar> y, In<Scalar> v, Out<Scalar> d)
    requires HvpOracle<P>
  {
    this->p_->inner_hvp_xy(x, y, v, d);
  }
};

}  // namespace obolus
