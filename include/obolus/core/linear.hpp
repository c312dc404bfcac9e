// Linear combinations of dense vectors. Each of Eigen's expressions is a type of its own and costs every file that uses
// it about 0.1 s of compilation, per problem: here each is compiled once per scalar.
#pragma once

#include "obolus/core/types.hpp"

namespace obolus {

// to ← to + a v
template <class S>
void add_scaled(Out<S> to, S a, In<S> v) {
  to.noalias() += a * v;
}

// to ← a u + b v; `to` may be u or v
template <class S>
void combine(Out<S> to, S a, In<S> u, S b, In<S> v) {
  to.noalias() = a * u + b * v;
}

// to ← u + a v; `to` may be u or v
template <class S>
void shift(Out<S> to, In<S> u, S a, In<S> v) {
  to.noalias() = u + a * v;
}

// to ← a v; `to` may be v
template <class S>
void scale(Out<S> to, S a, In<S> v) {
  to.noalias() = a * v;
}

}  // namespace obolus
