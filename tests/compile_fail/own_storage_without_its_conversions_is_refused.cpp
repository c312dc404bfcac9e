// expect: a problem with its own Inner needs make_inner\(\), to_dense\(inner, out\) and from_dense\(in, inner\)
#include "obolus/core/inner.hpp"

struct Rows {};

struct Lazy {
  using Scalar = double;
  using Inner = Rows;
  obolus::Dims dims() const { return {1, 1}; }
  double outer_value(obolus::In<double>, obolus::In<double>) { return 0.0; }
  double inner_value(obolus::In<double>, obolus::In<double>) { return 0.0; }
  void outer_gradient_x(obolus::In<double>, obolus::In<double>, obolus::Out<double>) {}
  void outer_gradient_y(obolus::In<double>, obolus::In<double>, obolus::Out<double>) {}
  void inner_gradient_x(obolus::In<double>, obolus::In<double>, obolus::Out<double>) {}
  void inner_gradient_y(obolus::In<double>, obolus::In<double>, obolus::Out<double>) {}
};

void use(Lazy& p) { obolus::InnerSpace<Lazy> space(p); }
