// A generated quadratic stream with a drift of known size. The inner solution is y*_t(x) = A⁻¹(Bx + b) + u_t, and u_t is
// the drift:
//   static        u_t = 0
//   slow          u_t = a sin(ln t) · unit           H_2T = O(1), V_T = O(log T)
//   abrupt        a new random unit vector, times a, every `period` rounds
//   oscillating   u_t = (−1)^t a · unit, the target c follows: V_T = 0 (without sine) and H_2T = 4a²(T − 1)
#pragma once

#include <Eigen/QR>
#include <cmath>
#include <string_view>

#include "obolus/core/options.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/problems/quadratic_knowledge.hpp"
#include "obolus/problems/quadratic_oracle.hpp"

namespace obolus {

enum class Drift : std::uint8_t { none, slow, abrupt, oscillating };
template <>
struct EnumNames<Drift> {
  static constexpr std::array<std::pair<Drift, std::string_view>, 4> values{{{Drift::none, "static"},
                                                                             {Drift::slow, "slow"},
                                                                             {Drift::abrupt, "abrupt"},
                                                                             {Drift::oscillating, "oscillating"}}};
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
  }
};

template <class S = double>
class Quadratic : public QuadraticOracle<S> {
 public:
  using Options = QuadraticOptions;
  static constexpr std::string_view name = "quadratic";
  static constexpr std::string_view title = "generated quadratic stream with a drift of known size";

  Quadratic(const Options& options, std::uint64_t seed) : options_(options), rng_(Rng(seed).child("quadratic")) {
    validate(options_, "problem");
    generate();
    this->prepare({options_.dim_x, options_.dim_y}, options_.noise, options_.noise_cross);
    reveal(1);
  }
  Quadratic(Quadratic&&) = delete;  // the oracle points into this object

  void reveal(Round t) {
    const Vector<double> u = displacement(t);
    now_.b = (base_.b + base_.A * u).template cast<S>();
    if (options_.drift == Drift::oscillating) now_.c = (base_.c + u).template cast<S>();
    this->use(now_, true);
  }

  [[nodiscard]] Constants constants(const ConvexSet& set) const {
    QuadraticBounds bounds;
    bounds.include(base_);
    if (options_.drift != Drift::none) {  // |b_t| ≤ |b| + |A| a, |c_t| ≤ |c| + a
      bounds.norm_b += options_.mu * options_.condition * options_.amplitude;
      bounds.norm_c += options_.drift == Drift::oscillating ? options_.amplitude : 0.0;
    }
    return bounds.constants(set, options_.dim_x, options_.noise, options_.noise_cross);
  }
  [[nodiscard]] Variation variation(Round t, const ConvexSet& set) const {
    const Vector<double> before = displacement(t - 1), u = displacement(t) - before;
    const Vector<double> still = Vector<double>::Zero(options_.dim_y), gap = factor_.solve(base_.b) - base_.c;
    const bool follows = options_.drift == Drift::oscillating;
    return quadratic_variation(base_, factor_,
                               {u, base_.A * u, follows ? u : still, Vector<double>::Zero(options_.dim_x),
                                follows ? gap : Vector<double>(gap + before), base_.e},
                               set);
  }

 private:
  static Vector<double> unit(Rng rng, Index n) {
    Vector<double> v(n);
    for (double& entry : v) entry = rng.normal();
    return v / v.norm();
  }

  [[nodiscard]] Vector<double> displacement(Round t) const {
    const double a = options_.amplitude;
    switch (options_.drift) {
      case Drift::none: break;
      case Drift::slow: return a * std::sin(std::log(static_cast<double>(t))) * unit_;
      case Drift::abrupt: {
        const auto segment = static_cast<std::uint64_t>((t - 1) / options_.period);
        return segment == 0 ? Vector<double>::Zero(options_.dim_y).eval()
                            : (a * unit(rng_.child("jump", segment), options_.dim_y)).eval();
      }
      case Drift::oscillating: return (t % 2 == 0 ? a : -a) * unit_;
    }
    return Vector<double>::Zero(options_.dim_y);
  }

  void generate() {
    const Index d1 = options_.dim_x, d2 = options_.dim_y;
    const auto normal = [this](std::string_view label, Index rows, Index cols) {
      Rng rng = rng_.child(label);
      Matrix<double> m(rows, cols);
      for (Index i = 0; i < m.size(); ++i) m.data()[i] = rng.normal();
      return m;
    };
    Vector<double> eigenvalues(d2);
    for (Index i = 0; i < d2; ++i)
      eigenvalues[i] = options_.mu * std::pow(options_.condition, d2 == 1 ? 0.0 : double(i) / double(d2 - 1));
    const Matrix<double> Q = Eigen::HouseholderQR<Matrix<double>>(normal("basis", d2, d2)).householderQ();
    base_.A = Q * eigenvalues.asDiagonal() * Q.transpose();
    base_.A = (0.5 * (base_.A + base_.A.transpose())).eval();
    base_.B = normal("coupling", d2, d1);
    const double largest = std::sqrt(
        Eigen::SelfAdjointEigenSolver<Matrix<double>>(base_.B.transpose() * base_.B).eigenvalues().maxCoeff());
    base_.B *= options_.coupling / largest;
    base_.b = normal("b", d2, 1) / std::sqrt(double(d2));
    base_.c = normal("c", d2, 1) / std::sqrt(double(d2));
    base_.e = normal("e", d1, 1) / std::sqrt(double(d1));
    base_.w = options_.weight, base_.s = options_.sine, base_.r = options_.ridge;
    unit_ = unit(rng_.child("direction"), d2);
    now_ = base_.template cast<S>();
    factor_.compute(base_.A);
  }

  Options options_;
  Rng rng_;
  QuadraticRound<double> base_;  // without drift
  QuadraticRound<S> now_;
  Eigen::LLT<Matrix<double>> factor_;
  Vector<double> unit_;
};

}  // namespace obolus
