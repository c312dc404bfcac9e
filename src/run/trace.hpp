// A row of numbers as a line of JSON: those that were measured. Numbers print so that they read back as the same bits.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "obolus/core/knowledge.hpp"
#include "obolus/metrics/row.hpp"
#include "obolus/run/profile.hpp"

namespace obolus {

class TraceFormatter {
 public:
  // The constants certify distances where they are known.
  TraceFormatter(bool vectors, const Constants& k) : vectors_(vectors), mu_g_(k.mu_g), L_f1_(k.L_f1) {}

  // `profile`: of x after the round, or none.
  template <class S>
  const std::string& line(const Row& r, const Vector<S>& x, const Vector<S>& y, const Profile* profile) {
    line_.clear();
    const auto out = std::back_inserter(line_);
    fmt::format_to(out, R"({{"t":{})", r.t);
    if (r.measured) fmt::format_to(out, R"(,"f":{},"g":{})", r.f, r.g);
    if (r.has_regret) fmt::format_to(out, R"(,"regret":{},"regret_increment":{})", r.regret, r.regret_increment);
    if (r.measured) fmt::format_to(out, R"(,"own_mapping":{})", r.own_mapping);
    if (r.has_regret) fmt::format_to(out, R"(,"hypergradient_error":{})", r.hypergradient_error);
    if (r.has_residuals) fmt::format_to(out, R"(,"residual_y":{},"residual_z":{})", r.residual_y, r.residual_z);
    if (std::isfinite(r.separation)) fmt::format_to(out, R"(,"separation":{})", r.separation);
    fmt::format_to(
        out,
        R"(,"lambda":{},"inner_steps":{},"inner_steps_y":{},"inner_steps_z":{},"capped":{},"indefinite":{},"grad_f":{},)"
        R"("grad_g":{},"hvp":{},"cross":{},"values":{})",
        r.lambda, r.inner_steps, r.inner_steps_y, r.inner_steps_z, r.capped, r.indefinite, r.counts.grad_f(),
        r.counts.grad_g(), r.counts.hvp_yy, r.counts.hvp_xy, r.counts.values);
    if (certifies_y(r)) fmt::format_to(out, R"(,"distance_y":{})", distance_y(r));
    if (certifies_z(r)) fmt::format_to(out, R"(,"distance_z":{})", distance_z(r));
    fmt::format_to(out, R"(,"seconds":{})", r.seconds);
    if (!r.evaluation.empty()) numbers("evaluation", r.evaluation);
    if (vectors_ && r.measured) list("x", x), list("y", y);
    if (profile && !profile->whole()) fmt::format_to(out, R"(,"x_size":{})", profile->size);
    if (profile) list(profile->whole() ? "x_values" : "x_quantiles", profile->numbers);
    line_ += "}\n";
    return line_;
  }

  // Certified by strong convexity: μ_g|z − y*| ≤ |∇_y g(z)|, and (λ_t μ_g/2)|y − y*_λ| ≤ |∇_y L_t(y)| once λ_t ≥ 2 L_f1/μ_g
  // (paper, eqs. delta_y, delta_z).
  [[nodiscard]] bool certifies_z(const Row& r) const { return r.has_residuals && mu_g_ > 0; }
  [[nodiscard]] bool certifies_y(const Row& r) const {
    return r.has_residuals && mu_g_ > 0 && r.lambda > 0 && r.lambda * mu_g_ >= 2 * L_f1_;
  }
  [[nodiscard]] double distance_y(const Row& r) const { return 2 * r.residual_y / (r.lambda * mu_g_); }
  [[nodiscard]] double distance_z(const Row& r) const { return r.residual_z / mu_g_; }

 private:
  void numbers(const char* name, const Evaluation& evaluation) {
    fmt::format_to(std::back_inserter(line_), R"(,"{}":{{)", name);
    const char* comma = "";
    for (const auto& [key, value] : evaluation)
      fmt::format_to(std::back_inserter(line_), R"({}"{}":{})", std::exchange(comma, ","), key, value);
    line_ += '}';
  }
  template <class V>
  void list(const char* name, const V& v) {
    fmt::format_to(std::back_inserter(line_), R"(,"{}":[)", name);
    const char* comma = "";
    for (const auto number : v) fmt::format_to(std::back_inserter(line_), "{}{}", std::exchange(comma, ","), number);
    line_ += ']';
  }

  bool vectors_;
  double mu_g_, L_f1_;
  std::string line_;
};

}  // namespace obolus
