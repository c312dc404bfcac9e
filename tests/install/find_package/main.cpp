// A problem of one's own and an algorithm of ours, from the headers alone.
#include <cmath>
#include <cstdio>
#include <obolus/any/session.hpp>
#include <obolus/check/oracle.hpp>
#include <obolus/optimisers/f2obo.hpp>

struct Tracking {  // g = ½(y − x)², f = ½(y − 1)²: the best x is 1
  using Scalar = float;
  using In = obolus::In<float>;
  using Out = obolus::Out<float>;
  obolus::Dims dims() const { return {1, 1}; }
  void reveal(obolus::Round) {}
  double outer_value(In, In y) { return 0.5 * static_cast<double>((y[0] - 1) * (y[0] - 1)); }
  double inner_value(In x, In y) { return 0.5 * static_cast<double>((y[0] - x[0]) * (y[0] - x[0])); }
  void outer_gradient_x(In, In, Out d) { d[0] = 0; }
  void outer_gradient_y(In, In y, Out d) { d[0] = y[0] - 1; }
  void inner_gradient_x(In x, In y, Out d) { d[0] = x[0] - y[0]; }
  void inner_gradient_y(In x, In y, Out d) { d[0] = y[0] - x[0]; }
};

int main() {
  Tracking problem;
  if (!obolus::check_oracle(problem).ok()) return 1;
  const obolus::F2obo f2obo({.alpha = 0.5, .gamma = 0.2, .lambda1 = 10, .tau = 0.5}, obolus::ConvexSet::box(-3, 3));
  const obolus::Vector<float> zero = obolus::Vector<float>::Zero(1);
  obolus::Session session(f2obo, problem, zero, zero);
  for (obolus::Round t = 1; t <= 500; ++t) {
    problem.reveal(t);
    if (session.step(obolus::Rng(1)).status != obolus::Status::ok) return 2;
  }
  std::printf("x = %.4f\n", static_cast<double>(session.x()[0]));
  return std::abs(session.x()[0] - 1.0f) < 0.01f ? 0 : 3;
}
