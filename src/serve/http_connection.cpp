#include "serve/http_connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace obolus::serve {

bool HttpConnection::wait(short event, Clock::time_point until) const {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd one{socket_, event, 0};
    const int ready = ::poll(&one, 1, static_cast<int>(left));
    if (ready > 0) return true;  // a failure shows when it is used
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool HttpConnection::wait_for_request() {
  if (at_ == end_ && !wait(POLLIN, Clock::now() + limits_.idle)) return false;
  if (at_ == end_) {
    const ssize_t got = receive(buffer_.data(), buffer_.size());
    if (got <= 0) return false;
    at_ = 0;
    end_ = static_cast<std::size_t>(got);
  }
  read_by_ = Clock::now() + limits_.request;
  header_left_ = limits_.header;
  last_ = 0;
  return true;
}

ssize_t HttpConnection::receive(char* to, std::size_t size) const {
  while (true) {
    const ssize_t got = ::recv(socket_, to, size, 0);
    if (got >= 0 || errno != EINTR) return got;
  }
}

// A line that ends with LF alone is one to some and none to others, who would then see other headers.
bool HttpConnection::ends_lines_properly(const char* text, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    if (text[i] == '\n' && last_ != '\r') return false;
    last_ = text[i];
  }
  return true;
}

ssize_t HttpConnection::read(char* to, std::size_t size) {
  size = std::min(size, header_left_);
  if (size == 0) return -1;
  if (at_ == end_) {
    if (!answer_.empty() && !flush()) return -1;  // a client may wait for "100 Continue"
    if (!wait(POLLIN, read_by_)) return -1;
    const bool whole = size >= buffer_.size();  // a body goes to its place at once
    const ssize_t got = receive(whole ? to : buffer_.data(), whole ? size : buffer_.size());
    if (got <= 0 || whole) return got;
    at_ = 0;
    end_ = static_cast<std::size_t>(got);
  }
  size = std::min(size, end_ - at_);
  std::memcpy(to, buffer_.data() + at_, size);
  at_ += size;
  if (header_left_ == all_there) return static_cast<ssize_t>(size);
  header_left_ -= size;
  return ends_lines_properly(to, size) ? static_cast<ssize_t>(size) : -1;
}

ssize_t HttpConnection::write(const char* from, std::size_t size) {
  constexpr std::size_t enough = std::size_t{1} << 16;
  answer_.append(from, size);
  if ((streams_ || answer_.size() >= enough) && !flush()) return -1;
  return static_cast<ssize_t>(size);
}

bool HttpConnection::flush() {
  const auto until = Clock::now() + limits_.answer;
  std::size_t sent = 0;
  while (sent < answer_.size()) {
    const ssize_t n = ::send(socket_, answer_.data() + sent, answer_.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) sent += static_cast<std::size_t>(n);
    else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && wait(POLLOUT, until)) continue;
    else if (n < 0 && errno != EINTR) break;
  }
  const bool whole = sent == answer_.size();
  answer_.clear();
  return whole;
}

}  // namespace obolus::serve
