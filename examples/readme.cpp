// The program of the README, word for word (tests/e2e/docs_test.py compares).
#include <cstdio>
#include <obolus/any/session.hpp>
#include <obolus/optimisers/f2obo.hpp>
using namespace obolus;
using V = In<double>;
struct Tracking {  // y follows x and a drift u:   g = ½(y − x − u)²,   f = ½(y − 1)²
  using Scalar = double;
  double u = 0;
  Dims dims() const { return {1, 1}; }
  void reveal(Round t) { u = 0.001 * double(t); }
  double outer_value(V, V y) { return 0.5 * (y[0] - 1) * (y[0] - 1); }
  double inner_value(V x, V y) { return 0.5 * (y[0] - x[0] - u) * (y[0] - x[0] - u); }
  void outer_gradient_x(V, V, Out<double> d) { d[0] = 0; }
  void outer_gradient_y(V, V y, Out<double> d) { d[0] = y[0] - 1; }
  void inner_gradient_x(V x, V y, Out<double> d) { d[0] = x[0] + u - y[0]; }
  void inner_gradient_y(V x, V y, Out<double> d) { d[0] = y[0] - x[0] - u; }
};
int main() {
  Tracking problem;
  const Vector<double> start = Vector<double>::Zero(1);
  const Rng rng(1);  // one for the whole run: every round draws from a child of its own
  Session session(F2obo({.alpha = 0.5, .gamma = 0.2, .tau = 0.5}, ConvexSet::box(-3, 3)), problem, start, start);
  for (Round t = 1; t <= 1000; ++t) {
    problem.reveal(t);
    session.step(rng);
  }
  std::printf("x = %.4f, best %.4f\n", session.x()[0], 1 - problem.u);
}
