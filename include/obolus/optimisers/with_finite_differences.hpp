// A method that asks for products with g_yy and g_xy, on central differences of gradients of g instead:
//     g_yy v ≈ [g_y(x, y + hv) − g_y(x, y − hv)]/(2h),    g_xy v ≈ [g_x(x, y + hv) − g_x(x, y − hv)]/(2h),
// with the h of core/finite_difference.hpp. A product costs two gradients of g, none where v = 0; the rest of a
// round costs what the method costs.
//
// Sourced: the idea (HJFBiO, Huang, ICML 2024). HJFBiO's own momentum and step rules are not here.
#pragma once

#include <utility>

#include "obolus/core/finite_difference.hpp"
#include "obolus/optimisers/aobo.hpp"
#include "obolus/optimisers/fsobo.hpp"

namespace obolus {

// A class that derives from it names itself in `info`. The method sees the problem through the adaptor only, so inner
// iterates are dense and the problem's own primitives are not used.
template <class Method>
class WithFiniteDifferences {
 public:
  using Options = typename Method::Options;

  WithFiniteDifferences(Options options, ConvexSet set) : method_(std::move(options), std::move(set)) {}

  [[nodiscard]] const Options& options() const { return method_.options(); }
  [[nodiscard]] const ConvexSet& set() const { return method_.set(); }

  // The adaptor holds scratch buffers and points to the problem given to `init`; every step must be given the same
  // problem. Nothing points to the adaptor between steps, so a state may be moved.
  template <class P>
  struct State : Method::template State<FiniteDifferenceHvp<P>> {
    using Inherited = typename Method::template State<FiniteDifferenceHvp<P>>;
    FiniteDifferenceHvp<P> products;
    State(Inherited state, FiniteDifferenceHvp<P> adaptor)
        : Inherited(std::move(state)), products(std::move(adaptor)) {}
  };

  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    FiniteDifferenceHvp<P> products(p);
    auto state = method_.init(products, x0, y0);
    return State<P>(std::move(state), std::move(products));
  }

  template <FirstOrderOracle P>
  Step step(P&, State<P>& s, const Rng& rng) const {
    return method_.step(s.products, s, rng);
  }

  template <FirstOrderOracle P>
  void read_y(P&, State<P>& s, Out<ScalarOf<P>> out) const {
    method_.read_y(s.products, s, out);
  }

 private:
  Method method_;
};

class FsoboDifferences : public WithFiniteDifferences<Fsobo> {
 public:
  static constexpr OptimiserInfo info{"fsobo_fd", "FSOBO on central differences of gradients",
                                      "HJFBiO-type (Huang, ICML 2024); FSOBO: Jia, Wang, Chen 2026",
                                      /*needs_hvp=*/false};
  using WithFiniteDifferences::WithFiniteDifferences;
};

class AoboDifferences : public WithFiniteDifferences<Aobo> {
 public:
  static constexpr OptimiserInfo info{"aobo_fd", "AOBO on central differences of gradients",
                                      "HJFBiO-type (Huang, ICML 2024); AOBO: Jia, Wang, Chen 2026",
                                      /*needs_hvp=*/false};
  using WithFiniteDifferences::WithFiniteDifferences;
};

}  // namespace obolus
