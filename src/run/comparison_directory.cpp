#include "run/comparison_directory.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "obolus/core/error.hpp"

namespace obolus {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_log = std::uint64_t{1} << 34;
// A killed program loses nothing that was appended; a power cut loses at most the runs of this many seconds.
constexpr double seconds_between_syncs = 1.0;

}  // namespace

ComparisonDirectory::ComparisonDirectory(const ComparisonControl& control)
    : path_(control.directory), about_(control.about), lock_(path_), keep_(control.resume) {
  const bool there = holds_results(path_);
  if (there && !control.resume && !control.force)
    throw ConfigError(path_ +
                      ": already holds a run; use --resume to continue it, --force to replace it, or another --out");
  if (!control.resume) return;
  if (fs::exists(file("trace.jsonl")))
    throw ConfigError(path_ + ": cannot resume: holds a run of `obolus run`, not a comparison");
  if (fs::exists(file("cells.jsonl"))) read_finished();
}

void ComparisonDirectory::read_finished() {
  const std::string path = file("cells.jsonl"), text = read_whole_file(path, max_log);
  std::size_t number = 1;
  for (std::size_t end; (end = text.find('\n', whole_bytes_)) != std::string::npos; whole_bytes_ = end + 1, ++number) {
    finished_.push_back(record_of(text.substr(whole_bytes_, end - whole_bytes_), fmt::format("{}:{}", path, number)));
    finished_.back().cell.forget_paths();
  }
}

void ComparisonDirectory::each_line(const std::function<void(const std::string&)>& on_line) const {
  if (whole_bytes_ == 0) return;
  const std::string text = read_whole_file(file("cells.jsonl"), max_log);
  for (std::size_t begin = 0, end; begin < whole_bytes_; begin = end + 1) {
    end = text.find('\n', begin);
    on_line(text.substr(begin, end + 1 - begin));
  }
}

void ComparisonDirectory::begin(const std::string& config) {
  remove_half_written(path_);
  if (!keep_) remove_results(path_);
  write_atomically(file("config.toml"), config);
  if (!about_.empty()) append_line(file("about.jsonl"), about_);
  log_.emplace(file("cells.jsonl"), keep_);
  if (log_->size() != whole_bytes_) log_->truncate(whole_bytes_);
  synced_ = std::chrono::steady_clock::now();
}

void ComparisonDirectory::append(const JobRecord& record) {
  log_->append(line_of(record));
  if (std::chrono::duration<double>(std::chrono::steady_clock::now() - synced_).count() > seconds_between_syncs) sync();
}

void ComparisonDirectory::sync() {
  log_->sync();
  synced_ = std::chrono::steady_clock::now();
}

void ComparisonDirectory::write(const ComparisonResult& result) {
  write_atomically(file("tables.md"), result.markdown());
  write_atomically(file("tables.csv"), result.csv());
  write_atomically(file("summary.json"), result.json());
}

}  // namespace obolus
