#include "download.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "obolus/core/error.hpp"
#include "terminal.hpp"

namespace obolus::cli {
namespace {

struct Address {
  std::string site, path;  // scheme://host[:port], /…
};

Address parsed(const std::string& url) {
  const std::size_t host = url.find("://") + 3;
  const bool known = url.starts_with("http://") || url.starts_with("https://");
  if (!known || host == url.size() || url[host] == '/')
    throw ConfigError(fmt::format("--url: got '{}', expected http://… or https://…", url));
  const std::size_t slash = url.find('/', host);
  return {url.substr(0, slash), slash == url.npos ? "/" : url.substr(slash)};
}

// One line on stderr, rewritten a few times a second.
class Received {
 public:
  explicit Received(std::string label) : label_(std::move(label)), shown_(is_terminal(STDERR_FILENO)) {}
  ~Received() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;

  void show(std::uint64_t bytes, std::uint64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || std::chrono::duration<double>(now - last_).count() < 0.2) return;
    last_ = now;
    const std::string of = total == 0 ? std::string() : fmt::format(" of {:.1f}", 1e-6 * double(total));
    fmt::print(stderr, "\r\033[K{}  {:.1f}{} MB", label_, 1e-6 * double(bytes), of);
    std::fflush(stderr);
  }

 private:
  std::string label_;
  bool shown_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace

std::string download(const std::string& url, std::size_t max) {
  const Address address = parsed(url);
  httplib::Client client(address.site);
  client.set_follow_location(true);
  client.set_connection_timeout(20);
  client.set_read_timeout(60);
  std::string content;
  std::uint64_t announced = 0;
  int status = 200;
  bool too_large = false;
  Received progress(url);
  const auto answer = client.Get(
      address.path,
      [&](const httplib::Response& response) {
        announced = response.get_header_value<std::uint64_t>("Content-Length");
        too_large = announced > max;
        status = response.status;
        return status == 200 && !too_large;
      },
      [&](const char* bytes, std::size_t size) {
        too_large = size > max - content.size();
        if (too_large) return false;
        content.append(bytes, size);
        progress.show(content.size(), announced);
        return true;
      });
  if (too_large) throw DataError(fmt::format("{}: got more than {} bytes, expected at most that", url, max));
  if (status != 200) throw DataError(fmt::format("{}: got status {}, expected 200", url, status));
  if (!answer) throw DataError(fmt::format("{}: cannot be fetched: {}", url, httplib::to_string(answer.error())));
  return content;
}

}  // namespace obolus::cli
