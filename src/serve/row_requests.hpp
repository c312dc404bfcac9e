// Rows as requests bring them: one JSON object, a list of them, or one per line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/rows/json_row.hpp"
#include "obolus/fit/fit.hpp"
#include "serve/row_batch.hpp"

namespace obolus::serve {

enum class BodyForm : std::uint8_t { json, lines };
enum class RowUse : std::uint8_t { predict, learn };

// How a model's rows are read: as those that it was fitted on.
struct RowKeys {
  JsonRowOptions options;
  std::vector<JsonGroup> known;
};

enum class KeysFrom : std::uint8_t { run, model_file };

// `rows`: as the run was given them. Throws ConfigError for a model whose features have no names.
[[nodiscard]] RowKeys keys_of(const Fit& model, KeysFrom from, const RowOptions& rows, const std::string& id);

class RowRequests {
 public:
  explicit RowRequests(const RowKeys& keys);

  // Throws Refusal. Rows to learn have labels; those of rows to predict are ignored.
  [[nodiscard]] RowBatch read(std::string_view body, BodyForm form, RowUse use, std::size_t max_rows);

 private:
  void add(RowBatch& batch, std::size_t max_rows);

  std::size_t known_;
  JsonRowParser learning_, predicting_;
  DataRow row_;
  std::string line_, text_;
};

struct Feedback {
  std::string id, label;  // the label as JSON
};

// {"id": …, "label": …}, or the label under its column's name. Throws Refusal.
[[nodiscard]] std::vector<Feedback> read_feedback(std::string_view body, BodyForm form, const std::string& label,
                                                  std::size_t max_rows);
// The line of a row that was predicted, with this label.
[[nodiscard]] std::string with_label(const std::string& line, const std::string& label, const std::string& value);

}  // namespace obolus::serve
