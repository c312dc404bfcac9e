// Threads that count the terms of documents while somebody else still fetches them. Whoever brings a batch when plenty
// are waiting counts one himself, so that the memory in use stays small and no thread idles.
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

// Documents under their numbers; `owned` keeps the bytes when nobody else does.
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
  // Called beside the counting, on whichever thread has the document.
  using Visit = std::function<void(std::size_t document, std::string_view text)>;

  CountingCrew(Encoding encoding, int threads, Visit visit = {});
  CountingCrew(const CountingCrew&) = delete;
  CountingCrew& operator=(const CountingCrew&) = delete;
  ~CountingCrew();

  void add(Batch batch);
  // One counter a thread, when all is counted. Throws what a thread threw.
  [[nodiscard]] std::vector<TermCounter> finish();

 private:
  void count(const Batch& batch, TermCounter& counter);
  void work(TermCounter& counter);
  void close();

  Visit visit_;
  std::vector<TermCounter> counters_;  // the first is that of whoever adds
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Batch> waiting_;
  std::exception_ptr failure_;
  bool closed_ = false;
};

}  // namespace obolus
