#include "problems/softmax_data.hpp"

#include "obolus/core/error.hpp"

namespace obolus {

LabelledRows load_rows(const SoftmaxOptions& options, std::uint64_t seed) {
  return generate_rows(options, seed);
}

}  // namespace obolus
