#include "fit/penalties/penalties.hpp"

#include "fit/penalties/by_optimiser.hpp"
#include "fit/penalties/first_order.hpp"
#include "fit/penalties/shared.hpp"

namespace obolus::fit {

template <class S>
std::unique_ptr<Penalties<S>> make_penalties(const std::optional<FeatureAdamOptions>& first_order,
                                             const std::optional<OptimisedPenaltyOptions>& by_optimiser) {
  if (first_order) return std::make_unique<FirstOrderPenalties<S>>(*first_order);
  if (by_optimiser) return std::make_unique<PenaltiesByOptimiser<S>>(*by_optimiser);
  return std::make_unique<SharedPenalties<S>>();
}

template std::unique_ptr<Penalties<float>> make_penalties(const std::optional<FeatureAdamOptions>&,
                                                          const std::optional<OptimisedPenaltyOptions>&);
template std::unique_ptr<Penalties<double>> make_penalties(const std::optional<FeatureAdamOptions>&,
                                                           const std::optional<OptimisedPenaltyOptions>&);

}  // namespace obolus::fit
