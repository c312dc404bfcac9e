#include "serve/http_server.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <deque>
#include <optional>
#include <system_error>
#include <vector>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "serve/http_connection.hpp"

namespace obolus::serve {
namespace {

using namespace std::chrono_literals;

// Of this thread: the library hands neither to its handlers.
thread_local HttpConnection* connection = nullptr;
thread_local bool is_one_too_many = false;

// As many threads as there are connections, up to the limit.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(std::size_t max) : max_(max) {}

  void enqueue(std::function<void()> work) override {
    {
      const std::lock_guard lock(mutex_);
      is_one_too_many = work_.size() >= idle_ && !add_thread();
      if (!is_one_too_many) {
        work_.push_back(std::move(work));
        return more_.notify_one();
      }
    }
    work();
    is_one_too_many = false;
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    more_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  [[nodiscard]] bool add_thread() try {
    if (threads_.size() == max_) return false;
    threads_.emplace_back([this] { run(); });
    return true;
  } catch (const std::system_error&) {  // the system has no more
    return false;
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      more_.wait(lock, [&] { return closing_ || !work_.empty(); });
      --idle_;
      if (work_.empty()) return;
      const std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }

  const std::size_t max_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> work_;
  std::size_t idle_ = 0;
  std::vector<std::thread> threads_;
  bool closing_ = false;
};

void close_politely(int socket) {
  ::shutdown(socket, SHUT_WR);
  char rest[4096];
  // Closing with bytes unread would take the answer back.
  for (int i = 0; i < 64 && ::recv(socket, rest, sizeof rest, MSG_DONTWAIT) > 0; ++i) continue;
  ::close(socket);
}

std::optional<std::size_t> length_of(const std::string& text) {
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(length) : std::nullopt;
}

HttpRequest request_of(const httplib::Request& from) {
  HttpRequest request;
  request.method = from.method;
  request.path = from.path;
  request.headers.assign(from.headers.begin(), from.headers.end());
  request.query.assign(from.params.begin(), from.params.end());
  return request;
}

bool is_token(const std::string& text) {
  constexpr std::string_view more = "!#$%&'*+-.^_`|~";
  const auto fits = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || more.find(c) != more.npos;
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

bool wants_to_close(const HttpRequest& request) {
  std::string text = request.header("Connection");
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text.find("close") != text.npos;
}

// Whether bytes may follow that belong to the request: then what follows is no next request until they are read.
bool may_have_body(const HttpRequest& request) {
  return (request.method != "GET" && request.method != "HEAD") || !request.header("Content-Length").empty() ||
         !request.header("Transfer-Encoding").empty();
}

// The body of a request, or why there is none.
std::optional<HttpAnswer> read_body(HttpRequest& request, std::size_t max) {
  int lengths = 0, codings = 0, packings = 0;
  const std::string length_text = request.header("Content-Length", &lengths);
  (void)request.header("Transfer-Encoding", &codings);
  (void)request.header("Content-Encoding", &packings);
  if (request.method != "POST") return std::nullopt;
  if (codings > 0 || lengths == 0) return refused(411, "expected a Content-Length and the body as it is");
  const auto length = length_of(length_text);
  if (lengths > 1 || !length) return refused(400, "expected one Content-Length, a number");
  if (packings > 0) return refused(415, "got a Content-Encoding, expected the body unpacked");
  if (*length > max) return refused(413, fmt::format("got {} bytes, expected at most {}", *length, max));
  constexpr std::size_t block = std::size_t{1} << 16;
  for (std::size_t at = 0; at < *length;) {  // grows as it arrives
    request.body.resize(std::min(*length, at + block));
    const ssize_t got = connection->read(request.body.data() + at, request.body.size() - at);
    if (got <= 0) return refused(408, "the body did not arrive in time");
    at += static_cast<std::size_t>(got);
    request.body.resize(at);
  }
  return std::nullopt;
}

void give(HttpAnswer&& answer, httplib::Response& response) {
  response.status = answer.status;
  response.set_header("Cache-Control", "no-store");
  response.set_header("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  if (!answer.stream) {
    // As text the library would compress it, at its slowest setting.
    const auto body = std::make_shared<const std::string>(std::move(answer.body));
    if (body->empty()) return;
    return response.set_content_provider(body->size(), answer.type,
                                         [body](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
                                           return sink.write(body->data() + offset, length);
                                         });
  }
  connection->stream();
  connection->close_afterwards();
  response.set_content_provider(answer.type, [next = std::move(answer.stream)](std::size_t, httplib::DataSink& sink) {
    const auto write = [&](std::string_view text) { return sink.write(text.data(), text.size()); };
    if (!next(write)) sink.done();
    return true;
  });
}

}  // namespace

class HttpServer::Library : public httplib::Server {
 public:
  Library(const HttpOptions& options, Check check, Handle handle)
      : options_(options),
        limits_{options.max_header, std::chrono::seconds(options.request_seconds),
                std::chrono::seconds(options.answer_seconds), std::chrono::seconds(options.idle_seconds)},
        check_(std::move(check)),
        handle_(std::move(handle)) {
    new_task_queue = [this] { return new ConnectionThreads(options_.max_connections); };
    set_tcp_nodelay(true);
    set_keep_alive_timeout(options_.idle_seconds);  // what it tells clients
    constexpr std::size_t many = 1'000'000;
    set_keep_alive_max_count(many);
    // Not SO_REUSEPORT, the library's default: two programs would share a port.
    set_socket_options([](int socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response);
      return HandlerResponse::Handled;
    });
    // What the library itself refuses: requests that are none, and methods that it does not know.
    set_error_handler(HandlerWithResponse([](const httplib::Request& request, httplib::Response& response) {
      if (!response.body.empty() || response.content_length_ > 0) return HandlerResponse::Unhandled;
      connection->close_afterwards();
      const bool is_method =
          request.method.size() > 2 && std::ranges::all_of(request.method, [](char c) { return c >= 'A' && c <= 'Z'; });
      HttpAnswer answer = is_method && response.status == 400 ? refused(405, "expected GET, HEAD or POST")
                                                              : refused(response.status, "expected an HTTP request");
      if (answer.status == 405) answer.headers.emplace_back("Allow", "GET, HEAD, POST");
      give(std::move(answer), response);
      return HandlerResponse::Handled;
    }));
    errno = 0;
    port_ = options_.port;
    if (port_ == 0) port_ = bind_to_any_port(options_.host);
    else if (!bind_to_port(options_.host, port_)) port_ = -1;
    constexpr int backlog = 512;  // the library's 5 would turn away clients that come together
    if (port_ > 0 && ::listen(svr_sock_, backlog) != 0) port_ = -1;
    if (port_ <= 0)
      throw ConfigError(fmt::format("--listen: cannot listen on {} port {}: {}; expected a free port of this machine",
                                    options_.host, options_.port, errno != 0 ? std::strerror(errno) : "not possible"));
  }

  void cut_readers() {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RD);
  }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::size_t connections() const {
    const std::lock_guard lock(mutex_);
    return sockets_.size();
  }

 private:
  bool process_and_close_socket(int socket) override {
    if (is_one_too_many) return turn_away(socket);
    {
      const std::lock_guard lock(mutex_);
      sockets_.insert(socket);
      if (closing_) ::shutdown(socket, SHUT_RD);
    }
    HttpConnection here(socket, limits_);
    connection = &here;
    while (here.wait_for_request()) {
      bool closed = false;
      const bool good = process_request(here, closing_, closed, nullptr);
      if (here.has_long_headers()) {
        here.take_back();
        send_long_headers(here);
        break;
      }
      if (!here.flush() || !good || closed || here.closes() || closing_) break;
    }
    connection = nullptr;
    {
      const std::lock_guard lock(mutex_);
      sockets_.erase(socket);
    }
    close_politely(socket);
    return true;
  }

  static bool turn_away(int socket) {
    const HttpAnswer answer = refused(503, "too many connections");
    send_plainly(socket, "503 Service Unavailable", answer.body, "Retry-After: 1\r\n");
    close_politely(socket);
    return false;
  }
  static void send_long_headers(const HttpConnection& here) {
    send_plainly(here.socket(), "431 Request Header Fields Too Large", refused(431, "the headers are too long").body,
                 "");
  }
  static void send_plainly(int socket, const char* status, const std::string& body, const char* more) {
    const std::string text = fmt::format(
        "HTTP/1.1 {}\r\nConnection: close\r\n{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", status,
        more, body.size(), body);
    (void)::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void answer(const httplib::Request& from, httplib::Response& response) {
    connection->end_headers();
    // The library would apply them unchecked to whatever is answered.
    const_cast<httplib::Request&>(from).ranges.clear();  // NOLINT(cppcoreguidelines-pro-type-const-cast): it is its own
    HttpRequest request = request_of(from);
    if (wants_to_close(request)) connection->close_afterwards();
    const bool has_names = std::ranges::all_of(request.headers, [](const auto& h) { return is_token(h.first); });
    HttpAnswer early = has_names ? check_(request) : refused(400, "expected headers with proper names");
    if (early.status != 0 || request.method != "POST") {
      if (!has_names || may_have_body(request)) connection->close_afterwards();
      return give(early.status != 0 ? std::move(early) : handle_(request), response);
    }
    if (auto refusal = read_body(request, options_.max_body)) {
      connection->close_afterwards();
      return give(std::move(*refusal), response);
    }
    give(handle_(request), response);
  }

  const HttpOptions options_;
  const HttpConnection::Limits limits_;
  const Check check_;
  const Handle handle_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::set<int> sockets_;
  std::atomic<bool> closing_ = false;
};

HttpServer::HttpServer(const HttpOptions& options, Check check, Handle handle)
    : library_(std::make_unique<Library>(options, std::move(check), std::move(handle))) {
  // Signals are the main thread's.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { library_->listen_after_bind(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  while (!library_->is_running()) std::this_thread::sleep_for(1ms);  // stop() has no effect before
}

HttpServer::~HttpServer() {
  library_->cut_readers();
  library_->stop();
  thread_.join();
}

bool HttpServer::is_listening() const { return library_->is_running(); }
int HttpServer::port() const { return library_->port(); }
std::size_t HttpServer::connections() const { return library_->connections(); }

}  // namespace obolus::serve
