// A problem written in Python: any object with the oracle's methods over NumPy arrays, as a problem of the library.
//
// A method gets arrays that Python owns and that are used again only if nobody kept them, so that keeping one is safe.
// What it returns is checked: shape, type, and that it is finite where its arguments are.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "obolus/core/capabilities.hpp"
#include "obolus/core/evaluation.hpp"
#include "obolus/core/finite_difference.hpp"
#include "obolus/core/oracle.hpp"

namespace obolus::python {

// The problem's own fault: a wrong shape, a NaN. Says which method, in which round.
class ProblemError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class S>
class PythonProblem {
 public:
  using Scalar = S;

  explicit PythonProblem(nb::object object);

  [[nodiscard]] Capabilities capabilities() const { return can_; }
  [[nodiscard]] Dims dims() const { return dims_; }
  void reveal(Round t);
  void name_round(Round t) { round_ = t; }  // in errors; the problem itself was revealed by somebody else

  double outer_value(In<S> x, In<S> y) { return value(outer_value_, x, y); }
  double inner_value(In<S> x, In<S> y) { return value(inner_value_, x, y); }
  // By central differences of the value where the object has no such gradient.
  void outer_gradient_x(In<S> x, In<S> y, Out<S> d) { gradient(outer_gradient_x_, outer_value_, true, x, y, d); }
  void outer_gradient_y(In<S> x, In<S> y, Out<S> d) { gradient(outer_gradient_y_, outer_value_, false, x, y, d); }
  void inner_gradient_x(In<S> x, In<S> y, Out<S> d) { gradient(inner_gradient_x_, inner_value_, true, x, y, d); }
  void inner_gradient_y(In<S> x, In<S> y, Out<S> d) { gradient(inner_gradient_y_, inner_value_, false, x, y, d); }
  // By central differences of gradients where the object has no products.
  void inner_hvp_yy(In<S> x, In<S> y, In<S> v, Out<S> d);
  void inner_hvp_xy(In<S> x, In<S> y, In<S> v, Out<S> d);
  void inner_solution(In<S> x, Out<S> y) { call(inner_solution_, y, x); }
  void resample(SampleSizes sizes, Rng& rng);
  void expectation();
  void start(Out<S> x, Out<S> y);
  void evaluate(In<S> x, In<S> y, Evaluation& out) { measures(evaluate_, x, y, out); }
  void judge(In<S> x, In<S> y, Evaluation& out) { measures(judge_, x, y, out); }

 protected:
  struct Method {
    const char* name;
    nb::object bound = {};
    [[nodiscard]] bool there() const { return bound.is_valid(); }
  };
  template <class... Vectors>
  void call(const Method& method, Out<S> out, const Vectors&... arguments);

  Method difference_x_{"inner_gradient_x_difference"}, difference_y_{"inner_gradient_y_difference"};

 private:
  // An array that methods are lent.
  class Lent {
   public:
    nb::handle fill(In<S> values);

   private:
    nb::object array_;
    S* data_ = nullptr;
    Index size_ = -1;
  };
  // The gradients alone, for products by differences.
  struct Gradients {
    using Scalar = S;
    PythonProblem& p;
    [[nodiscard]] Dims dims() const { return p.dims(); }
    double outer_value(In<S> x, In<S> y) { return p.outer_value(x, y); }
    double inner_value(In<S> x, In<S> y) { return p.inner_value(x, y); }
    void outer_gradient_x(In<S> x, In<S> y, Out<S> d) { p.outer_gradient_x(x, y, d); }
    void outer_gradient_y(In<S> x, In<S> y, Out<S> d) { p.outer_gradient_y(x, y, d); }
    void inner_gradient_x(In<S> x, In<S> y, Out<S> d) { p.inner_gradient_x(x, y, d); }
    void inner_gradient_y(In<S> x, In<S> y, Out<S> d) { p.inner_gradient_y(x, y, d); }
  };

  void read_dims();
  void require_gradient(const Method& method, const Method& value, Index size) const;
  template <class... Vectors>
  nb::object ask(const Method& method, const Vectors&... arguments);
  void gradient(const Method& method, const Method& value, bool in_x, In<S> x, In<S> y, Out<S> d);
  double value(const Method& method, In<S> x, In<S> y);
  void measures(const Method& method, In<S> x, In<S> y, Evaluation& out);
  void take(const Method& method, nb::handle result, Out<S> out) const;
  [[nodiscard]] nb::object converted(const Method& method, nb::handle result, Index size) const;
  [[noreturn]] void fail(const Method& method, const std::string& got, const std::string& expected) const;

  nb::object object_;
  Dims dims_;
  Capabilities can_;
  Round round_ = 0;
  Method reveal_{"reveal"}, outer_value_{"outer_value"}, inner_value_{"inner_value"};
  Method outer_gradient_x_{"outer_gradient_x"}, outer_gradient_y_{"outer_gradient_y"};
  Method inner_gradient_x_{"inner_gradient_x"}, inner_gradient_y_{"inner_gradient_y"};
  Method hvp_yy_{"inner_hvp_yy"}, hvp_xy_{"inner_hvp_xy"}, inner_solution_{"inner_solution"};
  Method resample_{"resample"}, expectation_{"expectation"}, start_{"start"}, evaluate_{"evaluate"}, judge_{"judge"};
  std::array<Lent, 3> lent_;
  Gradients gradients_{*this};
  std::unique_ptr<FiniteDifferenceHvp<Gradients>> products_;
};

// One that has differences of inner gradients, too.
template <class S>
class DifferenceProblem final : public PythonProblem<S> {
 public:
  using PythonProblem<S>::PythonProblem;
  void inner_gradient_x_difference(In<S> x, In<S> z, In<S> delta, Out<S> d) {
    this->call(this->difference_x_, d, x, z, delta);
  }
  void inner_gradient_y_difference(In<S> x, In<S> z, In<S> delta, Out<S> d) {
    this->call(this->difference_y_, d, x, z, delta);
  }
};

extern template class PythonProblem<double>;
extern template class PythonProblem<float>;

}  // namespace obolus::python
