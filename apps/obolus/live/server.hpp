// The live view's web server: the page and its events, read-only. Requests from other machines need the token of the
// URL; on this machine, a page of another site cannot get in through a name that it points here (DNS rebinding).
#pragma once

#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "live/access.hpp"
#include "live/feed.hpp"

namespace httplib {
class Server;
struct Request;
struct Response;
}  // namespace httplib

namespace obolus::cli {

class LiveServer {
 public:
  static constexpr int max_streams = 16;

  // Listens from here on; throws ConfigError if it cannot.
  LiveServer(const LiveAddress& address, std::string page, LiveFeed& feed);
  ~LiveServer();
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  [[nodiscard]] std::string url() const { return access_.url(port_); }
  // Returns when every stream has ended, or after `patience`.
  void drain(std::chrono::milliseconds patience);

 private:
  struct Stream;

  void bind(const LiveAddress& address);
  void answer(const httplib::Request& request, httplib::Response& response);
  [[nodiscard]] bool allowed(const httplib::Request& request) const;
  void send_page(httplib::Response& response) const;
  void send_events(const httplib::Request& request, httplib::Response& response);
  void leave_stream();
  void cut_connections() const;

  LiveFeed& feed_;
  const std::string page_;
  const LiveAccess access_;
  int port_ = 0;
  struct sigaction pipe_before_{};
  std::unique_ptr<httplib::Server> server_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable left_;
  int streams_ = 0;
};

}  // namespace obolus::cli
