#include "fit/model/hyperparameters.hpp"

#include "obolus/core/error.hpp"

namespace obolus::fit {

// P ← D P D + diag(q) with D = 1 − q/2P0, so that P_ii tends to P0 where nothing is learnt.
void Hyperparameters::wander() {
  const std::size_t n = list.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double keep = list[i].tuned ? 1 - list[i].drift / (2 * list[i].prior) : 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      covariance_[i * n + j] *= keep;
      covariance_[j * n + i] *= keep;
    }
    if (list[i].tuned) covariance_[i * n + i] += list[i].drift;
  }
}

// P ← (I + n P M)⁻¹ P, by Gauss–Jordan elimination with pivots. False, and P stays: the information is not finite.
bool Hyperparameters::learn(const std::vector<double>& information, double rows) {
  const std::size_t n = list.size(), wide = 2 * n;
  work_.assign(n * wide, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = work_.data() + i * wide;
    for (std::size_t k = 0; k < n; ++k) {
      row[k] = i == k ? 1.0 : 0.0;
      for (std::size_t l = 0; l < n; ++l) row[k] += rows * covariance_[i * n + l] * information[l * n + k];
      row[n + k] = covariance_[i * n + k];
      if (!std::isfinite(row[k])) return false;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t k = i + 1; k < n; ++k)
      if (std::abs(work_[k * wide + i]) > std::abs(work_[pivot * wide + i])) pivot = k;
    double* const row = work_.data() + i * wide;
    if (pivot != i) std::swap_ranges(row, row + wide, work_.data() + pivot * wide);
    const double by = 1 / row[i];
    for (std::size_t k = i; k < wide; ++k) row[k] *= by;
    for (std::size_t other = 0; other < n; ++other) {
      double* const to = work_.data() + other * wide;
      const double factor = other == i ? 0.0 : to[i];
      if (factor == 0) continue;
      for (std::size_t k = i; k < wide; ++k) to[k] -= factor * row[k];
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      if (!std::isfinite(work_[i * wide + n + k])) return false;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      covariance_[i * n + k] = 0.5 * (work_[i * wide + n + k] + work_[k * wide + n + i]);
  return true;
}

void Hyperparameters::step(const std::vector<double>& slopes, const std::vector<double>& information, double rows) {
  wander();
  if (!std::ranges::all_of(slopes, [](double s) { return std::isfinite(s); }) || !learn(information, rows)) return;
  constexpr double longest = 1;
  const std::size_t n = list.size();
  for (std::size_t i = 0; i < n; ++i) {
    Hyperparameter& h = list[i];
    if (!h.tuned) continue;
    double move = 0;
    for (std::size_t k = 0; k < n; ++k) move += rows * covariance_[i * n + k] * slopes[k];
    h.place = std::clamp(h.place - std::clamp(move, -longest, longest), h.low, h.high);
    h.at_bound += h.place == h.low || h.place == h.high ? 1 : 0;
  }
}

void Hyperparameters::fields(Archive& a) {
  const std::vector<Hyperparameter> made = list;
  saved_list(a, "list", list, 1u << 16);
  saved(a, "covariance", covariance_);
  if (!a.loading()) return;
  if (covariance_.size() != list.size() * list.size() || !is_like(made) ||
      !std::ranges::all_of(covariance_, [](double p) { return std::isfinite(p); }))
    throw DataError("saved state: the hyperparameters are not those that are tuned here");
}

bool Hyperparameters::is_like(const std::vector<Hyperparameter>& made) const {
  std::int32_t groups = 0;
  for (std::size_t i = 0; i < std::max(list.size(), made.size()); ++i) {
    const Hyperparameter& h = i < list.size() ? list[i] : made[i];
    if (i < std::min(list.size(), made.size())) {
      if (h.kind != made[i].kind || h.index != made[i].index || h.tuned != made[i].tuned) return false;
    } else if (h.kind != Tunable::l2 || h.index != groups || !h.tuned) {
      return false;
    }
    if (!(h.low <= h.place && h.place <= h.high && h.drift >= 0 && h.prior > 0 && h.drift <= h.prior)) return false;
    groups += h.kind == Tunable::l2 ? 1 : 0;
  }
  return true;
}

}  // namespace obolus::fit
