// Served models in the browser: the live page, whose rows are the rounds of a model.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "serve/api.hpp"

namespace obolus::cli {

class LiveFeed;

class ServedView {
 public:
  static constexpr int max_streams = 16;  // browsers at once: each holds a connection

  // Follows the models from here on.
  explicit ServedView(const serve::Models& models);
  ~ServedView();
  ServedView(const ServedView&) = delete;
  ServedView& operator=(const ServedView&) = delete;

  // The page at / and its events; ?model=NAME, or the first one.
  [[nodiscard]] std::optional<serve::HttpAnswer> answer(const serve::HttpRequest& request);
  void close();  // browsers are let go

 private:
  struct Model;
  [[nodiscard]] serve::HttpAnswer events(const serve::HttpRequest& request, Model& model);

  std::vector<std::unique_ptr<Model>> models_;
  std::atomic<int> streams_ = 0;
};

}  // namespace obolus::cli
