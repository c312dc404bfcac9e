// Rows that were predicted and whose labels may follow: the latest so many, for some time.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace obolus::serve {

class KeptRows {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    std::size_t rows = 100'000, bytes = std::size_t{1} << 28;
    std::chrono::seconds time{3600};
  };

  explicit KeptRows(const Limits& limits) : limits_(limits) {}

  // A later row of the same id takes the place of the one before.
  void keep(std::string_view id, std::string line, Clock::time_point now = Clock::now());
  // The row is kept no longer.
  [[nodiscard]] std::optional<std::string> take(std::string_view id, Clock::time_point now = Clock::now());
  [[nodiscard]] std::size_t size() const;

 private:
  struct Row {
    std::string id, line;
    Clock::time_point since;
  };
  void remove(std::list<Row>::iterator row);
  void expire(Clock::time_point now);

  const Limits limits_;
  mutable std::mutex mutex_;
  std::list<Row> rows_;                                                    // the oldest first
  std::unordered_map<std::string_view, std::list<Row>::iterator> places_;  // keys stand in the rows
  std::size_t bytes_ = 0;
};

}  // namespace obolus::serve
