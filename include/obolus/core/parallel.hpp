// A few threads that share loops over fixed chunks. Which thread runs a chunk changes nothing: chunk boundaries do not
// depend on the number of threads, so neither do results.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "obolus/core/index.hpp"

namespace obolus {

class ThreadPool {
 public:
  // Has fewer threads than requested when the system grants no more: results do not depend on it.
  explicit ThreadPool(int threads) {
    try {
      for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): fewer threads than requested will do
    }
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() {
    finish();
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& w : workers_) w.join();
  }

  [[nodiscard]] int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // body(chunk) for chunk = 0 … chunks − 1, on all free threads; returns when all are done. Allocates nothing; body
  // must not throw.
  template <class Body>
  void run(Index chunks, Body&& body) {
    if (workers_.empty() || chunks <= 1) {
      for (Index i = 0; i < chunks; ++i) body(i);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      loop_ = call_of(body);
      chunks_ = chunks;
      next_.store(0, std::memory_order_relaxed);
      open_ = true;
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    drain();
    {
      const std::lock_guard lock(mutex_);
      open_ = false;
    }
    await([this] { return busy_.load(std::memory_order_acquire) == 0; });
  }

  // Runs task() once, on the first free thread, while the caller continues; finish() waits for it. Chunks may start
  // one, too; a task started earlier is finished first. Allocates nothing; the task must not throw, and must outlive
  // finish().
  template <class Task>
  void start(Task& task) {
    finish();
    aside_ = {[](void* t, Index) { (*static_cast<Task*>(t))(); }, const_cast<void*>(static_cast<const void*>(&task))};
    if (workers_.empty()) return aside_(0);
    {
      const std::lock_guard lock(mutex_);
      state_.store(waiting, std::memory_order_release);
    }
    wake_.notify_one();
  }
  // Returns when the task is done; runs it here if no thread has begun.
  void finish() {
    if (take_aside()) return;
    await([this] { return state_.load(std::memory_order_acquire) == nothing; });
  }

 private:
  // Loops of a round follow each other within microseconds: spinning for a while costs less than sleeping and waking.
  template <class Ready>
  static bool spin(Ready&& ready) {
    constexpr int looks = 20000;
    for (int i = 0; i < looks; ++i) {
      if (ready()) return true;
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
    return ready();
  }

  template <class Ready>
  void await(Ready&& ready) {
    if (spin(ready)) return;
    std::unique_lock lock(mutex_);
    done_.wait(lock, ready);
  }
  void tell() {
    const std::lock_guard lock(mutex_);
    done_.notify_all();
  }

  void drain() {
    for (Index i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < chunks_;) loop_(i);
  }
  bool take_aside() {
    State expected = waiting;
    if (!state_.compare_exchange_strong(expected, running, std::memory_order_acq_rel)) return false;
    aside_(0);
    state_.store(nothing, std::memory_order_release);
    return true;
  }

  // A worker does not join a loop that is over, and no thread waits for a worker that has not joined.
  void work() {
    std::uint64_t seen = 0;
    while (true) {
      const auto called = [&] {
        return generation_.load(std::memory_order_acquire) != seen || state_.load(std::memory_order_acquire) == waiting;
      };
      spin(called);
      bool joined = false;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stopping_ || called(); });
        if (stopping_) return;
        if (state_.load(std::memory_order_relaxed) != waiting) {
          seen = generation_.load(std::memory_order_relaxed);
          joined = open_;
          if (joined) busy_.fetch_add(1, std::memory_order_relaxed);
        }
      }
      if (joined) {
        drain();
        if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) tell();
      } else if (take_aside()) {
        tell();
      }
    }
  }

  enum State : std::uint8_t { nothing, waiting, running };
  struct Call {
    void (*function)(void*, Index) = nullptr;
    void* object = nullptr;
    void operator()(Index i) const { function(object, i); }
  };
  template <class Body>
  static Call call_of(Body& body) {
    return {[](void* b, Index i) { (*static_cast<Body*>(b))(i); }, const_cast<void*>(static_cast<const void*>(&body))};
  }

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<std::uint64_t> generation_{0};
  bool stopping_ = false, open_ = false;
  std::atomic<int> busy_{0};  // workers that have joined the loop
  Call loop_, aside_;
  std::atomic<State> state_{nothing};  // of the task aside
  Index chunks_ = 0;
  std::atomic<Index> next_{0};
};

}  // namespace obolus
