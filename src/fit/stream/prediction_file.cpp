#include "fit/stream/prediction_file.hpp"

#include <fmt/format.h>

#include "fit/stream/prediction_line.hpp"
#include "obolus/core/error.hpp"

namespace obolus::fit {

void PredictionFile::begin() {
  if (!path_.empty()) file_.emplace(path_, false);
}

void PredictionFile::resume(std::int64_t rows) {
  require_same(rows);
  if (path_.empty()) return;
  file_.emplace(path_, true);
  if (file_->size() < bytes_)
    throw DataError(fmt::format("{}: has {} bytes, the checkpoint expects {}: it was cut or replaced", path_,
                                file_->size(), bytes_));
  file_->truncate(bytes_);
}

void PredictionFile::require_same(std::int64_t rows) const {
  if (rows == 0 || (path_.empty() && bytes_ == 0)) return;
  if (bytes_ == 0)
    throw ConfigError(
        fmt::format("--predictions: cannot be added on resume: the first {} rows were not recorded", rows));
  if (path_.empty()) throw ConfigError("--predictions: got none, expected the file that the run has begun");
  if (had_probabilities_ != probabilities_)
    throw ConfigError(fmt::format("--probabilities: got {}, expected {} as in the rows before the checkpoint",
                                  probabilities_ ? "them" : "none", had_probabilities_ ? "them" : "none"));
}

void PredictionFile::write(const Prediction& prediction, const Fit& fit, const std::string& tag) {
  if (!file_) return;
  format_prediction(prediction, fit, tag, probabilities_, line_);
  bytes_ += line_.size();
  buffer_ += line_;
  constexpr std::size_t max_buffer = 1 << 16;
  if (buffer_.size() > max_buffer) flush();
}

void PredictionFile::flush() {
  if (buffer_.empty()) return;
  file_->append(buffer_);
  buffer_.clear();
}

void PredictionFile::sync() {
  if (!file_) return;
  flush();
  file_->sync();
}

void PredictionFile::fields(Archive& a) {
  if (!a.loading()) had_probabilities_ = probabilities_;
  a("bytes", bytes_);
  a("probabilities", had_probabilities_);
}

}  // namespace obolus::fit
