// A problem of your own: ridge regression whose penalty is tuned on validation data while the data drift.
//   inner  g_t(x, y) = ½|A_t y − b_t|² + ½ e^x |y|²     training loss with L2 penalty e^x
//   outer  f_t(x, y) = ½|C_t y − d_t|²                   validation loss
// docs/adding-a-problem.md quotes this file, and a test compares them.
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "obolus/check/oracle.hpp"
#include "obolus/metrics/round_meter.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "obolus/run/run.hpp"

using namespace obolus;

struct Ridge {
  using Scalar = double;
  Matrix<double> A{20, 8}, C{20, 8};
  Vector<double> b, d;

  Dims dims() const { return {1, 8}; }
  // Any round, in any order: the data are a function of t. A new batch every 50 rounds.
  void reveal(Round t) {
    Rng rng = Rng(7).child("round", static_cast<std::uint64_t>(t / 50));
    for (auto& v : A.reshaped()) v = rng.normal() / 4;
    for (auto& v : C.reshaped()) v = rng.normal() / 4;
    const Vector<double> truth = Vector<double>::Constant(8, std::cos(0.01 * static_cast<double>(t / 50)));
    b = A * truth + 0.5 * A.col(0);
    d = C * truth;
  }
  double outer_value(In<double>, In<double> y) { return 0.5 * (C * y - d).squaredNorm(); }
  double inner_value(In<double> x, In<double> y) {
    return 0.5 * (A * y - b).squaredNorm() + 0.5 * std::exp(x[0]) * y.squaredNorm();
  }
  void outer_gradient_x(In<double>, In<double>, Out<double> out) { out.setZero(); }
  void outer_gradient_y(In<double>, In<double> y, Out<double> out) { out = C.transpose() * (C * y - d); }
  void inner_gradient_x(In<double> x, In<double> y, Out<double> out) {
    out[0] = 0.5 * std::exp(x[0]) * y.squaredNorm();
  }
  void inner_gradient_y(In<double> x, In<double> y, Out<double> out) {
    out = A.transpose() * (A * y - b) + std::exp(x[0]) * y;
  }
};

// Compares every gradient with differences of the values, and much more.
bool is_right(Ridge& problem) {
  const CheckReport report = check_oracle(problem);
  for (const Finding& f : report.findings)
    if (!f.ok) std::printf("wrong: %s at %s\n", f.what.c_str(), f.where.c_str());
  return report.ok();
}

int main() {
  Ridge problem;
  problem.reveal(1);
  if (!is_right(problem)) return 1;
  const ConvexSet domain = ConvexSet::box(-8, 2);
  const F2obo optimiser({.alpha = 0.2, .gamma = 0.2, .lambda1 = 10, .tau = 0.5, .inner_steps = 10}, domain);
  Session session(optimiser, problem, Vector<double>::Constant(1, 1.0), Vector<double>::Zero(8));
  RoundMeter meter(problem, domain, 0.2);
  const RunEnd end = run(problem, session, meter, Rng(1), 1, 1000, 0.0, [](const Row& row, const auto& m) {
    if (row.t % 200 == 0)
      std::printf("round %4td  log-penalty %6.3f  validation loss %.4f  regret %.4f\n", row.t, m.x()[0], row.f,
                  row.regret);
    return true;
  });
  return end.status == RunStatus::finished ? 0 : 1;
}
