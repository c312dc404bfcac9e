// What the folders of runs and comparisons hold: measures over rounds, a series a run. Files are read line by line; what is kept is thinned, so that a
// run of any length takes the same memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "obolus/core/types.hpp"

namespace obolus {

// A measure's value after round t, and what the run had cost by then.
struct Point {
  Round t = 0;
  double gradients = 0, seconds = 0, value = 0;
};

// At most 2,000 of the points that pass, the first and the last among them: evenly spaced, or in equal ratios of t. How many will come need not be
// known. What is kept depends on the rounds alone, so that runs of different seeds keep the same ones.
class Thinned {
 public:
  static constexpr std::size_t max = 2000;

  explicit Thinned(bool in_ratios) : in_ratios_(in_ratios) {}
  void add(const Point& point);
  [[nodiscard]] std::vector<Point> points() const;

 private:
  [[nodiscard]] bool keeps(const Point& point) const;

  bool in_ratios_;
  std::vector<Point> kept_;
  Point last_;
  std::size_t seen_ = 0, stride_ = 1;
};

// What to read.
struct Selection {
  std::vector<std::string> measures;  // none: the regret, f and the evaluations
  bool in_ratios = false;             // thin for a logarithmic axis of rounds
  bool names_only = false;            // no points at all
  std::string stream;                 // empty: all
  std::string setting = "best";       // of a comparison's grids: best, all, or "key=value, …"
};

struct Offer {
  std::string name;
  bool evaluation = false;
};

// The measures of one run as they pass.
class Columns {
 public:
  explicit Columns(const Selection& selection) : selection_(&selection) {}
  void add(std::string_view name, bool evaluation, const Point& point);

  struct Column {
    Offer offer;
    bool wanted = false;
    Thinned points;
  };
  [[nodiscard]] const std::vector<Column>& all() const { return columns_; }

 private:
  [[nodiscard]] std::size_t find(std::string_view name, bool evaluation);

  const Selection* selection_;
  std::vector<Column> columns_;
  std::size_t next_ = 0;  // lines name the same measures in the same order
};

struct Series {
  std::string folder, stream, label, setting;
  std::int64_t seed = 0;
  bool comparison = false;
  std::string kin;  // the same for runs that differ by their seed only

  struct Measure {
    std::string name;
    std::vector<Point> points;
  };
  std::vector<Measure> measures;

  void take(const Columns& columns);
  [[nodiscard]] const std::vector<Point>& of(std::string_view measure) const;  // empty when there is none
};

struct Holdings {
  std::vector<Series> series;
  std::vector<Offer> offers;         // in the order of the files
  std::vector<std::string> streams;  // all there are, selected or not
  std::vector<std::string> remarks;  // what a reader should know of the choices made

  void offer(const Columns& columns);
  void note_stream(const std::string& stream);
};

// Folders of runs (trace.jsonl) and of comparisons (cells.jsonl), finished or not. Throws DataError naming file and line; ConfigError when a selected
// stream or setting is nowhere.
[[nodiscard]] Holdings read_series(const std::vector<std::string>& folders, const Selection& selection);

// The two kinds.
void read_run(const std::string& folder, const Selection& selection, Holdings& into);
void read_comparison(const std::string& folder, const Selection& selection, Holdings& into);

}  // namespace obolus
