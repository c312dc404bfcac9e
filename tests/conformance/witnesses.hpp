// Problems that watch, or spoil, what an optimiser asks for.
#pragma once

#include "obolus/core/counted.hpp"
#include "obolus/problems/quadratic.hpp"

namespace obolus::test {

// The minimum that a problem can offer: four gradients and two values. f = ½y², g = ½(y − x/2)², in one dimension.
struct FirstOrderOnly {
  using Scalar = double;
  [[nodiscard]] Dims dims() const { return {1, 1}; }
  void reveal(Round) {}
  double outer_value(In<double>, In<double> y) { return 0.5 * y[0] * y[0]; }
  double inner_value(In<double> x, In<double> y) { return 0.5 * (y[0] - 0.5 * x[0]) * (y[0] - 0.5 * x[0]); }
  void outer_gradient_x(In<double>, In<double>, Out<double> d) { d[0] = 0.0; }
  void outer_gradient_y(In<double>, In<double> y, Out<double> d) { d[0] = y[0]; }
  void inner_gradient_x(In<double> x, In<double> y, Out<double> d) { d[0] = 0.25 * x[0] - 0.5 * y[0]; }
  void inner_gradient_y(In<double> x, In<double> y, Out<double> d) { d[0] = y[0] - 0.5 * x[0]; }
};
struct FirstOrderAndSamples : FirstOrderOnly {
  void resample(SampleSizes, Rng&) {}
  void expectation() {}
};
static_assert(FirstOrderOracle<FirstOrderOnly> && !HvpOracle<FirstOrderOnly> && !StochasticOracle<FirstOrderOnly> &&
              !DifferenceOracle<FirstOrderOnly> && !ClosedFormOracle<FirstOrderOnly>);
static_assert(StochasticOracle<FirstOrderAndSamples> && !HvpOracle<FirstOrderAndSamples>);

enum class Kind { f_x, f_y, g_x, g_y, hvp, cross, value };

// A quadratic whose plain oracles go through `visit(kind, output)`; it fuses nothing.
template <class Derived>
class Watched {
 public:
  using Scalar = double;
  Watched(const QuadraticOptions& options, std::uint64_t seed) : inner_(options, seed) {}

  [[nodiscard]] Dims dims() const { return inner_.dims(); }
  void reveal(Round t) {
    now_ = t;
    inner_.reveal(t);
  }
  double outer_value(In<double> x, In<double> y) { return visited(inner_.outer_value(x, y)); }
  double inner_value(In<double> x, In<double> y) { return visited(inner_.inner_value(x, y)); }
  void outer_gradient_x(In<double> x, In<double> y, Out<double> d) {
    inner_.outer_gradient_x(x, y, d);
    see(Kind::f_x, d);
  }
  void outer_gradient_y(In<double> x, In<double> y, Out<double> d) {
    inner_.outer_gradient_y(x, y, d);
    see(Kind::f_y, d);
  }
  void inner_gradient_x(In<double> x, In<double> y, Out<double> d) {
    inner_.inner_gradient_x(x, y, d);
    see(Kind::g_x, d);
  }
  void inner_gradient_y(In<double> x, In<double> y, Out<double> d) {
    inner_.inner_gradient_y(x, y, d);
    see(Kind::g_y, d);
  }
  void inner_hvp_yy(In<double> x, In<double> y, In<double> v, Out<double> d) {
    inner_.inner_hvp_yy(x, y, v, d);
    see(Kind::hvp, d);
  }
  void inner_hvp_xy(In<double> x, In<double> y, In<double> v, Out<double> d) {
    inner_.inner_hvp_xy(x, y, v, d);
    see(Kind::cross, d);
  }
  void resample(SampleSizes sizes, Rng& rng) {
    drawn_ += sizes.outer + sizes.inner;
    inner_.resample(sizes, rng);
  }
  void expectation() { inner_.expectation(); }

 protected:
  Round now_ = 0;
  std::int64_t drawn_ = 0;

 private:
  void see(Kind kind, Out<double> d) { static_cast<Derived*>(this)->visit(kind, d); }
  double visited(double value) {
    Vector<double> one = Vector<double>::Constant(1, value);
    see(Kind::value, one);
    return one[0];
  }
  Quadratic<double> inner_;
};

// Counts the calls that reach the problem.
class CallCounting : public Watched<CallCounting> {
 public:
  using Watched::Watched;
  [[nodiscard]] OracleCounts made() const {
    OracleCounts all = made_;
    all.samples = drawn_;
    return all;
  }
  void visit(Kind kind, Out<double>) {
    switch (kind) {
      case Kind::f_x: ++made_.f_x; break;
      case Kind::f_y: ++made_.f_y; break;
      case Kind::g_x: ++made_.g_x; break;
      case Kind::g_y: ++made_.g_y; break;
      case Kind::hvp: ++made_.hvp_yy; break;
      case Kind::cross: ++made_.hvp_xy; break;
      case Kind::value: ++made_.values; break;
    }
  }

 private:
  OracleCounts made_;
};

// From round `from` on one oracle puts `poison` into the first entry of what it returns.
class Poisoned : public Watched<Poisoned> {
 public:
  Poisoned(const QuadraticOptions& options, std::uint64_t seed, Kind kind, Round from, double poison)
      : Watched(options, seed), kind_(kind), from_(from), poison_(poison) {}
  void visit(Kind kind, Out<double> d) {
    if (kind == kind_ && now_ >= from_) d[0] = poison_;
  }

 private:
  Kind kind_;
  Round from_;
  double poison_;
};

}  // namespace obolus::test
