// expect: ok
#include "exact_problem.hpp"

static_assert(obolus::FirstOrderOracle<Exact>);
