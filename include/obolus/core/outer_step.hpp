// The outer step in the geometry a user chooses, with shrinkage to the mean: an option of every optimiser.
//
//   euclidean   x ← Proj_X(x − γd), the paper's; with a momentum μ or a weight decay w, m ← μm + d + wx in the place
//               of d, as PyTorch's SGD has it
//   diagonal    s ← b s + (1 − b) d²,  h = √s + ε;  x ← argmin_{u ∈ X} <d, u> + Σ h_i (u_i − x_i)²/(2γ)
//   entropy     x_i ← x_i exp(−γ d_i), scaled back onto the simplex or clipped: mirror descent for Σ x ln x
//   log_adam    Adam (Kingma, Ba 2015) on ln x, whose gradient is x_i d_i; with a level c > 0 all logarithms also move
//               together, by c times an Adam step along the sum of their gradients
// Shrinkage ρ then draws u towards its mean, u ← u − ρ(u − mean u), where u is the stepped point, or its logarithm in
// the last two. Where γ = 0 nothing moves and nothing is remembered.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "obolus/core/archive.hpp"
#include "obolus/core/convex_set.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/options.hpp"
#include "obolus/core/weighted_projection.hpp"

namespace obolus {

enum class Geometry : std::uint8_t { euclidean, diagonal, entropy, log_adam };
template <>
struct EnumNames<Geometry> {
  static constexpr std::array<std::pair<Geometry, std::string_view>, 4> values{{{Geometry::euclidean, "euclidean"},
                                                                                {Geometry::diagonal, "diagonal"},
                                                                                {Geometry::entropy, "entropy"},
                                                                                {Geometry::log_adam, "log_adam"}}};
};

struct OuterStepOptions {
  Geometry geometry = Geometry::euclidean;
  double decay = 0.9;
  double decay2 = 0.999;
  double epsilon = 1e-8;
  double shrinkage = 0.0;
  double level = 0.0;
  double momentum = 0.0;
  double weight_decay = 0.0;

  [[nodiscard]] bool has_momentum() const { return momentum != 0.0 || weight_decay != 0.0; }

  template <class V>
  void describe(V&& v) {
    v("outer_step", geometry, "geometry of the step of x; entropy and log_adam keep x > 0");
    v("outer_decay", decay, "memory of the squares in `diagonal`, of the mean in `log_adam`", below_one);
    v("outer_decay2", decay2, "memory of the squares in `log_adam`", below_one);
    v("outer_epsilon", epsilon, "added to the root of the squares", Range::positive());
    v("shrinkage", shrinkage, "part of the way to the mean of the coordinates that every outer step adds",
      Range::between(0.0, 1.0));
    v("level", level, "log_adam: all coordinates move together too, by so many γ along the sum of their gradients",
      Range::at_least(0.0));
    v("outer_momentum", momentum, "euclidean: μ, x steps along m ← μm + d + wx", below_one);
    v("outer_weight_decay", weight_decay, "euclidean: w of the same", Range::at_least(0.0));
  }

 private:
  static constexpr Range below_one = Range::between(0.0, 1.0 - 0x1p-53);
};

// What a geometry remembers from round to round; `euclidean` its momentum alone.
template <class S>
struct OuterMemory {
  Round t = 0;
  Vector<S> mean, square, scale;  // `scale` is scratch
  double level_mean = 0.0, level_square = 0.0;
  Vector<S> momentum;
  void fields(Archive& a) {
    a("t", t);
    a("mean", mean);
    a("square", square);
    a("level_mean", level_mean);
    a("level_square", level_square);
    a.added("outer_momentum", momentum);
  }
};

class OuterStep {
 public:
  OuterStep(const OuterStepOptions& options, const ConvexSet& set) : o_(options) {
    if (positive() && !set.visit([](const auto& s) { return keeps_positive(s); }))
      throw ConfigError("outer_step \"" + std::string(name_of(o_.geometry)) + "\": got the set " +
                        std::string(set.name()) +
                        ", expected one of positive numbers: simplex, nonnegative, or a box with lower >= 0");
    if (o_.has_momentum() && o_.geometry != Geometry::euclidean)
      throw ConfigError("outer_step: got \"" + std::string(name_of(o_.geometry)) + "\" with outer_momentum = " +
                        short_text(o_.momentum) + " and outer_weight_decay = " + short_text(o_.weight_decay) +
                        ", expected \"euclidean\", the one geometry that has them, or 0 for both");
  }

  // Every allocation. Under the two geometries of positive numbers x_1 must be positive: from 0 they never move.
  template <class S>
  [[nodiscard]] OuterMemory<S> init(In<S> x) const {
    for (Index i = 0; positive() && i < x.size(); ++i)
      if (!(x(i) > S(0)))
        throw ConfigError("start.x: got " + std::to_string(static_cast<double>(x(i))) + " at coordinate " +
                          std::to_string(i) + ", expected numbers > 0 for outer_step \"" +
                          std::string(name_of(o_.geometry)) + "\"");
    OuterMemory<S> memory;
    if (o_.geometry == Geometry::log_adam) memory.mean.setZero(x.size());
    if (o_.geometry == Geometry::diagonal || o_.geometry == Geometry::log_adam) memory.square.setZero(x.size());
    memory.scale.resize(memory.square.size());
    if (o_.has_momentum()) memory.momentum.setZero(x.size());
    return memory;
  }

  template <class S>
  void operator()(const ConvexSet& set, double gamma, In<S> d, Vector<S>& x, OuterMemory<S>& memory) const {
    if (gamma == 0.0) return;
    ++memory.t;
    switch (o_.geometry) {
      case Geometry::euclidean:
        if (!o_.has_momentum()) return euclidean<S>(set, gamma, d, x);
        for (Index i = 0; i < x.size(); ++i)
          memory.momentum(i) = S(o_.momentum) * memory.momentum(i) + d(i) + S(o_.weight_decay) * x(i);
        return euclidean<S>(set, gamma, memory.momentum, x);
      case Geometry::diagonal: return diagonal<S>(set, gamma, d, x, memory);
      case Geometry::entropy:
        x = x.array().log();
        subtract<S>(S(gamma), d, x);
        break;
      case Geometry::log_adam: log_adam<S>(gamma, d, x, memory); break;
    }
    shrink(x);
    leave_logarithms(set, x);
  }

 private:
  template <class Set>
  static bool keeps_positive(const Set& s) {
    if constexpr (std::is_same_v<Set, sets::Box>) return s.lower.minCoeff() >= 0.0;
    else return std::is_same_v<Set, sets::Simplex> || std::is_same_v<Set, sets::Nonnegative>;
  }
  [[nodiscard]] bool positive() const { return o_.geometry == Geometry::entropy || o_.geometry == Geometry::log_adam; }

  // x ← x − γd
  template <class S>
  static void subtract(S gamma, In<S> d, Vector<S>& x) {
    for (Index i = 0; i < x.size(); ++i) x(i) -= gamma * d(i);
  }

  template <class S>
  void euclidean(const ConvexSet& set, double gamma, In<S> d, Vector<S>& x) const {
    if (o_.shrinkage == 0.0 && step_in_box<S>(set, S(gamma), d, x)) return;
    subtract<S>(S(gamma), d, x);
    shrink(x);
    set.template project<S>(x);
  }

  template <class S>
  void shrink(Vector<S>& u) const {
    if (o_.shrinkage == 0.0) return;
    const S mean = u.mean();
    for (S& value : u) value -= S(o_.shrinkage) * (value - mean);
  }

  // Step and projection in one pass, for the box with one bound for all coordinates; false for other sets.
  template <class S>
  static bool step_in_box(const ConvexSet& set, S gamma, In<S> d, Vector<S>& x) {
    return set.visit([&]<class Set>(const Set& s) {
      if constexpr (std::is_same_v<Set, sets::Box>) {
        if (s.per_coordinate) return false;
        const auto [min, max] = s.template bounds<S>(0);
        for (Index i = 0; i < x.size(); ++i) x(i) = clamped(x(i) - gamma * d(i), min, max);
        return true;
      } else {
        return false;
      }
    });
  }

  template <class S>
  void diagonal(const ConvexSet& set, double gamma, In<S> d, Vector<S>& x, OuterMemory<S>& memory) const {
    const S b = S(o_.decay);
    for (Index i = 0; i < x.size(); ++i) memory.square(i) = b * memory.square(i) + (S(1) - b) * (d(i) * d(i));
    memory.scale = memory.square.array().sqrt();
    for (Index i = 0; i < x.size(); ++i) {
      S& h = memory.scale(i);
      h = std::min(h + S(o_.epsilon), std::numeric_limits<S>::max());
      x(i) -= S(gamma) * d(i) / h;
    }
    shrink(x);
    project_weighted<S>(set, x, memory.scale);
  }

  // x becomes ln x, one step of Adam on.
  template <class S>
  void log_adam(double gamma, In<S> d, Vector<S>& x, OuterMemory<S>& memory) const {
    const S b1 = S(o_.decay), b2 = S(o_.decay2);
    const double t = static_cast<double>(memory.t);
    const S mean_part = S(1.0 - std::pow(o_.decay, t)), square_part = S(1.0 - std::pow(o_.decay2, t));
    for (Index i = 0; i < x.size(); ++i) {
      const S g = x(i) * d(i);
      memory.mean(i) = b1 * memory.mean(i) + (S(1) - b1) * g;
      memory.square(i) = b2 * memory.square(i) + (S(1) - b2) * (g * g);
      memory.scale(i) = memory.square(i) / square_part;
    }
    const double together = o_.level > 0.0 ? level_step<S>(d, x, memory) : 0.0;
    memory.scale = memory.scale.array().sqrt();
    x = x.array().log();
    for (Index i = 0; i < x.size(); ++i)
      x(i) = x(i) - S(gamma) * (memory.mean(i) / mean_part) / (memory.scale(i) + S(o_.epsilon)) -
             S(gamma * o_.level * together);
  }

  template <class S>
  [[nodiscard]] double level_step(In<S> d, const Vector<S>& x, OuterMemory<S>& memory) const {
    const double sum = inner_product<S>(x, d), t = static_cast<double>(memory.t);
    memory.level_mean = o_.decay * memory.level_mean + (1.0 - o_.decay) * sum;
    memory.level_square = o_.decay2 * memory.level_square + (1.0 - o_.decay2) * sum * sum;
    return memory.level_mean / (1.0 - std::pow(o_.decay, t)) /
           (std::sqrt(memory.level_square / (1.0 - std::pow(o_.decay2, t))) + o_.epsilon);
  }

  // On the simplex only ratios count: subtracting the largest logarithm first keeps every exponential from overflowing.
  // No coordinate ends at 0, which no step could leave.
  template <class S>
  static void leave_logarithms(const ConvexSet& set, Vector<S>& u) {
    set.visit([&]<class Set>(const Set& s) {
      if constexpr (std::is_same_v<Set, sets::Simplex>) {
        const S max = max_of<S>(u);
        for (S& value : u) value -= max;
        u = u.array().exp();
        const S sum = u.sum();
        for (S& value : u) value = std::max(value / sum, std::numeric_limits<S>::min());
      } else {
        u = u.array().exp();
        for (S& value : u) value = std::max(value, std::numeric_limits<S>::min());
        s.template project<S>(u);
      }
    });
  }

  OuterStepOptions o_;
};

}  // namespace obolus
