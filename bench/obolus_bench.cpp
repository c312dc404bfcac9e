// Micro-benchmarks: rounds of every algorithm, projections, random numbers.
#include <benchmark/benchmark.h>

#include "bare_round.hpp"
#include "obolus/any/session.hpp"
#include "obolus/core/convex_set.hpp"
#include "obolus/optimisers/af2obo.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "obolus/optimisers/sf2obo.hpp"
#include "obolus/problems/quadratic.hpp"

namespace {

using namespace obolus;

QuadraticOptions problem_of(benchmark::State& state) {
  return {.dim_x = state.range(0), .dim_y = state.range(0), .drift = Drift::none, .noise = 0.1};
}

void bare_oracle_calls(benchmark::State& state) {
  Quadratic<double> problem(problem_of(state), 1);
  bench::BareRound bare(problem);
  for (auto _ : state) bare(problem, 5);
}

template <class Optimiser>
void round_of(benchmark::State& state) {
  Quadratic<double> problem(problem_of(state), 1);
  const Vector<double> zero = Vector<double>::Zero(state.range(0));
  Session session(Optimiser({.alpha = 0.05, .gamma = 1e-4, .tau = 0.0}, ConvexSet::box(-1, 1)), problem, zero, zero);
  const Rng rng(1);
  for (auto _ : state) benchmark::DoNotOptimize(session.step(rng));
}

void projection(benchmark::State& state, const ConvexSet& set) {
  Rng rng(1);
  Vector<double> start(state.range(0)), x;
  for (double& v : start) v = rng.normal();
  for (auto _ : state) {
    x = start;
    set.project(x);
    benchmark::DoNotOptimize(x.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void normal_numbers(benchmark::State& state) {
  Rng rng(1);
  for (auto _ : state) benchmark::DoNotOptimize(rng.normal());
}

}  // namespace

BENCHMARK(bare_oracle_calls)->Arg(10)->Arg(100);
BENCHMARK(round_of<F2obo>)->Arg(10)->Arg(100);
BENCHMARK(round_of<F2oboSingleLoop>)->Arg(10)->Arg(100);
BENCHMARK(round_of<Af2obo>)->Arg(10)->Arg(100);
BENCHMARK(round_of<Sf2obo>)->Arg(10)->Arg(100);
BENCHMARK_CAPTURE(projection, box, ConvexSet::box(-1, 1))->Arg(10)->Arg(100000);
BENCHMARK_CAPTURE(projection, l2_ball, ConvexSet::l2_ball(1))->Arg(10)->Arg(100000);
BENCHMARK_CAPTURE(projection, l1_ball, ConvexSet::l1_ball(1))->Arg(10)->Arg(100000);
BENCHMARK_CAPTURE(projection, simplex, ConvexSet::simplex())->Arg(10)->Arg(100000);
BENCHMARK(normal_numbers);

BENCHMARK_MAIN();
