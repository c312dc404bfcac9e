// Rows read ahead by a thread of its own, in order. What is read does not depend on it, and a row that comes live is handed on at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
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
  const Item* next();
  // Names of the groups, at least as many as the last row knew.
  [[nodiscard]] const std::vector<std::string>& groups();
  // At the end: rows that were skipped, and the error of the first.
  [[nodiscard]] const RowReader& reader() const { return *reader_; }

 private:
  static constexpr std::size_t room = 1024;

  bool read(Item& item);
  void work();

  std::unique_ptr<RowReader> reader_;
  std::vector<Item> items_;
  std::vector<std::string> groups_, shared_groups_;
  bool ahead_, stopping_ = false, ended_ = false, holds_ = false;
  std::exception_ptr error_;
  std::uint64_t read_ = 0, taken_ = 0;  // rows
  std::mutex mutex_;
  std::condition_variable has_rows_, has_room_;
  std::thread thread_;
};

}  // namespace obolus::fit
