// HTTP/1.1 on one address: one thread per connection, and a limit of connections; beyond it clients are told to come
// again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "serve/http.hpp"

namespace obolus::serve {

struct HttpOptions {
  std::string host = "127.0.0.1";  // a number
  int port = 0;                    // 0: any free one
  std::size_t max_connections = 256, max_body = std::size_t{1} << 23, max_header = std::size_t{1} << 14;
  int request_seconds = 10, answer_seconds = 30, idle_seconds = 30;
};

class HttpServer {
 public:
  // `check` sees a request before its body is read; an answer of status 0 lets it through.
  using Check = std::function<HttpAnswer(const HttpRequest&)>;
  using Handle = std::function<HttpAnswer(const HttpRequest&)>;

  // Listens from here on; throws ConfigError if it cannot.
  HttpServer(const HttpOptions& options, Check check, Handle handle);
  // Takes no more connections, and lets requests that have arrived come to their end.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] int port() const;
  [[nodiscard]] bool is_listening() const;  // false if the system ended it
  [[nodiscard]] std::size_t connections() const;

 private:
  class Library;
  std::unique_ptr<Library> library_;
  std::thread thread_;
};

}  // namespace obolus::serve
