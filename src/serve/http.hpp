// Requests and answers, apart from the connections that carry them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace obolus::serve {

struct HttpRequest {
  std::string method, path, body;
  std::vector<std::pair<std::string, std::string>> headers, query;

  // The value of the header, whatever its case; empty if there is none. `count`, if not null: how often it is there.
  [[nodiscard]] std::string header(std::string_view name, int* count = nullptr) const;
  [[nodiscard]] std::string parameter(std::string_view name) const;
};

struct HttpAnswer {
  int status = 200;
  std::string body = {}, type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  // Instead of a body: called again and again until it returns false; what `write` takes is sent at once.
  std::function<bool(const std::function<bool(std::string_view)>& write)> stream = {};
};

// {"error":{"status":…,"message":…}}
[[nodiscard]] HttpAnswer refused(int status, std::string_view message, int retry_after = 0);

}  // namespace obolus::serve
