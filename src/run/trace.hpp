// A row of numbers as a line of JSON. Numbers print so that they read back as the same bits.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "obolus/metrics/regret.hpp"

namespace obolus {

class TraceFormatter {
 public:
  // `mu_g` certifies distances when known (> 0).
  TraceFormatter(bool vectors, double mu_g) : vectors_(vectors), mu_g_(mu_g) {}

  template <class S>
  const std::string& line(const Row& r, const Vector<S>& x, const Vector<S>& y) {
    line_.clear();
    const auto out = std::back_inserter(line_);
    fmt::format_to(out,
                   R"({{"t":{},"f":{},"g":{},"regret":{},"regret_increment":{},"own_mapping":{},)"
                   R"("hypergradient_error":{},"residual_y":{},"residual_z":{},"lambda":{},"inner_steps":{},)"
                   R"("inner_steps_y":{},"inner_steps_z":{},"capped":{},"grad_f":{},"grad_g":{},"hvp":{},"cross":{})",
                   r.t, r.f, r.g, r.regret, r.regret_increment, r.own_mapping, r.hypergradient_error, r.residual_y,
                   r.residual_z, r.lambda, r.inner_steps, r.inner_steps_y, r.inner_steps_z, r.capped, r.counts.grad_f(),
                   r.counts.grad_g(), r.counts.hvp, r.counts.cross);
    if (mu_g_ > 0)
      fmt::format_to(out, R"(,"distance_y":{},"distance_z":{})", distance_y(r), distance_z(r));
    fmt::format_to(out, R"(,"seconds":{})", r.seconds);
    if (vectors_) list("x", x), list("y", y);
    line_ += "}\n";
    return line_;
  }

  // Certified by strong convexity: μ_g|z − y*| ≤ |∇_y g(z)| and (λ_t μ_g/2)|y − y*_λ| ≤ |∇_y L_t(y)| (paper, eqs. delta_y, delta_z).
  [[nodiscard]] double distance_y(const Row& r) const { return 2 * r.residual_y / (r.lambda * mu_g_); }
  [[nodiscard]] double distance_z(const Row& r) const { return r.residual_z / mu_g_; }

 private:
  template <class S>
  void list(const char* name, const Vector<S>& v) {
    fmt::format_to(std::back_inserter(line_), R"(,"{}":[)", name);
    for (Index i = 0; i < v.size(); ++i) fmt::format_to(std::back_inserter(line_), "{}{}", i ? "," : "", v[i]);
    line_ += ']';
  }

  bool vectors_;
  double mu_g_;
  std::string line_;
};

}  // namespace obolus
