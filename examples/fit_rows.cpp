// A model of rows of your own that tunes itself: SEA, a stream whose concept changes after 10,000 rows.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "obolus/data/generators.hpp"
#include "obolus/fit/fit.hpp"
#include "obolus/metrics/class_metrics.hpp"

using namespace obolus;

int main() {
  const auto sea = make_generator(SeaOptions{.stream = {.seed = 7, .drift_rows = Numbers(10'000.0)}});
  Fit fit({.task = FitTask::classes});
  fit.set_groups(std::vector<std::string>{"x1", "x2", "x3"}, true);  // three columns of numbers
  WindowedClassMetrics last(1000);
  GeneratedRow generated;
  DataRow row;
  for (int i = 0; i < 20'000; ++i) {
    sea->row(i, generated);
    row.label = sea->classes()[static_cast<std::size_t>(generated.label)];
    row.features.clear();
    for (std::uint32_t column = 0; column < 3; ++column)  // a column's key is its number
      row.features.push_back({column, column, generated.numbers[column]});
    const Prediction& p = fit.learn(row);  // of before the row was learnt
    last.add(JudgedClass::of(p.truth, p.best, p.truth_probability, row.weight));
    if (i % 2'500 == 2'499)
      std::printf("%5d rows, the last 1,000: log-loss %.3f, accuracy %.3f; rate %.4f\n", i + 1,
                  last.metrics().log_loss(), last.metrics().accuracy(), fit.hyperparameters()[0].value);
  }
  fit.finish();
}
