// The program of the README, word for word (tests/e2e/docs_test.py compares).
#include <cstdio>
#include <obolus/optimisers/f2obo.hpp>
#include <obolus/run/session.hpp>
using namespace obolus;

struct Tracking {  // y follows x and the drift u:  g = ½|y − x − u|²,   f = ½|y − 1|² + ½·0.1|x|²
  using Scalar = double;
  double u = 0;
  Dims dims() const { return {1, 1}; }
  void reveal(Round t) { u = std::sin(0.01 * double(t)); }
  double outer_value(In<double> x, In<double> y) { return 0.5 * (y[0] - 1) * (y[0] - 1) + 0.05 * x[0] * x[0]; }
  double inner_value(In<double> x, In<double> y) { return 0.5 * (y[0] - x[0] - u) * (y[0] - x[0] - u); }
  void outer_gradient_x(In<double> x, In<double>, Out<double> d) { d[0] = 0.1 * x[0]; }
  void outer_gradient_y(In<double>, In<double> y, Out<double> d) { d[0] = y[0] - 1; }
  void inner_gradient_x(In<double> x, In<double> y, Out<double> d) { d[0] = x[0] + u - y[0]; }
  void inner_gradient_y(In<double> x, In<double> y, Out<double> d) { d[0] = y[0] - x[0] - u; }
};

int main() {
  Tracking problem;
  const F2obo f2obo({.alpha = 0.5, .gamma = 0.2, .lambda1 = 5, .tau = 0.5, .inner_steps = 5}, ConvexSet::box(-3, 3));
  Session session(f2obo, problem, Vector<double>::Zero(1), Vector<double>::Zero(1));
  for (Round t = 1; t <= 1000; ++t) {
    problem.reveal(t);
    if (session.step(Rng(1)).status != Status::ok) return 1;
  }
  std::printf("x = %.4f, best %.4f\n", session.x()[0], (1 - problem.u) / 1.1);
}
