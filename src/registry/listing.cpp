#include "config/sections.hpp"
#include "registry/registry.hpp"

namespace obolus {

std::vector<Listing> list_sets() {
  const auto options = registry::option_listing<config::DomainSection>();
  const auto with = [&](std::initializer_list<const char*> names) {
    std::vector<OptionListing> chosen;
    for (const OptionListing& o : options)
      for (const char* name : names)
        if (o.name == name) chosen.push_back(o);
    return chosen;
  };
  return {{"all", "the whole space", {}, {}},
          {"box", "lower ≤ x ≤ upper, bounds shared or for each coordinate", {}, with({"lower", "upper"})},
          {"l2_ball", "|x| ≤ radius", {}, with({"radius"})},
          {"l1_ball", "Σ|x_i| ≤ radius", {}, with({"radius"})},
          {"simplex", "x ≥ 0 and Σ x_i = 1", {}, {}},
          {"nonnegative", "x ≥ 0", {}, {}}};
}

std::vector<Listing> list_sections() {
  return {
      {"[problem]", "beside the problem's own options", {}, registry::option_listing<config::ProblemSection>()},
      {"[start]", "where x, y and z begin", {}, registry::option_listing<config::StartSection>()},
      {"[optimiser]", "beside the optimiser's own options", {}, registry::option_listing<config::OptimiserSection>()},
      {"[domain]", "the feasible set of x", {}, registry::option_listing<config::DomainSection>()},
      {"[metrics]", "what is measured", {}, registry::option_listing<config::MetricsSection>()},
      {"[log]", "what is written", {}, registry::option_listing<config::LogSection>()}};
}

std::vector<Listing> list_metrics() {
  return {
      {"t", "round", {}, {}},
      {"f, g", "losses f_t, g_t of the committed (x_t, y_t)", {}, {}},
      {"regret", "BLReg so far: Σ |G_X(x_t, ∇F_t(x_t), γ)|², one fixed γ", {}, {}},
      {"regret_increment", "the round's term of it", {}, {}},
      {"own_mapping", "|G_X(x_t, d_t, γ_t)|², what the optimiser believed", {}, {}},
      {"hypergradient_error", "|d_t − ∇F_t(x_t)|", {}, {}},
      {"residual_y", "|∇_y f + λ_t ∇_y g| at the y the round ended with", {}, {}},
      {"residual_z", "|∇_y g| at the z the round ended with", {}, {}},
      {"separation", "|y − z|/|z| of a penalty method; theory: O(1/λ_t)", {}, {}},
      {"distance_y, distance_z",
       "certified bounds 2 residual_y/(λ_t μ_g) on |y − y*_λ| and residual_z/μ_g on |z − y*|, "
       "where μ_g is known (and λ_t ≥ 2 L_f1/μ_g)",
       {},
       {}},
      {"lambda", "λ_t", {}, {}},
      {"inner_steps", "iterations of the round's inner loop(s); inner_steps_y, inner_steps_z each", {}, {}},
      {"capped", "an adaptive loop stopped at max_inner", {}, {}},
      {"indefinite", "conjugate gradients met negative curvature: g_yy is not positive definite", {}, {}},
      {"grad_f, grad_g, hvp, cross", "oracle calls so far: gradients of f and g, products g_yy v and g_xy v", {}, {}},
      {"seconds", "time in updates so far; measuring is not counted", {}, {}},
      {"evaluation",
       "what the problem evaluates at the committed (x_t, y_t), and prequential_…: means of what it judged so far",
       {},
       {}},
      {"V_T, H_2T, E_f, E_g, P_T",
       "variation of the environment (summary.json): closed form or labelled estimate",
       {},
       registry::option_listing<config::MetricsSection>()}};
}

}  // namespace obolus
