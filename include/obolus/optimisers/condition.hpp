// One condition of a theorem, judged.
#pragma once

#include <string>

namespace obolus {

struct Condition {
  std::string name;  // "lambda_1 > 2 L_f1/mu_g (Theorem 1)"
  bool holds;
  std::string detail;  // "5 > 2"
};

}  // namespace obolus
