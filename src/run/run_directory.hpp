// A run directory: config.toml, about.jsonl, trace.jsonl, summary.json and checkpoint. Whole files are replaced
// atomically; the trace is appended to, and cut back to the checkpoint on resume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/durable_file.hpp"

namespace obolus {

// The state that the checkpoint in a run's folder holds, if there is one.
[[nodiscard]] std::optional<std::vector<std::byte>> read_checkpoint(const std::string& folder);

class RunDirectory {
 public:
  enum class Mode { fresh, replace, resume };

  // Opens or makes the directory and locks it for this process. `config` is the complete one; on resume it must agree
  // with the one in the directory, except for the number of rounds and the logging.
  RunDirectory(std::string path, Mode mode, std::string config);
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  ~RunDirectory();

  // On resume the old config stays until this is called, once the saved state has loaded.
  void write_config();

  // The saved state, when resuming and there is one.
  [[nodiscard]] std::optional<std::vector<std::byte>> load_checkpoint() const { return read_checkpoint(path_); }
  void truncate_trace(std::uint64_t bytes);

  void append_trace(std::string_view line);
  [[nodiscard]] std::uint64_t trace_bytes() const { return trace_bytes_; }
  void sync_trace();
  void save_checkpoint(const std::vector<std::byte>& state);
  void write_summary(std::string_view json);
  void append_about(std::string_view line) { append_line(file("about.jsonl"), line); }

 private:
  [[nodiscard]] std::string file(const char* name) const { return path_ + "/" + name; }
  void flush();

  std::string path_, config_;
  FolderLock lock_;
  std::optional<AppendedFile> trace_;
  std::uint64_t trace_bytes_ = 0;
  std::string buffer_;
};

}  // namespace obolus
