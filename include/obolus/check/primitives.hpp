// Checks that a problem's own primitives, and its own storage of inner iterates, agree with the definitions in
// core/inner.hpp.
//
// Every primitive runs twice from the same dense values: the problem's version, and the default on
// PlainWithProducts<P>. The problem's iterates are carried from call to call as they are, so that what their storage
// caches or defers is used.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "obolus/check/gradients.hpp"
#include "obolus/check/inner_problem.hpp"
#include "obolus/check/place.hpp"
#include "obolus/check/plain.hpp"
#include "obolus/check/report.hpp"
#include "obolus/check/sizes.hpp"
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
        y_(twin(place.y)),
        z_(twin(draw())),
        w_(twin(draw())) {
    choose_step();
  }

  // Everything at one x in one round.
  void run() {
    storage();
    steps();
    loops();
    readings();
  }

  // The iterates continue in another round at another x: what their storage defers must be right there too.
  void move_on(Round t) {
    if constexpr (Stream<P>) p_.reveal(t);
    x_ = random_x<S>(p_.dims(), options_, rng_);
    choose_step();
    readings();
    run();
  }

 private:
  // Half of what the curvature allows: every step contracts, so that rounding does not grow.
  void choose_step() {
    alpha_ = 0.5 / std::max(measure_curvature(p_, Place<S>{x_, y_.plain, 1, where_}, rng_).max, 1e-3);
  }
  Vector<S> draw() { return random_near<S>(options_.y, p_.dims().y, options_.radius, rng_); }
  Twin twin(const Vector<S>& start) { return {space_.make(p_, start), start}; }

  Vector<S> dense(const Inner<P>& inner) {
    Vector<S> out = Vector<S>::Constant(p_.dims().y, std::numeric_limits<S>::quiet_NaN());
    space_.to_dense(p_, inner, out);
    return out;
  }
  void meet() {
    for (Twin* t : {&y_, &z_, &w_}) t->plain = dense(t->own);
  }

  // The same call on the problem's iterates and on dense ones.
  template <class Call>
  void both(Call&& call) {
    call(space_, p_, y_.own, z_.own, w_.own);
    call(plain_space_, plain_, y_.plain, z_.plain, w_.plain);
  }

  double gradient_size(const Vector<S>& y, Penalty penalty) { return checks::gradient_size(p_, x_, y, penalty); }
  double direction_size(const Vector<S>& y) {
    return checks::direction_size(p_, x_, y, {z_.plain, draw(), draw(), draw()}, lambda_);
  }
  double size_of(const Vector<S>& v) { return euclidean_norm<S>(v); }

  void agree(std::string_view primitive, double error, double size) {
    report_.record(std::string(primitive) + " equals its definition", error,
                   options_.slack * rounding<S>(x_.size() + p_.dims().y) * size, where_);
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

  // Steps with w first: those that go through the dense form leave a fresh storage, the others a used one. One step,
  // and several at once, whose errors at most add up.
  void steps() {
    if constexpr (HvpOracle<P>)
      if (capabilities_of(p_).hvp) system_steps();
    for (const std::int64_t n : {1, 9}) {
      central_step(n);
      for (const double ratio : {0.9, 1.0}) dual_step(n, ratio);  // a problem may treat λβ = α separately
      for (const Penalty penalty : {Penalty{1.0, lambda_}, Penalty{0.6, 0.5 * lambda_}}) single_steps(n, penalty);
    }
  }

  void single_steps(std::int64_t n, Penalty penalty) {
    const auto times = static_cast<double>(n);
    meet();
    const double size = alpha_ * gradient_size(z_.plain, {0.0, 1.0});
    both([&](auto& s, auto& p, auto&, auto& z, auto&) { s.descend(p, x_, z, alpha_, n); });
    agree("descend", z_, times * size);
    meet();
    const double size_y = beta() * gradient_size(y_.plain, penalty);
    both([&](auto& s, auto& p, auto& y, auto&, auto&) { s.descend_penalised(p, x_, y, beta(), penalty, n); });
    agree("descend_penalised", y_, times * size_y);
    meet();
    const double pair_y = beta() * gradient_size(y_.plain, penalty);
    const double pair_z = alpha_ * gradient_size(z_.plain, {0.0, 1.0});
    both([&](auto& s, auto& p, auto& y, auto& z, auto&) { s.descend_pair(p, x_, y, z, beta(), penalty, alpha_, n); });
    agree("descend_pair (y)", y_, times * pair_y);
    agree("descend_pair (z)", z_, times * pair_z);
  }

  // Twice: the second time on what the storage knows of the pair (y, w). A product is as large as its vector times the
  // curvature, which α is half the inverse of.
  void system_steps() {
    for (int k = 0; k < 2; ++k) {
      meet();
      const SystemStep step{alpha_, 0.7 * alpha_};
      const double size = alpha_ * gradient_size(y_.plain, {1.0, 1.0}), length = size_of(w_.plain);
      both([&](auto& s, auto& p, auto& y, auto&, auto& w) { s.descend_system(p, x_, y, w, step); });
      agree("descend_system (y)", y_, size);
      agree("descend_system (v)", w_, size + alpha_ * gradient_size(y_.plain, {1.0, 1.0}) + length);
      meet();
      direction("implicit_direction", direction_size(y_.plain) + direction_size(y_.plain + w_.plain),
                [&](auto& s, auto& p, auto& y, auto&, auto& w, auto& d) { s.implicit_direction(p, x_, y, w, d); });
      for (const double part : {0.5, 2.0}) {
        const double radius = part * size_of(w_.plain);
        both([&](auto& s, auto& p, auto&, auto&, auto& w) { s.bound(p, w, radius); });
        agree("bound", w_, size_of(w_.plain));
        meet();
      }
    }
  }

  void central_step(std::int64_t n) {
    meet();
    const Vector<S> part = S(1.0 / lambda_) * w_.plain, up = z_.plain + part, down = z_.plain - part;
    const double size =
        static_cast<double>(n) * beta() * (gradient_size(up, {1.0, lambda_}) + gradient_size(down, {1.0, lambda_}));
    both([&](auto& s, auto& p, auto&, auto& c, auto& w) { s.descend_central(p, x_, c, w, {beta(), lambda_}, n); });
    agree("descend_central (c)", z_, size);
    agree("descend_central (w)", w_, lambda_ * size);
  }

  void dual_step(std::int64_t n, double ratio) {
    const DualStep step{alpha_, ratio * alpha_ / lambda_, lambda_};
    meet();
    const Vector<S> y = z_.plain + S(1.0 / lambda_) * w_.plain;
    const double size_z = gradient_size(z_.plain, {0.0, 1.0});
    const double size_w = step.beta * gradient_size(y, {1.0, lambda_}) + (alpha_ + lambda_ * step.beta) * size_z;
    both([&](auto& s, auto& p, auto&, auto& z, auto& w) { s.descend_dual(p, x_, z, w, step, n); });
    agree("descend_dual (z)", z_, static_cast<double>(n) * alpha_ * size_z);
    agree("descend_dual (w)", w_, static_cast<double>(n) * lambda_ * size_w);
  }

  // One loop, ended by its cap and by its tolerance. The tolerance lies midway between the norms after two and three
  // steps, so that rounding cannot change the count; where these are too close, only the cap is tried.
  template <class Own, class Default>
  void loop(std::string_view name, Twin& t, double step, double size, Own&& own, Default&& by_default) {
    Vector<S> probe = t.plain;
    const double two = by_default(probe, Until{0.0, 2}).norm, three = by_default(probe, Until{0.0, 1}).norm;
    const bool apart = three < two * (1.0 - 100.0 * rounding<S>(p_.dims().y));
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
      space_.copy(p_, start, t.own);  // with whatever its storage deferred
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
    const Vector<S> part = S(1.0 / lambda_) * w_.plain;
    direction("penalty_direction", direction_size(y_.plain), [&](auto& s, auto& p, auto& y, auto& z, auto&, auto& d) {
      s.penalty_direction(p, x_, y, z, lambda_, d);
    });
    const double up = direction_size(z_.plain + part), down = direction_size(z_.plain - part);
    direction("dual_direction", up,
              [&](auto& s, auto& p, auto&, auto& z, auto& w, auto& d) { s.dual_direction(p, x_, z, w, lambda_, d); });
    direction("central_direction", up + down, [&](auto& s, auto& p, auto&, auto& c, auto& w, auto& d) {
      s.central_direction(p, x_, c, w, lambda_, d);
    });
  }
  template <class Ask>
  void direction(std::string_view name, double size, Ask&& ask) {
    Vector<S> own = Vector<S>::Constant(x_.size(), std::numeric_limits<S>::quiet_NaN()), expected = own;
    ask(space_, p_, y_.own, z_.own, w_.own, own);
    ask(plain_space_, plain_, y_.plain, z_.plain, w_.plain, expected);
    agree(name, size_of(own - expected), size);
  }

  [[nodiscard]] double beta() const { return 0.9 * alpha_ / lambda_; }
  [[nodiscard]] DualStep dual() const { return {alpha_, beta(), lambda_}; }

  CheckReport& report_;
  P& p_;
  PlainWithProducts<P> plain_;
  const CheckOptions& options_;
  std::string where_;
  Rng rng_;
  InnerSpace<P> space_;
  InnerSpace<PlainWithProducts<P>> plain_space_;
  Vector<S> x_;
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
