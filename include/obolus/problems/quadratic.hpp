// A generated quadratic stream with a drift of known size. The inner solution is y*_t(x) = A⁻¹(Bx + b) + u_t, and u_t
// is the drift:
//   static        u_t = 0
//   slow          u_t = a sin(ln t) · unit           H_2T = O(1), V_T = O(log T)
//   abrupt        a new random unit vector, times a, every `period` rounds
//   oscillating   u_t = (−1)^t a · unit, the target c follows: V_T = 0 (without sine) and H_2T = 4a²(T − 1)
#pragma once

#include <Eigen/Cholesky>
#include <cstdint>
#include <string_view>

#include "obolus/core/evaluation.hpp"
#include "obolus/core/options.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/problems/quadratic_knowledge.hpp"
#include "obolus/problems/quadratic_oracle.hpp"

namespace obolus {

enum class Drift : std::uint8_t { none, slow, abrupt, oscillating };
template <>
struct EnumNames<Drift> {
  static constexpr std::array<std::pair<Drift, std::string_view>, 4> values{
      {{Drift::none, "static"}, {Drift::slow, "slow"}, {Drift::abrupt, "abrupt"}, {Drift::oscillating, "oscillating"}}};
};

struct QuadraticOptions {
  std::int64_t dim_x = 5;
  std::int64_t dim_y = 10;
  Drift drift = Drift::slow;
  double amplitude = 0.5;
  std::int64_t period = 100;
  double mu = 1.0;
  double condition = 5.0;
  double coupling = 1.0;
  double weight = 1.0;
  double sine = 0.0;
  double ridge = 0.1;
  double noise = 0.0;
  double noise_cross = 0.0;
  bool evaluate = false;

  template <class V>
  void describe(V&& v) {
    v("dim_x", dim_x, "d1, size of x", Range::between(1, 1e4));
    v("dim_y", dim_y, "d2, size of y", Range::between(1, 1e4));
    v("drift", drift, "how the inner solution moves: static, slow, abrupt or oscillating");
    v("amplitude", amplitude, "size of the drift, a", Range::at_least(0));
    v("period", period, "rounds between jumps of the abrupt drift", Range::at_least(1));
    v("mu", mu, "μ_g, smallest eigenvalue of A", Range::positive());
    v("condition", condition, "largest over smallest eigenvalue of A", Range::at_least(1));
    v("coupling", coupling, "spectral norm of B, the pull of x on y", Range::at_least(0));
    v("weight", weight, "w, weight of |y − c|² in f", Range::at_least(0));
    v("sine", sine, "s, weight of Σ sin(y_j) in f; makes F non-convex");
    v("ridge", ridge, "r, weight of |x − e|² in f", Range::at_least(0));
    v("noise", noise, "σ, deviation of a sampled gradient of f and of g", Range::at_least(0));
    v("noise_cross", noise_cross, "σ_E, deviation of each entry of B in a sample of g", Range::at_least(0));
    v("evaluate", evaluate, "evaluate |y − y*(x)| (inner_distance) and F(x) (outer_value), and judge f (loss)");
  }
};

// The stream's data in double, whatever the scalar of the problem.
class QuadraticGenerator {
 public:
  QuadraticGenerator(const QuadraticOptions& options, std::uint64_t seed);

  [[nodiscard]] const QuadraticOptions& options() const { return options_; }
  [[nodiscard]] const QuadraticRound<double>& base() const { return base_; }  // without drift
  void displacement(Round t, Vector<double>& u) const;                        // u ← u_t, without allocation
  [[nodiscard]] bool follows() const { return options_.drift == Drift::oscillating; }
  [[nodiscard]] Constants constants(const ConvexSet& set) const;
  [[nodiscard]] Variation variation(Round t, const ConvexSet& set) const;

 private:
  QuadraticOptions options_;
  Rng rng_;
  QuadraticRound<double> base_;
  Eigen::LLT<Matrix<double>> factor_;
  Vector<double> unit_;
};

template <class S = double>
class Quadratic : public QuadraticOracle<S> {
 public:
  using Options = QuadraticOptions;
  static constexpr std::string_view name = "quadratic";
  static constexpr std::string_view title = "generated quadratic stream with a drift of known size";

  Quadratic(const Options& options, std::uint64_t seed);
  Quadratic(Quadratic&&) = delete;  // the oracle points into this object

  void reveal(Round t);

  // As an example of what other problems measure on data kept aside.
  void evaluate(In<S> x, In<S> y, Evaluation& out);
  void judge(In<S> x, In<S> y, Evaluation& out);

  [[nodiscard]] Constants constants(const ConvexSet& set) const { return generator_.constants(set); }
  [[nodiscard]] Variation variation(Round t, const ConvexSet& set) const { return generator_.variation(t, set); }

 private:
  QuadraticGenerator generator_;
  QuadraticRound<S> now_;
  Vector<double> u_, shift_;  // scratch
  Vector<S> solution_;        // scratch
};

}  // namespace obolus
