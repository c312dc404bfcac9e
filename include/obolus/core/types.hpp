// The vocabulary of all other headers: scalars, vectors, rounds, sizes.
#pragma once

#include <Eigen/Core>
#include <type_traits>

#include "obolus/core/index.hpp"

namespace obolus {

static_assert(std::is_same_v<Index, Eigen::Index>);

template <class S>
using Vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;
template <class S>
using Matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;

// How oracles receive and return vectors. Neither copies: an `In` refers to the caller's numbers, an `Out` is
// overwritten completely (never accumulated into).
template <class S>
using In = const Eigen::Ref<const Vector<S>>&;
template <class S>
using Out = Eigen::Ref<Vector<S>>;

struct Dims {
  Index x = 0;  // d1, outer
  Index y = 0;  // d2, inner
  friend bool operator==(const Dims&, const Dims&) = default;
};

}  // namespace obolus
