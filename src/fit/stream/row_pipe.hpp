// Rows read ahead by a thread, in order. What is read does not depend on it, and a live row is passed on at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "obolus/data/rows.hpp"

namespace obolus::fit {

class RowPipe {
 public:
  // A row, and what its reader knew when it had read it.
  struct Item {
    DataRow row;
    std::string place;       // FILE:LINE
    std::size_t groups = 0;  // known by then
    std::uint64_t skipped = 0;
    bool columns = false;  // features whose key is their group are numeric columns
  };

  RowPipe(std::unique_ptr<RowReader> reader, bool ahead);
  RowPipe(const RowPipe&) = delete;
  RowPipe& operator=(const RowPipe&) = delete;
  ~RowPipe();

  // Null at the end. Throws what the reader threw, after all rows before it. Valid until the next call.
  // When reading ahead, also null if `stop` says so while there is no row.
  const Item* next(const std::function<bool()>& stop = {});
  // Names of the groups, at least as many as the last row knew.
  [[nodiscard]] const std::vector<std::string>& groups();
  // At the end: rows that were skipped, and the error of the first.
  [[nodiscard]] const RowReader& reader() const { return *shared_->reader; }

 private:
  static constexpr std::size_t room = 1024;

  // Shared with the thread, which outlives the pipe if it still waits for a row.
  struct Shared {
    std::unique_ptr<RowReader> reader;
    std::vector<Item> items;
    std::vector<std::string> groups;
    bool stopping = false, ended = false, reading = false;
    std::exception_ptr error;
    std::uint64_t read = 0, taken = 0;  // rows
    std::mutex mutex;
    std::condition_variable has_rows, has_room;

    bool read_into(Item& item) const;
    void work();
  };

  std::shared_ptr<Shared> shared_;
  std::vector<std::string> groups_;
  bool ahead_, holds_ = false;
  std::thread thread_;
};

}  // namespace obolus::fit
