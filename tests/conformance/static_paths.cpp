#include "tests/conformance/static_paths.hpp"

#include <type_traits>

#include "obolus/optimisers/af2obo.hpp"
#include "obolus/optimisers/aobo.hpp"
#include "obolus/optimisers/bome.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "obolus/optimisers/f2sa.hpp"
#include "obolus/optimisers/f3sa.hpp"
#include "obolus/optimisers/fixed.hpp"
#include "obolus/optimisers/fsobo.hpp"
#include "obolus/optimisers/oagd.hpp"
#include "obolus/optimisers/obbo.hpp"
#include "obolus/optimisers/pbgd.hpp"
#include "obolus/optimisers/sf2obo.hpp"
#include "obolus/optimisers/sobbo.hpp"
#include "obolus/optimisers/sobow.hpp"
#include "obolus/optimisers/sogd.hpp"
#include "obolus/optimisers/with_finite_differences.hpp"
#include "obolus/optimisers/wobo.hpp"
#include "obolus/optimisers/zo_sogd.hpp"

namespace obolus::test {
namespace {

template <class Optimiser>
typename Optimiser::Options read_options(const Keys& keys) {
  const toml::table root = section_table("optimiser", keys);
  config::SectionReader reader(root, "optimiser");
  typename Optimiser::Options options;
  options.describe(reader);
  return options;
}

template <class Optimiser>
StaticPath path() {
  return {
      Optimiser::info.name,
      [](const OptimiserMode& mode, Quadratic<double>& p, const ConvexSet& set) -> std::unique_ptr<AnySession<double>> {
        return std::make_unique<Session<Optimiser, Quadratic<double>>>(
            Optimiser(read_options<Optimiser>(all_keys(mode)), set), p, mode.start(), start_y);
      },
      []([[maybe_unused]] const OptimiserMode& mode,
         [[maybe_unused]] FirstOrderAndSamples& p) -> std::unique_ptr<AnySession<double>> {
        if constexpr (Optimiser::info.needs_hvp) {
          return nullptr;
        } else {
          using Least = std::conditional_t<Optimiser::info.stochastic, FirstOrderAndSamples, FirstOrderOnly>;
          const Vector<double> one = Vector<double>::Ones(1);
          return std::make_unique<Session<Optimiser, Least>>(
              Optimiser(read_options<Optimiser>(all_keys(mode)), mode.unbounded_set()), static_cast<Least&>(p), one,
              one);
        }
      }};
}

// clang-format off: one line per optimiser
const StaticPath static_paths[] = {
    path<F2obo>(),
    path<F2oboSingleLoop>(),
    path<Af2obo>(),
    path<Sf2obo>(),
    path<Oagd>(),
    path<Sobow>(),
    path<Obbo>(),
    path<Sobbo>(),
    path<Fsobo>(),
    path<Aobo>(),
    path<Wobo>(),
    path<Sogd>(),
    path<ZoSogd>(),
    path<FsoboDifferences>(),
    path<AoboDifferences>(),
    path<F2sa>(),
    path<F3sa>(),
    path<Bome>(),
    path<Pbgd>(),
    path<Fixed>(),
};
// clang-format on

}  // namespace

const StaticPath* static_path(std::string_view optimiser) {
  for (const StaticPath& p : static_paths)
    if (p.name == optimiser) return &p;
  return nullptr;
}

}  // namespace obolus::test
