// expect: static(_assert| assertion) failed
// expect: p\.inner_gradient_y\(x, y, gy\).* (is|would be) invalid
#include "exact_problem.hpp"

struct Incomplete : Exact {
  void inner_gradient_y() = delete;
};

static_assert(obolus::FirstOrderOracle<Incomplete>);
