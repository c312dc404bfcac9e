// expect: has no (non-static data )?member named .*alhpa
#include "obolus/optimisers/f2obo.hpp"

const obolus::F2obo::Options options{.alhpa = 0.1};
