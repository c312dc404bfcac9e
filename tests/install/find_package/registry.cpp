#include <iostream>
#include <obolus/core/types.hpp>

int main() {
  const obolus::Dims dims{.x = 2, .y = 3};
  std::cout << "x in R^" << dims.x << ", y in R^" << dims.y << '\n';
  return dims == obolus::Dims{.x = 2, .y = 3} ? 0 : 1;
}
