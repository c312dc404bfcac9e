// The writer's thread of a served model: what waits is learnt on the hidden state, made durable, shown, acknowledged,
// and learnt once more on the state that was shown before.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "obolus/core/error.hpp"
#include "serve/served_model.hpp"
#include "serve/served_model_parts.hpp"

namespace obolus::serve {
namespace {

constexpr std::size_t rows_at_once = 4096;  // are acknowledged together

}  // namespace

void ServedModel::write() {
  for (std::vector<Job*> jobs; next(jobs);) {
    if (!jobs.empty()) teach(jobs);
    chores();
  }
  save();
}

// Waits for rows or for a chore. False at the end, when nothing waits any longer.
bool ServedModel::next(std::vector<Job*>& jobs) {
  jobs.clear();
  std::unique_lock lock(mutex_);
  waiting_.wait_until(lock, next_chore(), [&] { return closing_ || !queue_.empty(); });
  if (queue_.empty()) return !closing_;
  std::size_t rows = 0;
  while (!queue_.empty() && (jobs.empty() || rows + queue_.front()->batch.rows.size() <= rows_at_once)) {
    jobs.push_back(queue_.front());
    queue_.pop_front();
    rows += jobs.back()->batch.rows.size();
    queued_bytes_ -= jobs.back()->batch.lines.size();
  }
  queued_rows_ -= rows;
  return true;
}

ServedModel::Clock::time_point ServedModel::next_chore() const {
  const auto checkpoint = saved_ + std::chrono::duration_cast<Clock::duration>(options_.checkpoint_every);
  return unsynced_ ? std::min(checkpoint, synced_ + options_.interval) : checkpoint;
}

void ServedModel::chores() {
  const auto now = Clock::now();
  if (unsynced_ && now - synced_ >= options_.interval) sync();
  if (now - saved_ >= options_.checkpoint_every) save();
}

void ServedModel::teach(std::vector<Job*>& jobs) {
  std::vector<Job*> checkpoints;
  std::ranges::copy_if(jobs, std::back_inserter(checkpoints), &Job::checkpoint);
  std::erase_if(jobs, [](const Job* job) { return job->checkpoint; });
  if (!jobs.empty()) teach_rows(jobs);
  if (checkpoints.empty()) return;
  save();
  for (Job* job : checkpoints) {
    if (is_full_) job->refusal = Refusal(507, "the checkpoint could not be written");
    job->rows = state_->hidden().rows;
    job->done.release();
  }
}

// The two states are equal when this begins, and when it ends. If rows spoil the model, requests are taken one by one,
// so that only that one is refused.
void ServedModel::teach_rows(const std::vector<Job*>& jobs) {
  if (teach_hidden(jobs)) return commit(jobs);
  restore_hidden();
  if (jobs.size() == 1) return jobs.front()->done.release();
  for (Job* job : jobs) teach_rows({job});
}

// False if the state is spoilt. What cannot be learnt is refused and leaves it as it was.
bool ServedModel::teach_hidden(const std::vector<Job*>& jobs) {
  ServedState& state = state_->hidden();
  for (Job* job : jobs) {
    job->answer.clear();
    job->refusal.reset();
    bool begun = false;
    try {
      require_learnable(job->batch, state.fit);
      require_answerable(job->batch, state.fit);
      begun = true;
      state.learn(job->batch, &job->answer);
      job->rows = state.rows;
    } catch (const Refusal& refusal) {
      job->refusal = refusal;
    } catch (const DataError& e) {
      job->refusal = Refusal(422, e.what());
      if (begun) return false;
    }
  }
  return true;
}

void ServedModel::commit(const std::vector<Job*>& jobs) {
  std::vector<RowBatch> learnt;
  try {
    append(jobs);
  } catch (const DataError& e) {
    is_full_ = true;
    for (Job* job : jobs)
      if (!job->refusal) job->refusal = Refusal(507, fmt::format("the rows were not learnt: {}", e.what()));
    restore_hidden();
  }
  for (Job* job : jobs)
    if (!job->refusal) learnt.push_back(std::move(job->batch));
  if (!learnt.empty()) state_->swap();
  for (Job* job : jobs) job->done.release();  // and is gone
  for (const RowBatch& batch : learnt) {
    state_->hidden().learn(batch, nullptr);
    counts_.learnt += std::ssize(batch.rows);
  }
  if (!learnt.empty() && on_learnt) on_learnt(state_->hidden());
}

void ServedModel::append(const std::vector<Job*>& jobs) {
  std::int64_t rows = state_->shown().rows;
  if (state_->hidden().rows == rows) return;
  // After a failure the state is saved whole: what is in the journal by then may be torn.
  if (durable_->is_broken()) durable_->checkpoint(state_->shown());
  for (const Job* job : jobs) {
    if (job->refusal) continue;
    durable_->add({rows, std::ssize(job->batch.rows), job->batch.lines});
    rows = job->rows;
  }
  const auto begun = Clock::now();
  durable_->commit(options_.sync_always);
  is_full_ = false;
  journal_bytes_ = static_cast<std::int64_t>(durable_->journal_bytes());
  if (options_.sync_always) count_sync(begun);
  else if (!std::exchange(unsynced_, true)) synced_ = begun;
}

void ServedModel::count_sync(Clock::time_point begun) {
  counts_.syncs += 1;
  counts_.sync_seconds += std::chrono::duration<double>(Clock::now() - begun).count();
}

void ServedModel::sync() {
  const auto begun = synced_ = Clock::now();
  try {
    durable_->sync();
    unsynced_ = false;
    count_sync(begun);
  } catch (const DataError&) {
    is_full_ = true;  // the next rows find the journal broken
  }
}

void ServedModel::save() {
  saved_ = Clock::now();
  if (state_->hidden().rows == journal_start_ && !durable_->is_broken()) return;
  try {
    durable_->checkpoint(state_->hidden());
    counts_.checkpoints += 1;
    unsynced_ = is_full_ = false;
  } catch (const DataError&) {
    is_full_ = true;
  }
  journal_start_ = durable_->journal_start();
  journal_bytes_ = static_cast<std::int64_t>(durable_->journal_bytes());
}

void ServedModel::restore_hidden() { state_->hidden() = copy_of(state_->shown()); }

}  // namespace obolus::serve
