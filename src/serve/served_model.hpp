// A model that many ask and teach at once. Requests are answered by the state after some number of learnt rows, and
// what a request learns is acknowledged once the journal has it. One thread writes; readers never wait for it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fit/stream/restored_run.hpp"
#include "serve/durable_state.hpp"
#include "serve/kept_rows.hpp"
#include "serve/left_right.hpp"
#include "serve/refusal.hpp"
#include "serve/row_requests.hpp"
#include "serve/served_state.hpp"

namespace obolus::serve {

struct ServeOptions {
  bool sync_always = true;  // before every answer; else every `interval`
  std::chrono::milliseconds interval{200};
  std::chrono::duration<double> checkpoint_every{30.0};
  bool keep_journal = false;
  std::size_t max_rows = 10'000;                                                   // of a request
  std::size_t max_queued_rows = 100'000, max_queued_bytes = std::size_t{1} << 26;  // that wait to be learnt
  KeptRows::Limits kept;
  std::string id = "id";
};

// Counted since the start.
struct ServedCounts {
  std::atomic<std::int64_t> predicted = 0, learnt = 0, syncs = 0, checkpoints = 0;
  std::atomic<double> sync_seconds = 0;
};

class ServedModel {
 public:
  // `path`: the folder of a run, which predicts and learns, or a model file, which predicts. Throws ConfigError and
  // DataError.
  ServedModel(std::string name, const std::string& path, const ServeOptions& options);
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  // Learns what waits, saves a checkpoint, and learns no more.
  void stop();

  // Answers as JSON texts. Throw Refusal.
  [[nodiscard]] std::string predict(std::string_view body, BodyForm form);
  [[nodiscard]] std::string learn(std::string_view body, BodyForm form);
  [[nodiscard]] std::string feedback(std::string_view body, BodyForm form);
  [[nodiscard]] std::string checkpoint();
  [[nodiscard]] std::string about() const;
  [[nodiscard]] std::string listing() const;  // as one of many
  // One row per line, all by one state; `take` gets every prediction. Throws Refusal.
  void predict(std::string_view lines, const std::function<void(const Prediction&, const Fit&)>& take);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t max_rows() const { return options_.max_rows; }  // of a request
  [[nodiscard]] bool learns() const { return durable_.has_value(); }
  [[nodiscard]] const ServedCounts& counts() const { return counts_; }
  [[nodiscard]] const LeftRight<ServedState>& state() const { return *state_; }
  [[nodiscard]] std::size_t queued_rows() const { return queued_rows_.load(); }
  [[nodiscard]] std::int64_t journal_bytes() const { return journal_bytes_.load(); }
  [[nodiscard]] bool is_full() const { return is_full_.load(); }  // the disk took no rows at the last try
  [[nodiscard]] std::size_t kept() const { return kept_.size(); }

  // From the writer's thread, after rows were learnt.
  std::function<void(const ServedState&)> on_learnt;

 private:
  struct Job;
  struct Bench;
  using Clock = std::chrono::steady_clock;

  void open_run(const std::string& folder);
  void open_file(const std::string& file);
  void relearn(ServedState& state, std::string_view lines) const;
  [[nodiscard]] std::string listing(const ServedState& state) const;
  [[nodiscard]] std::unique_ptr<Bench> bench();
  void put_back(std::unique_ptr<Bench> bench);
  [[nodiscard]] std::string learn(RowBatch&& batch, std::string_view members);
  void submit(Job& job);

  void write();  // the writer's thread
  [[nodiscard]] bool next(std::vector<Job*>& jobs);
  [[nodiscard]] Clock::time_point next_chore() const;
  void chores();
  void teach(std::vector<Job*>& jobs);
  void teach_rows(const std::vector<Job*>& jobs);
  [[nodiscard]] bool teach_hidden(const std::vector<Job*>& jobs);
  void commit(const std::vector<Job*>& jobs);
  void append(const std::vector<Job*>& jobs);
  void sync();
  void count_sync(Clock::time_point begun);
  void save();
  void restore_hidden();

  const std::string name_;
  const ServeOptions options_;
  RowKeys keys_;
  std::optional<LeftRight<ServedState>> state_;
  std::optional<DurableState> durable_;
  KeptRows kept_;
  ServedCounts counts_;

  std::mutex benches_mutex_;
  std::vector<std::unique_ptr<Bench>> benches_;

  mutable std::mutex mutex_;
  std::condition_variable waiting_;
  std::deque<Job*> queue_;
  std::atomic<std::size_t> queued_rows_ = 0;
  std::size_t queued_bytes_ = 0;
  bool closing_ = false;
  std::atomic<std::int64_t> journal_bytes_ = 0, journal_start_ = 0;
  std::atomic<bool> is_full_ = false;
  bool unsynced_ = false;  // the writer's
  Clock::time_point synced_, saved_;
  std::thread writer_;
};

}  // namespace obolus::serve
