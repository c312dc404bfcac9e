// Sessions of the paper's algorithms on the test problems. The file that tests an algorithm compiles its sessions; the
// others only call them.
#pragma once

#include <memory>

#include "obolus/any/session.hpp"
#include "obolus/optimisers/af2obo.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "obolus/optimisers/sf2obo.hpp"
#include "obolus/problems/oscillation.hpp"
#include "obolus/problems/quadratic.hpp"

namespace obolus::test {

template <class Optimiser>
struct Sessions {
  template <class S>
  using Opened = std::unique_ptr<AnySession<S>>;
  static Opened<double> open(const Optimiser& o, Quadratic<double>& p, In<double> x0, In<double> y0);
  static Opened<float> open(const Optimiser& o, Quadratic<float>& p, In<float> x0, In<float> y0);
  static Opened<double> open(const Optimiser& o, Oscillation<double>& p, In<double> x0, In<double> y0);
  static Opened<float> open(const Optimiser& o, Oscillation<float>& p, In<float> x0, In<float> y0);

 private:
  template <class P>
  static Opened<ScalarOf<P>> make(const Optimiser& o, P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) {
    return std::make_unique<Session<Optimiser, P>>(o, p, x0, y0);
  }
};

// Defined outside of the class: inline functions would be compiled in every file.
template <class Optimiser>
auto Sessions<Optimiser>::open(const Optimiser& o, Quadratic<double>& p, In<double> x0, In<double> y0)
    -> Opened<double> {
  return make(o, p, x0, y0);
}
template <class Optimiser>
auto Sessions<Optimiser>::open(const Optimiser& o, Quadratic<float>& p, In<float> x0, In<float> y0) -> Opened<float> {
  return make(o, p, x0, y0);
}
template <class Optimiser>
auto Sessions<Optimiser>::open(const Optimiser& o, Oscillation<double>& p, In<double> x0, In<double> y0)
    -> Opened<double> {
  return make(o, p, x0, y0);
}
template <class Optimiser>
auto Sessions<Optimiser>::open(const Optimiser& o, Oscillation<float>& p, In<float> x0, In<float> y0) -> Opened<float> {
  return make(o, p, x0, y0);
}

extern template struct Sessions<F2obo>;   // f2obo_test.cpp
extern template struct Sessions<Af2obo>;  // af2obo_test.cpp
extern template struct Sessions<Sf2obo>;  // sf2obo_test.cpp

// A Session that is compiled elsewhere.
template <class Optimiser, class P>
class OpenSession {
  using S = ScalarOf<P>;

 public:
  OpenSession(const Optimiser& o, P& p, In<S> x0, In<S> y0) : session_(Sessions<Optimiser>::open(o, p, x0, y0)) {}

  Step step(const Rng& rng) { return session_->step(rng); }
  [[nodiscard]] const Vector<S>& x() const { return session_->x(); }
  [[nodiscard]] const Vector<S>& direction() const { return session_->direction(); }
  void read_y(Out<S> y) { session_->read_y(y); }
  void read_z(Out<S> z) { session_->read_z(z); }
  [[nodiscard]] const OracleCounts& counts() const { return session_->counts(); }

 private:
  std::unique_ptr<AnySession<S>> session_;
};

}  // namespace obolus::test
