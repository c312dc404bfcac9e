// What a served model's requests and its writer hand to each other.
#pragma once

#include <cstdint>
#include <optional>
#include <semaphore>
#include <string>

#include "serve/served_model.hpp"

namespace obolus::serve {

// Rows that wait to be learnt, or a wish for a checkpoint; on the stack of the request's thread.
struct ServedModel::Job {
  RowBatch batch;
  bool checkpoint = false;
  std::string answer;     // the predictions
  std::int64_t rows = 0;  // learnt by then
  std::optional<Refusal> refusal;
  std::binary_semaphore done{0};
};

// What a request needs for itself, kept from one request to the next.
struct ServedModel::Bench {
  explicit Bench(const RowKeys& keys) : rows(keys) {}
  RowRequests rows;
  FitReader reader;
};

}  // namespace obolus::serve
