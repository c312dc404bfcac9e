// Experiment::check: the public checkers on the config's problem.
#include "obolus/check/oracle.hpp"
#include "run/experiment_parts.hpp"

namespace obolus {

std::vector<Experiment::CheckLine> Experiment::check() const {
  CheckOptions options;
  options.domain = parts_->set;
  std::visit(
      [&](const auto& p) {
        const auto start = parts_->start_on(*p);
        options.x = start.x.template cast<double>();
        options.y = start.y.template cast<double>();
      },
      parts_->oracle);
  const Rng rng = Rng(static_cast<std::uint64_t>(parts_->problem.seed)).child("check");
  const CheckReport report = std::visit([&](const auto& p) { return check_oracle(*p, options, rng); }, parts_->oracle);
  std::vector<CheckLine> lines;
  for (const Finding& f : report.findings) lines.push_back({f.what, f.ok, f.error, f.tolerance, f.where});
  return lines;
}

}  // namespace obolus
