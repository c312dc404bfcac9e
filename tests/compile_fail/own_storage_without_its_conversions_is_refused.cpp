// expect: a problem with its own Inner needs make_inner\(\), to_dense\(inner, out\) and from_dense\(in, inner\)
#include "exact_problem.hpp"
#include "obolus/core/inner.hpp"

struct Lazy : Exact {
  struct Inner {};
};

void use(Lazy& p) { obolus::InnerSpace<Lazy> space(p); }
