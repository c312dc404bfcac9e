// Rows read from a text in memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "obolus/core/error.hpp"
#include "obolus/data/rows.hpp"

namespace obolus::test {

class TextBytes : public ByteSource {
 public:
  explicit TextBytes(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] std::size_t read(std::span<char> to) override {
    const std::size_t size = std::min(to.size(), text_.size() - at_);
    std::memcpy(to.data(), text_.data() + at_, size);
    at_ += size;
    return size;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

inline std::unique_ptr<RowReader> reader_of(std::string text, const RowOptions& options,
                                            const std::string& name = "f") {
  return read_rows(std::make_unique<TextBytes>(std::move(text)), name, options);
}

inline std::vector<DataRow> all_rows(RowReader& reader) {
  std::vector<DataRow> rows;
  for (DataRow row; reader.next(row);) rows.push_back(row);
  return rows;
}

inline std::vector<DataRow> rows_of(std::string text, const RowOptions& options) {
  return all_rows(*reader_of(std::move(text), options));
}

// What the error says, whether it comes with the opening or with a row.
inline std::string refusal(std::string text, const RowOptions& options) {
  try {
    (void)rows_of(std::move(text), options);
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

inline std::string description(std::string text, const RowOptions& options, const std::string& name = "f") {
  return reader_of(std::move(text), options, name)->describe();
}

}  // namespace obolus::test
