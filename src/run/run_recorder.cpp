#include "run/run_recorder.hpp"

#include <utility>

namespace obolus {
namespace {

RunDirectory::Mode mode_of(const RunRecorder::Options& options) {
  using Mode = RunDirectory::Mode;
  return options.resume ? Mode::resume : options.force ? Mode::replace : Mode::fresh;
}

}  // namespace

RunRecorder::RunRecorder(Options options, std::string config)
    : options_(std::move(options)), directory_(options_.directory, mode_of(options_), std::move(config)) {}

void RunRecorder::restore(const Fields& fields, const std::function<void()>& check) {
  if (!options_.resume) return;
  std::uint64_t trace_bytes = 0;
  if (auto bytes = directory_.load_checkpoint()) {
    Archive archive(std::move(*bytes));
    fields(archive, trace_bytes);
    archive.finish();
  }
  check();
  directory_.truncate_trace(trace_bytes);
  directory_.write_config();
  saved_ = Clock::now();
}

void RunRecorder::save(const Fields& fields) {
  Archive archive;
  std::uint64_t trace_bytes = directory_.trace_bytes();
  fields(archive, trace_bytes);
  directory_.save_checkpoint(archive.bytes());
  saved_ = Clock::now();
}

bool RunRecorder::checkpoint_due(std::int64_t done, std::int64_t clock_every) const {
  if (options_.checkpoint_every > 0 && done % options_.checkpoint_every == 0) return true;
  return done % clock_every == 0 &&
         std::chrono::duration<double>(Clock::now() - saved_).count() > options_.checkpoint_seconds;
}

void RunRecorder::append_about(std::string_view line) {
  if (!line.empty()) directory_.append_about(line);
}

void RunRecorder::finish(std::string_view summary) {
  directory_.sync_trace();
  directory_.write_summary(summary);
}

}  // namespace obolus
