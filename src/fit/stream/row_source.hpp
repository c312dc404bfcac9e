// The rows of a run, in order: read ahead where that helps, looked at before the first is used, and summed up in a
// digest, so that a resumed run notices if they are not the same again.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fit/stream/row_pipe.hpp"
#include "fit/stream/rows_digest.hpp"
#include "obolus/data/rows.hpp"

namespace obolus::fit {

using OpenRows = std::function<std::unique_ptr<RowReader>()>;
using Stop = std::function<bool()>;

// Opening a stream waits for its first bytes, or for `stop`; null then. The thread that waits may outlive the call.
[[nodiscard]] std::unique_ptr<RowReader> open_stream(const OpenRows& open, const Stop& stop);

class RowSource {
 public:
  RowSource(std::unique_ptr<RowReader> reader, bool ahead) : pipe_(std::move(reader), ahead) {}

  // Rows of the run that come from elsewhere are first in the digest. Before next().
  void add_to_digest(const std::vector<DataRow>& rows) {
    for (const DataRow& row : rows) before_.add(row);
    read_.digest = before_;
  }

  // The labels of the first rows, up to so many, which next() gives all the same.
  [[nodiscard]] std::vector<std::string> first_labels(std::size_t count, const Stop& stop);

  // Null at the end, and where `stop` says so while there is no row. Valid until the next call.
  const RowPipe::Item* next(const Stop& stop);
  // The first so many names: rows that were read ahead may know more.
  [[nodiscard]] std::span<const std::string> groups(std::size_t count) {
    return std::span(pipe_.groups()).first(count);
  }
  // Of the rows so far; and the error of the first that was skipped, known at the end.
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
  [[nodiscard]] std::string first_skipped() const { return pipe_.reader().first_skipped(); }

  [[nodiscard]] RowsRead& read() { return read_; }
  // After read() was loaded: reads as many rows again. Throws DataError if they are not the same; `run` names the
  // run.
  void skip_to_checkpoint(const std::string& run);

 private:
  const RowPipe::Item* take(const Stop& stop);

  RowPipe pipe_;
  std::deque<RowPipe::Item> first_;
  bool took_first_ = false;
  std::uint64_t skipped_ = 0;
  RowsDigest before_;
  RowsRead read_;
};

}  // namespace obolus::fit
