// expect: no matching function for call to .*step
// expect: StochasticOracle
#include "obolus/optimisers/sf2obo.hpp"

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

void use(Exact& p, const obolus::Sf2obo& sf2obo, obolus::PenaltyState<Exact>& state) {
  sf2obo.step(p, state, obolus::Rng(1));
}
