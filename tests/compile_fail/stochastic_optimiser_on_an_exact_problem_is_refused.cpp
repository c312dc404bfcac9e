// expect: no matching function for call to .*step
// expect: StochasticOracle
#include "exact_problem.hpp"
#include "obolus/optimisers/sf2obo.hpp"

void use(Exact& p, const obolus::Sf2obo& sf2obo, obolus::Sf2obo::State<Exact>& state) {
  sf2obo.step(p, state, obolus::Rng(1));
}
