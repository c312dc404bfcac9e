// NumPy arrays of one dimension, and Eigen's vectors.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstring>

#include "obolus/core/to_size.hpp"
#include "obolus/core/types.hpp"

namespace obolus::python {

namespace nb = nanobind;

template <class S>
using ArrayIn = nb::ndarray<const S, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class S>
[[nodiscard]] const char* dtype_name() {
  return std::is_same_v<S, float> ? "float32" : "float64";
}

// An array of NumPy's, under the name that type checkers know.
class Array : public nb::object {
  NB_OBJECT_DEFAULT(Array, object, "numpy.typing.NDArray[typing.Any]", nb::ndarray_check)
};
// What functions take and return by name.
using Fields = nb::typed<nb::dict, nb::str, nb::any>;

// A new array that Python owns.
template <class S>
[[nodiscard]] Array new_array(Index size) {
  return nb::steal<Array>(nb::object(nb::module_::import_("numpy").attr("empty")(size, dtype_name<S>())).release());
}

template <class S>
[[nodiscard]] S* data_of(nb::handle array) {
  return nb::cast<nb::ndarray<S, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(array).data();
}

template <class V>
[[nodiscard]] Array array_of(const V& vector) {
  using S = typename V::Scalar;
  Array array = new_array<S>(vector.size());
  if (vector.size() > 0) std::memcpy(data_of<S>(array), vector.data(), to_size(vector.size()) * sizeof(S));
  return array;
}

template <class S>
[[nodiscard]] Eigen::Map<const Vector<S>> vector_of(const ArrayIn<S>& array) {
  return {array.data(), static_cast<Index>(array.size())};
}

}  // namespace obolus::python
