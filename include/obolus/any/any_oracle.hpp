// The one type-erased problem: the command line and the bindings hold every problem through it, so that an optimiser is
// compiled once for all of them. It models every oracle concept; `capabilities()` says which calls the problem behind
// it really answers. Primitives are erased whole, so a problem's fused or lazy versions are used here too.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "obolus/core/archive.hpp"
#include "obolus/core/evaluation.hpp"
#include "obolus/core/inner.hpp"
#include "obolus/core/knowledge.hpp"
#include "obolus/core/virtual_oracle.hpp"
#include "obolus/core/whole_rounds.hpp"

namespace obolus {

// An inner iterate, or several, in the form of its problem.
class AnyInner {
 public:
  AnyInner() = default;
  template <class T>
  explicit AnyInner(std::in_place_t, T value) : held_(std::make_unique<Holder<T>>(std::move(value))) {}

  template <class T>
  [[nodiscard]] T& as() {
    return static_cast<Holder<T>&>(*held_).value;
  }
  template <class T>
  [[nodiscard]] const T& as() const {
    return static_cast<const Holder<T>&>(*held_).value;
  }
  void fields(Archive& a) { held_->fields(a); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual void fields(Archive& a) = 0;
  };
  template <class T>
  struct Holder final : Base {
    explicit Holder(T v) : value(std::move(v)) {}
    void fields(Archive& a) override { a("inner", value); }
    T value;
  };
  std::unique_ptr<Base> held_;
};

template <class S>
class AnyOracle : public VirtualOracle<S> {
 public:
  using Inner = AnyInner;

  virtual void set_threads(int threads) = 0;
  virtual void start(Out<S> x, Out<S> y) = 0;  // the problem's own, or 0

  virtual void evaluate(In<S> x, In<S> y, Evaluation& out) = 0;  // adds nothing where the problem offers nothing
  virtual void judge(In<S> x, In<S> y, Evaluation& out) = 0;

  [[nodiscard]] virtual std::optional<Constants> constants(const ConvexSet& set) = 0;
  [[nodiscard]] virtual double inner_smoothness(const ConvexSet& set) = 0;  // infinite: not known
  [[nodiscard]] virtual Variation variation(Round t, const ConvexSet& set) = 0;

  [[nodiscard]] virtual Inner make_inner() = 0;
  virtual void to_dense(const Inner& inner, Out<S> out) = 0;
  virtual void from_dense(In<S> in, Inner& inner) = 0;
  virtual void copy(const Inner& from, Inner& to) = 0;
  virtual void axpy(double a, const Inner& from, Inner& to) = 0;
  [[nodiscard]] virtual bool all_finite(const Inner& inner) = 0;
  virtual void descend(In<S> x, Inner& z, double alpha, std::int64_t steps) = 0;
  virtual void descend_penalised(In<S> x, Inner& y, double beta, Penalty penalty, std::int64_t steps) = 0;
  virtual void descend_pair(In<S> x, Inner& y, Inner& z, double beta, Penalty penalty, double alpha,
                            std::int64_t steps) = 0;
  virtual void descend_dual(In<S> x, Inner& z, Inner& w, DualStep step, std::int64_t steps) = 0;
  virtual void descend_central(In<S> x, Inner& c, Inner& w, CentralStep step, std::int64_t steps) = 0;
  virtual void descend_system(In<S> x, Inner& y, Inner& v, SystemStep step) = 0;
  virtual void implicit_direction(In<S> x, const Inner& y, const Inner& v, Out<S> d) = 0;
  virtual void bound(Inner& v, double radius) = 0;
  virtual LoopResult descend_until(In<S> x, Inner& z, double alpha, Until until) = 0;
  virtual LoopResult descend_penalised_until(In<S> x, Inner& y, double beta, Penalty penalty, Until until) = 0;
  virtual LoopResult descend_dual_until(In<S> x, const Inner& z, Inner& w, DualStep step, Until until) = 0;
  [[nodiscard]] virtual double gradient_norm(In<S> x, const Inner& z) = 0;
  [[nodiscard]] virtual double penalised_gradient_norm(In<S> x, const Inner& y, Penalty penalty) = 0;
  virtual void penalty_direction(In<S> x, const Inner& y, const Inner& z, double lambda, Out<S> d) = 0;
  virtual void dual_direction(In<S> x, const Inner& z, const Inner& w, double lambda, Out<S> d) = 0;
  virtual void central_direction(In<S> x, const Inner& c, const Inner& w, double lambda, Out<S> d) = 0;

  using Momentum = AnyInner;
  [[nodiscard]] virtual bool unrolls() const = 0;
  virtual void unroll(In<S> x, Inner& y, double alpha, std::int64_t steps, Out<S> h) = 0;
  [[nodiscard]] virtual bool holds_momentum() const = 0;
  [[nodiscard]] virtual Momentum make_momentum() = 0;
  virtual void momentum_from_dense(const DenseMomentum<S>& from, Momentum& m) = 0;
  virtual void momentum_y(const Momentum& m, Out<S> y) = 0;
  [[nodiscard]] virtual Status momentum_round(In<S> x, Momentum& m, const MomentumStep& step, Out<S> d) = 0;
};

}  // namespace obolus
