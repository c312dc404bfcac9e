// Do a problem's own primitives, and its own storage of inner iterates, agree with the definitions in core/inner.hpp?
//
// Every primitive runs twice from the same dense values: as the problem has it, and by default on Plain<P>. The
// problem's iterates are carried from call to call in whatever state its storage has come to, so that what is cached or
// deferred in them is put to use.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "obolus/check/gradients.hpp"
#include "obolus/check/inner_problem.hpp"
#include "obolus/check/place.hpp"
#include "obolus/check/plain.hpp"
#include "obolus/check/report.hpp"
#include "obolus/core/capabilities.hpp"
#include "obolus/core/inner.hpp"

namespace obolus {

namespace checks {

template <FirstOrderOracle P>
class PrimitiveCheck {
  using S = ScalarOf<P>;
  struct Twin {
    Inner<P> own;
    Vector<S> plain;
  };

 public:
  PrimitiveCheck(CheckReport& report, P& p, const CheckOptions& options, const Place<S>& place, Rng rng)
      : report_(report),
        p_(p),
        plain_(p),
        options_(options),
        where_(place.name),
        rng_(rng),
        space_(p),
        plain_space_(plain_),
        x_(place.x),
        f_(place.y.size()),
        g_(place.y.size()),
        y_(twin(place.y)),
        z_(twin(draw())),
        w_(twin(draw())) {
    // Half of what the curvature allows: every step contracts, and no rounding grows.
    const double curvature = measure_curvature(p, place, rng_).largest;
    alpha_ = 0.5 / std::max(curvature, 1e-3);
  }

  // Everything at one x in one round.
  void run() {
    storage();
    steps();
    loops();
    readings();
  }

  // The iterates go on in another round at another x: what a storage has put off must be right there too.
  void move_on(Round t) {
    if constexpr (Stream<P>) p_.reveal(t);
    x_ = random_x<S>(p_.dims(), options_, rng_);
    readings();
    run();
  }

 private:
  Vector<S> draw() { return random_near<S>(options_.y, p_.dims().y, options_.radius, rng_); }
  Twin twin(const Vector<S>& start) { return {space_.make(p_, start), start}; }

  Vector<S> dense(const Inner<P>& inner) {
    Vector<S> out = Vector<S>::Constant(f_.size(), std::numeric_limits<S>::quiet_NaN());
    space_.to_dense(p_, inner, out);
    return out;
  }
  void meet() {
    for (Twin* t : {&y_, &z_, &w_}) t->plain = dense(t->own);
  }

  // What is rounded in f·f_y + g·g_y at y. The terms of g_y are as large as g_y(y) and g_y(0), wherever they cancel.
  double gradient_size(const Vector<S>& y, Penalty penalty) {
    p_.outer_gradient_y(x_, y, f_);
    double size = std::abs(penalty.f) * euclidean_norm<S>(f_);
    p_.inner_gradient_y(x_, y, g_);
    size += std::abs(penalty.g) * euclidean_norm<S>(g_);
    p_.inner_gradient_y(x_, Vector<S>::Zero(y.size()), g_);
    return size + std::abs(penalty.g) * euclidean_norm<S>(g_);
  }
  double size_of(const Vector<S>& v) { return euclidean_norm<S>(v); }

  void agree(std::string_view primitive, double error, double size) {
    report_.record(std::string(primitive) + " equals its definition", error,
                   options_.slack * rounding<S>(x_.size() + f_.size()) * size, where_);
  }
  void agree(std::string_view primitive, const Twin& t, double size) {
    const Vector<S> gap = dense(t.own) - t.plain;
    agree(primitive, euclidean_norm<S>(gap), size + size_of(t.plain));
  }
  void hold(std::string_view what, bool holds) { report_.record(what, holds ? 0.0 : 1.0, 0.0, where_); }

  void storage() {
    const Vector<S> v = draw();
    space_.from_dense(p_, v, w_.own);
    w_.plain = v;
    agree("from_dense", w_, size_of(v));
    meet();
    space_.copy(p_, y_.own, w_.own);
    plain_space_.copy(plain_, y_.plain, w_.plain);
    agree("copy", w_, size_of(y_.plain));
    space_.descend(p_, x_, w_.own, alpha_);
    hold("a copy moves without its original", same_bits(dense(y_.own), y_.plain));
    meet();
    space_.axpy(p_, -1.7, z_.own, w_.own);
    plain_space_.axpy(plain_, -1.7, z_.plain, w_.plain);
    agree("axpy", w_, 2.0 * size_of(z_.plain));
    hold("all_finite sees finite iterates", space_.all_finite(p_, w_.own));
    for (const S bad : {std::numeric_limits<S>::quiet_NaN(), std::numeric_limits<S>::infinity()}) {
      Vector<S> spoilt = w_.plain;
      spoilt(static_cast<Index>(rng_.below(static_cast<std::uint64_t>(spoilt.size())))) = bad;
      Inner<P> broken = space_.make(p_, spoilt);
      hold("all_finite sees a NaN and an infinity", !space_.all_finite(p_, broken));
    }
    space_.from_dense(p_, draw(), w_.own);
  }

  // The dual step first: where it goes through the dense form it leaves a fresh storage, the others a used one.
  void steps() {
    dual_step();
    for (const Penalty penalty : {Penalty{1.0, lambda_}, Penalty{0.6, 0.5 * lambda_}}) {
      meet();
      const double size = alpha_ * gradient_size(z_.plain, {0.0, 1.0});
      space_.descend(p_, x_, z_.own, alpha_);
      plain_space_.descend(plain_, x_, z_.plain, alpha_);
      agree("descend", z_, size);
      meet();
      const double size_y = beta() * gradient_size(y_.plain, penalty);
      space_.descend_penalised(p_, x_, y_.own, beta(), penalty);
      plain_space_.descend_penalised(plain_, x_, y_.plain, beta(), penalty);
      agree("descend_penalised", y_, size_y);
      meet();
      const double pair_y = beta() * gradient_size(y_.plain, penalty);
      const double pair_z = alpha_ * gradient_size(z_.plain, {0.0, 1.0});
      space_.descend_pair(p_, x_, y_.own, z_.own, beta(), penalty, alpha_);
      plain_space_.descend_pair(plain_, x_, y_.plain, z_.plain, beta(), penalty, alpha_);
      agree("descend_pair (y)", y_, pair_y);
      agree("descend_pair (z)", z_, pair_z);
    }
  }

  void dual_step() {
    meet();
    const Vector<S> y = z_.plain + S(1.0 / lambda_) * w_.plain;
    const double size_z = gradient_size(z_.plain, {0.0, 1.0});
    const double size_w = beta() * gradient_size(y, {1.0, lambda_}) + (alpha_ + lambda_ * beta()) * size_z;
    space_.descend_dual(p_, x_, z_.own, w_.own, dual());
    plain_space_.descend_dual(plain_, x_, z_.plain, w_.plain, dual());
    agree("descend_dual (z)", z_, alpha_ * size_z);
    agree("descend_dual (w)", w_, lambda_ * size_w);
  }

  // One loop, by its cap and by its tolerance. The tolerance lies midway between the norms after two and three steps,
  // so that rounding cannot change the count; where they are too near for that, only the cap is tried.
  template <class Own, class Default>
  void loop(std::string_view name, Twin& t, double step, double size, Own&& own, Default&& by_default) {
    Vector<S> probe = t.plain;
    const double two = by_default(probe, Until{0.0, 2}).norm, three = by_default(probe, Until{0.0, 1}).norm;
    const bool apart = three < two * (1.0 - 100.0 * rounding<S>(f_.size()));
    const Until limits[] = {
        {0.0, 4}, {std::numeric_limits<double>::infinity(), 4}, {std::sqrt(two * three), apart ? 50 : 0}};
    for (const Until& until : limits) {
      t.plain = dense(t.own);
      Inner<P> start = space_.make(p_, t.plain);
      space_.copy(p_, t.own, start);
      const LoopResult got = own(t.own, until), expected = by_default(t.plain, until);
      const auto steps = static_cast<double>(expected.steps + 1);
      hold(std::string(name) + " takes as many steps as its definition", got.steps == expected.steps);
      agree(std::string(name) + " (norm)", std::abs(got.norm - expected.norm), steps * size);
      agree(name, t, steps * step * size);
      space_.copy(p_, start, t.own);  // with whatever its storage had put off
    }
  }

  void loops() {
    meet();
    const Penalty penalty{1.0, lambda_};
    loop(
        "descend_until", z_, alpha_, gradient_size(z_.plain, {0.0, 1.0}),
        [&](Inner<P>& v, Until until) { return space_.descend_until(p_, x_, v, alpha_, until); },
        [&](Vector<S>& v, Until until) { return plain_space_.descend_until(plain_, x_, v, alpha_, until); });
    loop(
        "descend_penalised_until", y_, beta(), gradient_size(y_.plain, penalty),
        [&](Inner<P>& v, Until until) { return space_.descend_penalised_until(p_, x_, v, beta(), penalty, until); },
        [&](Vector<S>& v, Until until) {
          return plain_space_.descend_penalised_until(plain_, x_, v, beta(), penalty, until);
        });
    meet();
    const Vector<S> y = z_.plain + S(1.0 / lambda_) * w_.plain;
    loop(
        "descend_dual_until", w_, lambda_ * beta(),
        gradient_size(y, penalty) + lambda_ * gradient_size(z_.plain, {0, 1}),
        [&](Inner<P>& v, Until until) { return space_.descend_dual_until(p_, x_, z_.own, v, dual(), until); },
        [&](Vector<S>& v, Until until) {
          return plain_space_.descend_dual_until(plain_, x_, z_.plain, v, dual(), until);
        });
  }

  void readings() {
    meet();
    const Penalty penalty{1.0, lambda_};
    agree("gradient_norm",
          std::abs(space_.gradient_norm(p_, x_, z_.own) - plain_space_.gradient_norm(plain_, x_, z_.plain)),
          gradient_size(z_.plain, {0.0, 1.0}));
    agree("penalised_gradient_norm",
          std::abs(space_.penalised_gradient_norm(p_, x_, y_.own, penalty) -
                   plain_space_.penalised_gradient_norm(plain_, x_, y_.plain, penalty)),
          gradient_size(y_.plain, penalty));
    Vector<S> own(x_.size()), expected(x_.size());
    own.setConstant(std::numeric_limits<S>::quiet_NaN());
    space_.penalty_direction(p_, x_, y_.own, z_.own, lambda_, own);
    plain_space_.penalty_direction(plain_, x_, y_.plain, z_.plain, lambda_, expected);
    agree("penalty_direction", size_of(own - expected), direction_size(y_.plain));
    own.setConstant(std::numeric_limits<S>::quiet_NaN());
    space_.dual_direction(p_, x_, z_.own, w_.own, lambda_, own);
    plain_space_.dual_direction(plain_, x_, z_.plain, w_.plain, lambda_, expected);
    agree("dual_direction", size_of(own - expected), direction_size(z_.plain + S(1.0 / lambda_) * w_.plain));
  }
  // g_x at the points and at others as far out: one value may be small by cancelling, its rounding is not.
  double direction_size(const Vector<S>& y) {
    Vector<S> d(x_.size());
    p_.outer_gradient_x(x_, y, d);
    const double of_f = size_of(d);
    double of_g = 0.0;
    for (const Vector<S>& at : {y, z_.plain, draw(), draw(), draw()}) {
      p_.inner_gradient_x(x_, at, d);
      of_g = std::max(of_g, size_of(d));
    }
    return of_f + 2.0 * lambda_ * of_g;
  }

  [[nodiscard]] double beta() const { return 0.9 * alpha_ / lambda_; }
  [[nodiscard]] DualStep dual() const { return {alpha_, beta(), lambda_}; }

  CheckReport& report_;
  P& p_;
  Plain<P> plain_;
  const CheckOptions& options_;
  std::string where_;
  Rng rng_;
  InnerSpace<P> space_;
  InnerSpace<Plain<P>> plain_space_;
  Vector<S> x_, f_, g_;
  Twin y_, z_, w_;
  double alpha_ = 0.0;
  const double lambda_ = 8.0;
};

}  // namespace checks

template <FirstOrderOracle P>
[[nodiscard]] CheckReport check_primitives(P& p, const CheckOptions& options = {}, const Rng& rng = Rng(1)) {
  using S = ScalarOf<P>;
  CheckReport report;
  checks::at_places(p, options, rng.child("primitives"), [&](const checks::Place<S>& place, Rng& own) {
    checks::PrimitiveCheck<P> check(report, p, options, place, own.child("expected"));
    check.run();
    check.move_on(place.round + 1);
    if constexpr (Stream<P>) p.reveal(place.round);
    if constexpr (StochasticOracle<P>) {
      if (!capabilities_of(p).stochastic) return;
      checks::Place<S> sampled = place;
      sampled.name += ", sampled";
      p.resample({.outer = 2, .inner = 3}, own);
      checks::PrimitiveCheck<P>(report, p, options, sampled, own.child("sampled")).run();
      p.expectation();
    }
  });
  return report;
}

}  // namespace obolus
