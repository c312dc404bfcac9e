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

#include "obolus/core/types.hpp"

namespace obolus {

class ThreadPool {
 public:
  // Fewer threads than asked for when the system gives no more: results do not depend on it.
  explicit ThreadPool(int threads) {
    try {
      for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
    }
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& w : workers_) w.join();
  }

  [[nodiscard]] int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // body(chunk) for chunk = 0 … chunks − 1, on all threads; returns when all are done. Allocates nothing; body must not throw.
  template <class Body>
  void run(Index chunks, Body&& body) {
    if (workers_.empty() || chunks <= 1) {
      for (Index i = 0; i < chunks; ++i) body(i);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      call_ = [](void* b, Index i) { (*static_cast<std::remove_reference_t<Body>*>(b))(i); };
      body_ = const_cast<void*>(static_cast<const void*>(&body));
      chunks_ = chunks;
      next_.store(0, std::memory_order_relaxed);
      busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    drain();
    if (spin([this] { return busy_.load(std::memory_order_acquire) == 0; })) return;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_.load(std::memory_order_acquire) == 0; });
  }

 private:
  // Loops of a round follow each other within microseconds: looking for a while costs less than sleeping and being woken.
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

  void drain() {
    for (Index i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < chunks_;) call_(body_, i);
  }

  void work() {
    std::uint64_t seen = 0;
    while (true) {
      const auto called = [&] { return generation_.load(std::memory_order_acquire) != seen; };
      spin(called);
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stopping_ || called(); });
        if (stopping_) return;
        seen = generation_.load(std::memory_order_relaxed);
      }
      drain();
      if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        const std::lock_guard lock(mutex_);
        done_.notify_one();
      }
    }
  }

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<std::uint64_t> generation_{0};
  bool stopping_ = false;
  std::atomic<int> busy_{0};
  void (*call_)(void*, Index) = nullptr;
  void* body_ = nullptr;
  Index chunks_ = 0;
  std::atomic<Index> next_{0};
};

}  // namespace obolus
