// Threads that count the terms of documents while the caller still reads them. If enough batches are waiting, add()
// counts its batch itself, so that memory stays small and no thread idles.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "data/term_counter.hpp"

namespace obolus {

// Numbered documents; `owned` keeps the bytes if no one else does.
struct Batch {
  struct Item {
    std::size_t document;
    std::string_view text;
  };
  std::vector<char> owned;
  std::vector<Item> items;
};

class CountingCrew {
 public:
  // Called for each document, on the thread that counts it.
  using Visit = std::function<void(std::size_t document, std::string_view text)>;

  CountingCrew(Encoding encoding, int threads, Visit visit = {});
  CountingCrew(const CountingCrew&) = delete;
  CountingCrew& operator=(const CountingCrew&) = delete;
  ~CountingCrew();

  void add(Batch batch);
  // One counter per thread, once everything is counted. Rethrows what a thread threw.
  [[nodiscard]] std::vector<TermCounter> finish();

 private:
  void count(const Batch& batch, TermCounter& counter);
  void work(TermCounter& counter);
  void close();

  Visit visit_;
  std::vector<TermCounter> counters_;  // the first belongs to the caller of add
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Batch> waiting_;
  std::exception_ptr failure_;
  bool closed_ = false;
};

}  // namespace obolus
