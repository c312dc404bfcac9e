// Rows read ahead by a thread of its own, in order. What is read does not depend on it, and a row that comes live is handed on at once.
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
    std::size_t groups = 0;  // how many there were
    std::uint64_t skipped = 0;
    bool columns = false;  // features whose key is their group are columns of numbers
  };

  RowPipe(std::unique_ptr<RowReader> reader, bool ahead);
  RowPipe(const RowPipe&) = delete;
  RowPipe& operator=(const RowPipe&) = delete;
  ~RowPipe();

  // Null at the end. Throws what the reader threw, once all rows before it were handed out. Valid until the next call.
  // Read ahead, null also where there is no row yet and `stop` says so.
  const Item* next(const std::function<bool()>& stop = {});
  // Names of the groups, at least as many as the last row knew.
  [[nodiscard]] const std::vector<std::string>& groups();
  // At the end: rows that were skipped, and the error of the first.
  [[nodiscard]] const RowReader& reader() const { return *shared_->reader; }

 private:
  static constexpr std::size_t room = 1024;

  // The thread's as well: it outlives the pipe when it waits for a row that nobody wants any more.
  struct Shared {
    std::unique_ptr<RowReader> reader;
    std::vector<Item> items;
    std::vector<std::string> groups;
    bool stopping = false, ended = false, reading = false;
    std::exception_ptr error;
    std::uint64_t read = 0, taken = 0;  // rows
    std::mutex mutex;
    std::condition_variable has_rows, has_room;

    bool read_into(Item& item);
    void work();
  };

  std::shared_ptr<Shared> shared_;
  std::vector<std::string> groups_;
  bool ahead_, holds_ = false;
  std::thread thread_;
};

}  // namespace obolus::fit
