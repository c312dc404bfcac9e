// Several optimisers × streams × settings × seeds from one config text, in parallel, into one directory.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "obolus/run/comparison_result.hpp"

namespace obolus {

struct ComparisonControl {
  std::string directory;  // empty: nothing is written
  bool resume = false;    // run only what the directory does not hold
  bool force = false;     // replace an existing run
  int threads = 1;        // results do not depend on it
  std::string about;      // a line for the folder's about.jsonl: who runs this, where and when
  // Jobs done, and jobs in total. Called after every job and a few times per second, by the thread that called run;
  // return false to stop and keep what is done.
  std::function<bool(std::size_t, std::size_t)> on_progress;
  // Every finished job as its line of cells.jsonl, including those that the directory held. Called by any thread, one
  // at a time.
  std::function<void(const std::string&)> on_cell;
  const std::atomic<bool>* pause = nullptr;  // while true, jobs wait between two rounds
};

class Comparison {
 public:
  // `source` names the text in errors; relative paths in it start from `folder`. Every setting of every optimiser is
  // resolved on every stream: what cannot run is an error here.
  Comparison(const std::string& text, const std::string& source, const std::string& folder);
  static Comparison load(const std::string& path);
  Comparison(Comparison&&) noexcept;
  Comparison& operator=(Comparison&&) noexcept;
  ~Comparison();

  [[nodiscard]] std::size_t cells() const;   // runs in total
  [[nodiscard]] Round horizon() const;       // the largest
  [[nodiscard]] std::string config() const;  // with relative paths made absolute
  [[nodiscard]] const Ranking& ranking() const;
  struct StreamName {
    std::string name, problem;
  };
  [[nodiscard]] std::vector<StreamName> streams() const;
  // Nothing when stopped. A run that diverges is a result.
  [[nodiscard]] std::optional<ComparisonResult> run(const ComparisonControl& control) const;

  struct Parts;  // private to the library

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace obolus
