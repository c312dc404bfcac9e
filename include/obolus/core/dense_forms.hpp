// Making, reading, writing and copying inner iterates, whatever their storage.
#pragma once

#include <concepts>

#include "obolus/core/inner_storage.hpp"
#include "obolus/core/linear.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/types.hpp"

namespace obolus::detail {

template <FirstOrderOracle P>
class DenseForms {
 public:
  using S = ScalarOf<P>;
  static constexpr bool dense = std::same_as<Inner<P>, Vector<S>>;
  static_assert(dense || OwnsInnerStorage<P>,
                "a problem with its own Inner needs make_inner(), to_dense(inner, out) and from_dense(in, inner)");

  explicit DenseForms(P& p) {
    if constexpr (!dense) {
      first_.resize(p.dims().y);
      second_.resize(p.dims().y);
    }
  }

  [[nodiscard]] Inner<P> make(P& p, In<S> start) {
    if constexpr (dense) {
      return start;
    } else {
      Inner<P> inner = p.make_inner();
      p.from_dense(start, inner);
      return inner;
    }
  }

  void to_dense(P& p, const Inner<P>& inner, Out<S> out) {
    if constexpr (dense) out = inner;
    else p.to_dense(inner, out);
  }

  void from_dense(P& p, In<S> in, Inner<P>& inner) {
    if constexpr (dense) inner = in;
    else p.from_dense(in, inner);
  }

  // to ← from
  void copy(P& p, const Inner<P>& from, Inner<P>& to) {
    if constexpr (requires { p.copy(from, to); }) p.copy(from, to);
    else if constexpr (dense) to = from;
    else p.from_dense(read(p, from, first_), to);
  }

  // to ← to + a · from
  void axpy(P& p, double a, const Inner<P>& from, Inner<P>& to) {
    if constexpr (requires { p.axpy(a, from, to); }) p.axpy(a, from, to);
    else change(p, to, first_, [&](Vector<S>& v) { add_scaled<S>(v, S(a), read(p, from, second_)); });
  }

  [[nodiscard]] bool all_finite(P& p, const Inner<P>& inner) {
    if constexpr (requires { p.all_finite(inner); }) return p.all_finite(inner);
    else return read(p, inner, first_).allFinite();
  }

 protected:
  // The dense values of an iterate: itself, or a copy in `buffer`.
  const Vector<S>& read(P& p, const Inner<P>& inner, [[maybe_unused]] Vector<S>& buffer) {
    if constexpr (dense) {
      return inner;  // NOLINT(bugprone-return-const-ref-from-parameter): iterates outlive the call
    } else {
      p.to_dense(inner, buffer);
      return buffer;
    }
  }

  template <class Change>
  void change(P& p, Inner<P>& inner, [[maybe_unused]] Vector<S>& buffer, Change&& apply) {
    if constexpr (dense) {
      apply(inner);
    } else {
      p.to_dense(inner, buffer);
      apply(buffer);
      p.from_dense(buffer, inner);
    }
  }

  Vector<S> first_, second_;  // dense forms, when the problem stores its iterates otherwise
};

}  // namespace obolus::detail
