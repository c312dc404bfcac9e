// The rounds of a run from its trace.jsonl, one at a time, in the memory of the longest line.
#pragma once

#include <memory>
#include <string>

#include "trace/line_reader.hpp"
#include "trace/trace_row.hpp"

namespace obolus {

class TraceReader {
 public:
  // Throws DataError if the file does not exist.
  explicit TraceReader(const std::string& path);
  ~TraceReader();

  // False at the end of the file; a last line that is cut, because the run was killed or is still writing, counts as
  // the end. Throws DataError naming file and line.
  bool next(TraceRow& row);
  // "FILE:LINE" of the last row.
  [[nodiscard]] std::string place() const { return lines_.place(); }

 private:
  class Parser;

  LineReader lines_;
  std::string line_;
  std::unique_ptr<Parser> parser_;
  Round last_ = 0;
};

}  // namespace obolus
