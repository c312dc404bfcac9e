// What the folders of runs and comparisons hold: measures over rounds, one series per run. Files are read line by line
// and thinned, so that a run of any length takes the same memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "obolus/core/types.hpp"
#include "trace/trace_columns.hpp"

namespace obolus {

// A measure's value after round t, and what the run had cost by then.
struct Point {
  Round t = 0;
  double gradients = 0, seconds = 0, value = 0;
};

// What to read.
struct Selection {
  std::vector<std::string> measures;  // empty: the regret, f and the evaluations
  bool in_ratios = false;             // thin for a logarithmic axis of rounds
  bool names_only = false;            // no points at all
  std::string stream;                 // empty: all
  std::string setting = "best";       // of a comparison's grids: best, all, or "key=value, …"
};

struct MeasureName {
  std::string name;
  bool evaluation = false;
};

struct Series {
  std::string folder, stream, label, setting;
  std::int64_t seed = 0;
  bool comparison = false;
  std::string seedless_key;  // the same for runs that differ by their seed only

  struct Measure {
    std::string name;
    std::vector<Point> points;
  };
  std::vector<Measure> measures;

  // The selected measures, each of at most 2,000 points.
  void take(const TraceColumns& columns, const Selection& selection);
  [[nodiscard]] const std::vector<Point>& of(std::string_view measure) const;  // empty if it was not measured
};

struct FolderContents {
  std::vector<Series> series;
  std::vector<MeasureName> measures;  // in the order of the files
  std::vector<std::string> streams;   // all of them, selected or not
  std::vector<std::string> remarks;   // what a reader should know of the choices made

  void note_measures(const TraceColumns& columns);
  void note_stream(const std::string& stream);
};

// Folders of runs (trace.jsonl) and of comparisons (cells.jsonl), finished or not. Throws DataError naming file and
// line; ConfigError if no folder has the selected stream or setting.
[[nodiscard]] FolderContents read_series(const std::vector<std::string>& folders, const Selection& selection);

// The two kinds.
void read_run(const std::string& folder, const Selection& selection, FolderContents& into);
void read_comparison(const std::string& folder, const Selection& selection, FolderContents& into);

}  // namespace obolus
