// What a round of F²OBO costs beside the bare oracle calls it makes, interleaved in one process, minimum of many.
//     build/bench/bench/round_cost
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

#include "bare_round.hpp"
#include "obolus/any/erased.hpp"
#include "obolus/any/session.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "obolus/problems/quadratic.hpp"

namespace {

using namespace obolus;

// Nanoseconds a call, over a block of calls.
template <class Call>
double time_block(Call&& call) {
  constexpr int calls = 2000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / calls;
}

void measure(Index d, std::int64_t K) {
  const QuadraticOptions options{.dim_x = d, .dim_y = d, .drift = Drift::none};
  const F2obo optimiser({.alpha = 0.05, .gamma = 1e-4, .tau = 0.0, .inner_steps = double(K)}, ConvexSet::box(-1, 1));
  const Vector<double> zero = Vector<double>::Zero(d);
  const Rng rng(1);
  Quadratic<double> plain(options, 1);
  bench::BareRound bare(plain);
  Session fixed(optimiser, plain, zero, zero);
  Erased<Quadratic<double>> erased_model(std::in_place, options, 1);
  AnyOracle<double>& erased = erased_model;
  Session<F2obo, AnyOracle<double>> dynamic(optimiser, erased, zero, zero);
  double best_bare = std::numeric_limits<double>::infinity(), best_fixed = best_bare, best_dynamic = best_bare;
  for (int repetition = 0; repetition < 60; ++repetition) {
    best_bare = std::min(best_bare, time_block([&] { bare(plain, K); }));
    best_fixed = std::min(best_fixed, time_block([&] { fixed.step(rng); }));
    best_dynamic = std::min(best_dynamic, time_block([&] { dynamic.step(rng); }));
  }
  std::printf("%6td %3td  %10.0f  %10.0f %6.2fx  %10.0f %6.2fx\n", d, static_cast<std::ptrdiff_t>(K), best_bare,
              best_fixed, best_fixed / best_bare, best_dynamic, best_dynamic / best_bare);
}

}  // namespace

int main() {
  std::printf("Nanoseconds per round of F²OBO on a dense quadratic, minimum of 60 blocks of 2,000 rounds.\n\n");
  std::printf("d1=d2   K   bare calls   static path         erased path\n");
  for (const auto& [d, K] : {std::pair<Index, std::int64_t>{10, 1}, {10, 5}, {10, 20}, {50, 5}, {200, 5}})
    measure(d, K);
}
