#include "live/server.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <semaphore>

#include "obolus/core/error.hpp"
#include "page.hpp"

namespace obolus::cli {
namespace {

using namespace std::chrono_literals;

constexpr int page_threads = 8;
constexpr auto heartbeat = 10s;
constexpr auto look_after_reader = 250ms;  // how often a stream checks that its reader is still there

// A connection that waits for a thread holds a descriptor, and the run needs some too: no more than these are accepted.
class Pool : public httplib::ThreadPool {
 public:
  Pool() : ThreadPool(LiveServer::max_streams + page_threads) {}
  void enqueue(std::function<void()> work) override {
    places_.acquire();
    ThreadPool::enqueue([this, work = std::move(work)] {
      work();
      places_.release();
    });
  }

 private:
  std::counting_semaphore<> places_{2 * (LiveServer::max_streams + page_threads)};
};

void refuse(httplib::Response& response, int status, const char* why) {
  response.status = status;
  response.set_content(std::string(why) + "\n", "text/plain");
}

// The main thread handles signals: none of the server's system calls may be interrupted.
template <class Work>
std::thread thread_without_signals(Work work) {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(work));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

// One browser's connection. Its slot among the streams is freed when it ends, however it ends.
struct LiveServer::Stream {
  LiveServer& server;
  LiveFeed::Place place;
  std::chrono::steady_clock::time_point written = std::chrono::steady_clock::now();
  bool greeted = false;

  ~Stream() { server.leave_stream(); }

  bool serve(httplib::DataSink& sink) {
    const auto write = [&](std::string_view text) {
      written = std::chrono::steady_clock::now();
      return sink.write(text.data(), text.size());
    };
    if (!std::exchange(greeted, true) && !write("retry: 1000\n\n")) return false;
    if (!server.feed_.next(place, look_after_reader, write)) sink.done();
    else if (std::chrono::steady_clock::now() - written > heartbeat) return write(":\n\n");
    return true;
  }
};

LiveServer::LiveServer(const LiveAddress& address, std::string page, LiveFeed& feed)
    : feed_(feed), page_(std::move(page)), access_(address) {
  ::sigaction(SIGPIPE, nullptr, &pipe_before_);  // the server ignores it from here on
  server_ = std::make_unique<httplib::Server>();
  bind(address);
  server_->new_task_queue = [] { return new Pool; };
  server_->set_keep_alive_max_count(1);
  server_->set_keep_alive_timeout(2);
  server_->set_read_timeout(2s);
  server_->set_write_timeout(10s);
  server_->set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    // The library would apply them unchecked to the page.
    const_cast<httplib::Request&>(request).ranges.clear();  // NOLINT(cppcoreguidelines-pro-type-const-cast): its own
    answer(request, response);
    return httplib::Server::HandlerResponse::Handled;
  });
  thread_ = thread_without_signals([this] { server_->listen_after_bind(); });
  while (!server_->is_running()) std::this_thread::sleep_for(1ms);  // stop() has no effect before
}

void LiveServer::bind(const LiveAddress& address) {
  // Not SO_REUSEPORT, the library's default: two programs would share a port and the browser reach either.
  server_->set_socket_options([](int socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  errno = 0;
  port_ = address.port;
  if (port_ == 0) port_ = server_->bind_to_any_port(access_.host());
  else if (!server_->bind_to_port(access_.host(), port_)) port_ = -1;
  if (port_ > 0) return;
  const std::string why = errno != 0 ? std::strerror(errno) : "not possible";
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  throw ConfigError(fmt::format("--live: cannot listen on {}: {}; expected a free port of this machine (0 takes any)",
                                authority(access_.host(), address.port), why));
}

LiveServer::~LiveServer() {
  feed_.close();
  server_->stop();
  cut_connections();
  thread_.join();
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
}

// A reader that takes one byte now and then could otherwise keep its thread, and the program, alive for ever.
void LiveServer::cut_connections() const {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/fd", none)) {
    const int descriptor = std::atoi(entry.path().filename().c_str());
    sockaddr_storage at{};
    socklen_t size = sizeof at;
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&at), &size) != 0) continue;
    const int port = at.ss_family == AF_INET    ? ntohs(reinterpret_cast<const sockaddr_in&>(at).sin_port)
                     : at.ss_family == AF_INET6 ? ntohs(reinterpret_cast<const sockaddr_in6&>(at).sin6_port)
                                                : 0;
    if (port == port_) ::shutdown(descriptor, SHUT_RDWR);
  }
}

void LiveServer::drain(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  left_.wait_for(lock, patience, [&] { return streams_ == 0; });
}

void LiveServer::leave_stream() {
  const std::lock_guard lock(mutex_);
  --streams_;
  left_.notify_all();
}

bool LiveServer::allowed(const httplib::Request& request) const {
  if (access_.by_token()) return access_.opens(request.get_param_value("token"));
  return request.get_header_value_count("Host") == 1 && access_.is_here(request.get_header_value("Host"));
}

void LiveServer::answer(const httplib::Request& request, httplib::Response& response) {
  response.set_header("Cache-Control", "no-store");
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cross-Origin-Resource-Policy", "same-origin");
  if (!allowed(request)) return refuse(response, 403, access_.expected());
  if (request.method != "GET" && request.method != "HEAD") {
    response.set_header("Allow", "GET, HEAD");
    return refuse(response, 405, "this view is read-only");
  }
  if (request.path == "/") return send_page(response);
  if (request.path == "/events") return send_events(request, response);
  refuse(response, 404, "expected / (the page) or /events");
}

void LiveServer::send_page(httplib::Response& response) const {
  response.set_header("Content-Security-Policy", live_page_policy);
  // Not as text, which the library would compress at its slowest setting.
  response.set_content_provider(page_.size(), "text/html; charset=utf-8",
                                [this](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
                                  return sink.write(page_.data() + offset, length);
                                });
}

void LiveServer::send_events(const httplib::Request& request, httplib::Response& response) {
  if (request.method == "HEAD") return response.set_header("Content-Type", "text/event-stream");
  {
    const std::lock_guard lock(mutex_);
    if (streams_ == max_streams) {
      response.set_header("Retry-After", "5");
      return refuse(response, 503, "too many readers already");
    }
    ++streams_;
  }
  const auto stream = std::make_shared<Stream>(*this, feed_.place(request.get_header_value("Last-Event-ID")));
  response.set_content_provider("text/event-stream", [stream](std::size_t, httplib::DataSink& sink) {
    try {
      return stream->serve(sink);
    } catch (const std::exception&) {  // out of memory; the browser will reconnect
      return false;
    }
  });
}

}  // namespace obolus::cli
