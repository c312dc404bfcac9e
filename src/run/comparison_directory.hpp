// A comparison's directory: config.toml, about.jsonl, cells.jsonl; at the end tables.md, tables.csv and summary.json.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/durable_file.hpp"
#include "obolus/run/comparison.hpp"
#include "run/cell_log.hpp"

namespace obolus {

class ComparisonDirectory {
 public:
  // Locks the directory; changes nothing in it yet.
  explicit ComparisonDirectory(const ComparisonControl& control);

  // Jobs that the directory holds, when resuming. A torn last line does not count.
  [[nodiscard]] const std::vector<JobRecord>& finished() const { return finished_; }

  // The lines behind them.
  void each_line(const std::function<void(const std::string&)>& on_line) const;

  // From here on the directory belongs to the comparison with this config.
  void begin(const std::string& config);
  void append(const JobRecord& record);
  void sync();
  void write(const ComparisonResult& result);

 private:
  [[nodiscard]] std::string file(const char* name) const { return path_ + "/" + name; }
  void read_finished();

  std::string path_, about_;
  FolderLock lock_;
  bool keep_;
  std::vector<JobRecord> finished_;
  std::uint64_t whole_bytes_ = 0;  // of cells.jsonl, up to its last complete line
  std::optional<AppendedFile> log_;
  std::chrono::steady_clock::time_point synced_;
};

}  // namespace obolus
