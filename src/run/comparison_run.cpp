// Comparison::run: threads take jobs, and the directory keeps what they finish.
#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "run/comparison_cell.hpp"
#include "run/comparison_directory.hpp"
#include "run/comparison_parts.hpp"

namespace obolus {
namespace {

using Job = Comparison::Parts::Job;

std::string list_text(const std::vector<Round>& rounds) {
  std::string text;
  for (const Round T : rounds) text += (text.empty() ? "" : ", ") + std::to_string(T);
  return text;
}

void require_same(const JobName& was, const Job* job, const std::string& path) {
  const std::string name = fmt::format(
      "{}stream '{}' with seed {}",
      was.optimiser.empty()
          ? std::string()
          : fmt::format("optimiser '{}'{} on ", was.optimiser, was.setting.empty() ? "" : " with " + was.setting),
      was.stream, was.seed);
  constexpr const char* remedy = "use --force to start again, or another --out";
  if (!job)
    throw ConfigError(
        fmt::format("{}: cannot resume, the config differs: it no longer has {}; {}", path, name, remedy));
  if (was.horizons != job->name.horizons)
    throw ConfigError(
        fmt::format("{}: cannot resume, the config differs: the run has the horizons {}, this config has {}; {}", path,
                    list_text(was.horizons), list_text(job->name.horizons), remedy));
  if (was.checksum != job->name.checksum)
    throw ConfigError(fmt::format("{}: cannot resume, the config or its data differs: not the same options for {}; {}",
                                  path, name, remedy));
}

class Workers {
 public:
  Workers(const ComparisonPlan& plan, const std::vector<Job>& jobs, ComparisonDirectory* directory)
      : plan_(plan), jobs_(jobs), directory_(directory), records_(jobs.size()), done_(jobs.size(), false) {}

  void restore(const std::string& path) {
    std::map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < jobs_.size(); ++i) index.emplace(jobs_[i].name.key(), i);
    for (const JobRecord& record : directory_->finished()) {
      const auto found = index.find(record.name.key());
      require_same(record.name, found == index.end() ? nullptr : &jobs_[found->second], path);
      records_[found->second] = record;
      done_[found->second] = true;
    }
  }

  // False when it was stopped.
  bool run(const ComparisonControl& control) {
    on_cell_ = control.on_cell;
    token_.pause = control.pause;
    for (std::size_t i = 0; i < jobs_.size(); ++i)
      if (!done_[i]) open_.push_back(i);
    finished_ = jobs_.size() - open_.size();
    {
      const ThreadJoiner joiner(*this, std::min(to_size(std::max(1, control.threads)), open_.size()));
      watch(control);
    }
    if (error_) std::rethrow_exception(error_);
    if (directory_) directory_->sync();
    return finished_ == jobs_.size();
  }

  [[nodiscard]] std::vector<JobRecord> take() { return std::move(records_); }

 private:
  // Stops and joins the threads, also when an exception passes.
  struct ThreadJoiner {
    Workers& workers;
    std::vector<std::thread> threads;

    ThreadJoiner(Workers& w, std::size_t count) : workers(w) {
      workers.working_ = count;
      for (std::size_t i = 0; i < count; ++i) {
        try {
          threads.emplace_back([this] { workers.work(); });
        } catch (const std::system_error&) {  // run with fewer: results do not depend on it
          if (threads.empty()) throw;
          const std::lock_guard lock(workers.mutex_);
          workers.working_ -= count - i;
          break;
        }
      }
    }
    ThreadJoiner(const ThreadJoiner&) = delete;
    ThreadJoiner& operator=(const ThreadJoiner&) = delete;
    ~ThreadJoiner() {
      if (std::uncaught_exceptions() > 0) workers.stop_ = true;
      for (std::thread& t : threads) t.join();
    }
  };

  void watch(const ComparisonControl& control) {
    std::unique_lock lock(mutex_);
    while (true) {
      const std::size_t finished = finished_;
      lock.unlock();
      if (control.on_progress && !control.on_progress(finished, jobs_.size())) stop_ = true;
      lock.lock();
      if (working_ == 0) return;
      if (finished == finished_) changed_.wait_for(lock, std::chrono::milliseconds(100));
    }
  }

  void work() {
    try {
      for (std::size_t i; !stop_ && (i = next_.fetch_add(1)) < open_.size();)
        if (!run_job(open_[i])) break;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_ = true;
    }
    const std::lock_guard lock(mutex_);
    --working_;
    changed_.notify_one();
  }

  bool run_job(std::size_t i) {
    JobRecord record{jobs_[i].name, {}, {}};
    const ComparisonPlan::Cell& cell = jobs_[i].cell;
    if (jobs_[i].measures_stream()) {
      auto variation = named(plan_, cell, [&] { return measure_stream(plan_, cell, token_); });
      if (!variation) return false;
      record.variation = std::move(*variation);
    } else {
      auto result = named(plan_, cell, [&] { return run_cell(plan_, cell, token_); });
      if (!result) return false;
      record.cell = std::move(*result);
    }
    const std::string line = on_cell_ ? line_of(record) : std::string();
    const std::lock_guard lock(mutex_);
    if (directory_) {
      directory_->append(record);
      record.cell.forget_paths();
    }
    records_[i] = std::move(record);
    ++finished_;
    if (on_cell_) on_cell_(line);
    changed_.notify_one();
    return true;
  }

  const ComparisonPlan& plan_;
  const std::vector<Job>& jobs_;
  ComparisonDirectory* directory_;
  std::vector<JobRecord> records_;
  std::vector<bool> done_;
  std::vector<std::size_t> open_;  // jobs to do
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  StopToken token_{stop_};
  std::function<void(const std::string&)> on_cell_;
  std::mutex mutex_;  // guards the members below, records_ and the directory
  std::condition_variable changed_;
  std::size_t finished_ = 0, working_ = 0;
  std::exception_ptr error_;
};

}  // namespace

std::optional<ComparisonResult> Comparison::run(const ComparisonControl& control) const {
  std::optional<ComparisonDirectory> directory;
  if (!control.directory.empty()) directory.emplace(control);
  Workers workers(parts_->plan, parts_->jobs, directory ? &*directory : nullptr);
  if (directory) {
    workers.restore(control.directory);
    directory->begin(parts_->plan.portable_text());
    if (control.on_cell) directory->each_line(control.on_cell);
  }
  if (!workers.run(control)) return std::nullopt;
  ComparisonResult result = parts_->assemble(workers.take());
  if (directory) directory->write(result);
  return result;
}

}  // namespace obolus
