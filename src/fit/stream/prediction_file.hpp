// The file of a run's predictions: one line per row, cut back to the checkpoint when the run is resumed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "data/durable_file.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus::fit {

class PredictionFile {
 public:
  // An empty path: no file.
  PredictionFile(std::string path, bool probabilities) : path_(std::move(path)), probabilities_(probabilities) {}

  // After fields() was loaded. Throws ConfigError where the file would have gaps or other columns, DataError where it
  // was cut.
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
