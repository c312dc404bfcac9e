// A client's connection: a request must be there whole, and an answer be taken, within a time; headers are limited as a
// whole. Answers are sent in one piece.
#pragma once

#include <httplib.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

namespace obolus::serve {

class HttpConnection : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    std::size_t header = std::size_t{1} << 14;
    std::chrono::milliseconds request{10'000}, answer{30'000}, idle{30'000};
  };

  HttpConnection(int socket, const Limits& limits) : socket_(socket), limits_(limits) {}

  // Whether a next request begins before the client goes or is idle for too long.
  [[nodiscard]] bool wait_for_request();
  // From here on the rest of the request is its body.
  void end_headers() { header_left_ = all_there; }
  [[nodiscard]] bool has_long_headers() const { return header_left_ == 0; }
  bool flush();
  void take_back() { answer_.clear(); }        // what was not sent yet
  void stream() { streams_ = true; }           // what is written is sent at once from here on
  void close_afterwards() { closes_ = true; }  // when the answer is sent: the request was not read to its end
  [[nodiscard]] bool closes() const { return closes_; }

  [[nodiscard]] bool is_readable() const override { return wait(POLLIN, read_by_); }
  [[nodiscard]] bool is_writable() const override { return wait(POLLOUT, Clock::now() + limits_.answer); }
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  [[nodiscard]] int socket() const override { return socket_; }

 private:
  static constexpr std::size_t all_there = static_cast<std::size_t>(-1);

  [[nodiscard]] bool ends_lines_properly(const char* text, std::size_t size);
  [[nodiscard]] bool wait(short event, Clock::time_point until) const;
  [[nodiscard]] ssize_t receive(char* to, std::size_t size) const;

  int socket_;
  const Limits& limits_;
  Clock::time_point read_by_;
  std::size_t header_left_ = 0;
  std::array<char, 16384> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::string answer_;
  bool streams_ = false, closes_ = false;
  char last_ = 0;  // of the headers, so far
};

}  // namespace obolus::serve
