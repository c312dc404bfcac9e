// The file of a run's predictions: a line for every row, all alike, cut back to the checkpoint when the run is resumed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "obolus/core/archive.hpp"
#include "obolus/fit/fit.hpp"
#include "run/durable_file.hpp"

namespace obolus::fit {

class PredictionFile {
 public:
  // An empty path: there is none.
  PredictionFile(std::string path, bool probabilities) : path_(std::move(path)), probabilities_(probabilities) {}

  // After fields() has loaded what was there. Throws ConfigError where it would have gaps or other columns, DataError where it was cut.
  void resume(std::int64_t rows);
  void begin();
  void write(const Prediction& prediction, const Fit& fit, const std::string& tag);
  void sync();

  void fields(Archive& a);

 private:
  void require_same(std::int64_t rows) const;
  void flush();

  std::string path_, line_, buffer_;
  bool probabilities_, had_probabilities_ = false;
  std::uint64_t bytes_ = 0;
  std::optional<AppendedFile> file_;
};

}  // namespace obolus::fit
