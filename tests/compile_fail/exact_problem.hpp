// A complete problem without samples, for the cases to spoil.
#pragma once

#include "obolus/core/oracle.hpp"

struct Exact {
  using Scalar = double;
  obolus::Dims dims() const { return {1, 1}; }
  double outer_value(obolus::In<double>, obolus::In<double>) { return 0.0; }
  double inner_value(obolus::In<double>, obolus::In<double>) { return 0.0; }
  void outer_gradient_x(obolus::In<double>, obolus::In<double>, obolus::Out<double>) {}
  void outer_gradient_y(obolus::In<double>, obolus::In<double>, obolus::Out<double>) {}
  void inner_gradient_x(obolus::In<double>, obolus::In<double>, obolus::Out<double>) {}
  void inner_gradient_y(obolus::In<double>, obolus::In<double>, obolus::Out<double>) {}
};
