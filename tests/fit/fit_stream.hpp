// Rows made by hand for Fit, and a stream of them.
#pragma once

#include <string>
#include <vector>

#include "obolus/core/rng.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus::test {

inline DataRow data_row(std::string label, std::vector<RowFeature> features, double weight = 1) {
  DataRow row;
  row.label = std::move(label);
  row.weight = weight;
  row.features = std::move(features);
  return row;
}

inline FitOptions fit_options(FitTask task = FitTask::classes) {
  FitOptions o;
  o.task = task;
  o.batch = 4;
  o.replay = 3;
  o.buffer = 10;
  return o;
}

// Three groups of features, two of them columns of numbers and one of words; labels a, b, c, or the numbers behind
// them.
class FitStream {
 public:
  explicit FitStream(std::uint64_t seed, FitTask task = FitTask::classes) : rng_(seed), task_(task) {}
  static std::vector<std::string> groups() { return {"width", "word", "height"}; }

  DataRow next() {
    const double width = 3 + 2 * rng_.normal(), height = rng_.normal();
    const auto word = rng_.below(6);
    const double sum = (width - 3) / 2 - height + (word < 2 ? 1.5 : 0) + 0.3 * rng_.normal();
    DataRow row = data_row(task_ == FitTask::numbers ? std::to_string(sum)
                           : sum < -0.7              ? "a"
                           : sum < 1                 ? "b"
                                                     : "c",
                           {{0, 0, static_cast<float>(width)},
                            {1, row_key("word", std::to_string(word)), 1.0F},
                            {2, 2, static_cast<float>(height)}});
    row.weight = rng_.below(3) == 0 ? 2.0 : 1.0;
    return row;
  }

 private:
  Rng rng_;
  FitTask task_;
};

inline std::vector<std::byte> saved(Fit& fit) {
  Archive a;
  fit.fields(a);
  return a.bytes();
}
inline std::vector<std::byte> saved_model(Fit& fit) {
  Archive a;
  fit.model_fields(a);
  return a.bytes();
}

}  // namespace obolus::test
