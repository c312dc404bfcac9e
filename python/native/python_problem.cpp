#include "python_problem.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace obolus::python {
namespace {

std::string text_of(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }
std::string type_of(nb::handle object) { return text_of(nb::getattr(object.type(), "__name__")); }

// Beyond this, a result that is not finite is the optimiser's divergence, not the problem's mistake.
template <class S>
constexpr S large = S(1e12);

template <class S>
bool moderate(In<S> v) {
  return (v.array().abs() < large<S>).all();  // false for NaN
}

// A missing gradient costs two values per number: beyond so many numbers it is taken for a mistake.
constexpr Index max_differenced = 64;

}  // namespace

template <class S>
PythonProblem<S>::PythonProblem(nb::object object) : object_(std::move(object)) {
  for (Method* m : {&reveal_, &outer_value_, &inner_value_, &outer_gradient_x_, &outer_gradient_y_, &inner_gradient_x_,
                    &inner_gradient_y_, &difference_x_, &difference_y_, &hvp_yy_, &hvp_xy_, &inner_solution_,
                    &resample_, &expectation_, &start_, &evaluate_, &judge_})
    if (nb::object bound = nb::getattr(object_, m->name, nb::none()); !bound.is_none()) m->bound = std::move(bound);
  read_dims();
  require_gradient(outer_gradient_x_, outer_value_, dims_.x);
  require_gradient(outer_gradient_y_, outer_value_, dims_.y);
  require_gradient(inner_gradient_x_, inner_value_, dims_.x);
  require_gradient(inner_gradient_y_, inner_value_, dims_.y);
  can_ = {.hvp = true,
          .stochastic = resample_.there(),
          .closed_form = inner_solution_.there(),
          .difference = difference_x_.there() && difference_y_.there(),
          .convex = nb::cast<bool>(nb::getattr(object_, "convex", nb::bool_(true)))};
  if (!hvp_yy_.there() || !hvp_xy_.there()) products_ = std::make_unique<FiniteDifferenceHvp<Gradients>>(gradients_);
}

template <class S>
void PythonProblem<S>::read_dims() {
  if (!nb::hasattr(object_, "dims"))
    throw ProblemError(type_of(object_) + ": has no method dims(), expected one that returns (size of x, size of y)");
  const nb::object dims = nb::getattr(object_, "dims")();
  std::pair<Index, Index> sizes{-1, -1};
  if (nb::isinstance<nb::sequence>(dims) && nb::len(dims) == 2)
    for (int i = 0; i < 2; ++i)
      if (long long n = 0; nb::try_cast(nb::object(dims[i]), n)) (i == 0 ? sizes.first : sizes.second) = n;
  if (sizes.first < 1 || sizes.second < 1)
    throw ProblemError(fmt::format("{}.dims(): got {}, expected two whole numbers, 1 or more: the sizes of x and y",
                                   type_of(object_), nb::cast<std::string>(nb::repr(dims))));
  dims_ = {sizes.first, sizes.second};
}

template <class S>
void PythonProblem<S>::require_gradient(const Method& method, const Method& value, Index size) const {
  if (method.there() || (value.there() && size <= max_differenced)) return;
  throw ProblemError(fmt::format("{}: has no method {}(x, y), expected one, or {}(x, y) and at most {} numbers, got {}",
                                 type_of(object_), method.name, value.name, max_differenced, size));
}

template <class S>
void PythonProblem<S>::fail(const Method& method, const std::string& got, const std::string& expected) const {
  const std::string round = round_ > 0 ? fmt::format(" in round {}", round_) : "";
  throw ProblemError(fmt::format("{}.{}{}: got {}, expected {}", type_of(object_), method.name, round, got, expected));
}

template <class S>
nb::handle PythonProblem<S>::Lent::fill(In<S> values) {
  if (size_ != values.size() || Py_REFCNT(array_.ptr()) > 1) {
    size_ = values.size();
    array_ = new_array<S>(size_);
    data_ = data_of<S>(array_);
  }
  std::memcpy(data_, values.data(), to_size(size_) * sizeof(S));
  return array_;
}

template <class S>
template <class... Vectors>
nb::object PythonProblem<S>::ask(const Method& method, const Vectors&... arguments) {
  if (!method.there()) fail(method, "no such method", "one: this optimiser or metric needs it");
  std::size_t i = 0;
  const std::array<nb::handle, sizeof...(Vectors)> arrays{lent_[i++].fill(arguments)...};
  return std::apply([&](auto... handles) { return method.bound(handles...); }, arrays);
}

template <class S>
template <class... Vectors>
void PythonProblem<S>::call(const Method& method, Out<S> out, const Vectors&... arguments) {
  const nb::object result = ask(method, arguments...);
  take(method, result, out);
  if (!out.allFinite() && (moderate<S>(arguments) && ...)) {
    Index at = 0;
    while (std::isfinite(out[at])) ++at;
    fail(method, fmt::format("{} at [{}]", out[at], at), "finite numbers at finite arguments");
  }
}

template <class S>
void PythonProblem<S>::gradient(const Method& method, const Method& value, bool in_x, In<S> x, In<S> y, Out<S> d) {
  if (method.there()) return call(method, d, x, y);
  Vector<S> at = in_x ? x : y;
  const auto value_at = [&] { return in_x ? this->value(value, at, y) : this->value(value, x, at); };
  for (Index i = 0; i < at.size(); ++i) {
    const S middle = at[i];
    // Rounding ε/h against truncation h²: equal at ε^(1/3).
    const S h = std::cbrt(std::numeric_limits<S>::epsilon()) * std::max(S(1), std::abs(middle));
    const S up = middle + h, down = middle - h;
    at[i] = up;
    const double above = value_at();
    at[i] = down;
    const double below = value_at();
    at[i] = middle;
    d[i] = static_cast<S>((above - below) / (static_cast<double>(up) - static_cast<double>(down)));
  }
}

template <class S>
double PythonProblem<S>::value(const Method& method, In<S> x, In<S> y) {
  const nb::object result = ask(method, x, y);
  double number = 0;
  try {
    number = nb::cast<double>(nb::float_(result));
  } catch (const std::exception&) {
    PyErr_Clear();
    fail(method, "a " + type_of(result), "a number");
  }
  if (!std::isfinite(number) && moderate<S>(x) && moderate<S>(y))
    fail(method, fmt::format("{}", number), "a finite number at finite arguments");
  return number;
}

template <class S>
void PythonProblem<S>::measures(const Method& method, In<S> x, In<S> y, Evaluation& out) {
  if (!method.there()) return;
  const nb::object result = ask(method, x, y);
  if (!nb::isinstance<nb::dict>(result)) fail(method, "a " + type_of(result), "a dict of names and numbers");
  for (const auto& [name, number] : nb::cast<nb::dict>(result)) {
    double value = 0;
    if (!nb::try_cast(number, value))
      fail(method, fmt::format("a {} as '{}'", type_of(number), text_of(name)), "a number");
    out.add(text_of(name), value);
  }
}

template <class S>
void PythonProblem<S>::take(const Method& method, nb::handle result, Out<S> out) const {
  ArrayIn<S> array;
  const bool as_expected = nb::try_cast(result, array, false);
  const nb::object made = as_expected ? nb::object() : converted(method, result, out.size());
  if (!as_expected) array = nb::cast<ArrayIn<S>>(made);
  if (static_cast<Index>(array.size()) != out.size())
    fail(method, fmt::format("shape ({},)", array.size()), fmt::format("shape ({},)", out.size()));
  std::memcpy(out.data(), array.data(), to_size(out.size()) * sizeof(S));
}

// Anything else that NumPy can make an array of, if it holds real numbers and has the right shape.
template <class S>
nb::object PythonProblem<S>::converted(const Method& method, nb::handle result, Index size) const {
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array;
  try {
    array = numpy.attr("asarray")(result);
  } catch (const nb::python_error&) {
    fail(method, "a " + type_of(result), "a NumPy array");
  }
  const std::string kind = text_of(array.attr("dtype").attr("kind"));
  if (kind != "f" && kind != "i" && kind != "u" && kind != "b")
    fail(method, "dtype " + text_of(array.attr("dtype")), fmt::format("{}", dtype_name<S>()));
  const nb::tuple shape = nb::cast<nb::tuple>(array.attr("shape"));
  const bool alone = shape.size() == 0 && size == 1;
  if (!alone && !(shape.size() == 1 && nb::cast<Index>(shape[0]) == size))
    fail(method, "shape " + text_of(shape), fmt::format("shape ({},)", size));
  return numpy.attr("ascontiguousarray")(array.attr("reshape")(size), dtype_name<S>());
}

template <class S>
void PythonProblem<S>::reveal(Round t) {
  round_ = t;
  if (reveal_.there()) reveal_.bound(t);
}

template <class S>
void PythonProblem<S>::inner_hvp_yy(In<S> x, In<S> y, In<S> v, Out<S> d) {
  if (products_) products_->inner_hvp_yy(x, y, v, d);
  else call(hvp_yy_, d, x, y, v);
}

template <class S>
void PythonProblem<S>::inner_hvp_xy(In<S> x, In<S> y, In<S> v, Out<S> d) {
  if (products_) products_->inner_hvp_xy(x, y, v, d);
  else call(hvp_xy_, d, x, y, v);
}

template <class S>
void PythonProblem<S>::resample(SampleSizes sizes, Rng& rng) {
  resample_.bound(sizes.outer, sizes.inner, rng.bits());
}

template <class S>
void PythonProblem<S>::expectation() {
  if (expectation_.there()) expectation_.bound();
}

template <class S>
void PythonProblem<S>::start(Out<S> x, Out<S> y) {
  x.setZero();
  y.setZero();
  if (!start_.there()) return;
  const nb::object pair = start_.bound();
  if (!nb::isinstance<nb::sequence>(pair) || nb::len(pair) != 2) fail(start_, "a " + type_of(pair), "a pair (x, y)");
  take(start_, nb::object(pair[0]), x);
  take(start_, nb::object(pair[1]), y);
}

template class PythonProblem<double>;
template class PythonProblem<float>;

}  // namespace obolus::python
