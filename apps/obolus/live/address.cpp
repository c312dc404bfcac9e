#include "live/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>

#include "obolus/core/error.hpp"

namespace obolus::cli {
namespace {

constexpr int max_port = 65535;

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw ConfigError(
      fmt::format("got '{}'{}, expected PORT, HOST, HOST:PORT or [IPv6]:PORT, as in 8080 or 127.0.0.1:8080", text,
                  why.empty() ? "" : ": " + why));
}

bool all_digits(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

int port_of(const std::string& digits, const std::string& text) {
  int port = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (!all_digits(digits) || error != std::errc() || port > max_port)
    refuse(text, fmt::format("'{}' is not a port (0 … {}; 0 takes a free one)", digits, max_port));
  return port;
}

bool is_name(const std::string& host) {
  constexpr const char* letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  return !host.empty() && host.size() < 254 && host.find_first_not_of(letters) == std::string::npos;
}

// Errors do not name the flag.
LiveAddress address_of(const std::string& text) {
  LiveAddress address;
  if (text.empty()) return address;
  if (all_digits(text)) {
    address.port = port_of(text, text);
    return address;
  }
  if (std::error_code none;
      std::filesystem::is_regular_file(text, none))  // `--live CONFIG` would take the config for ADDR
    refuse(text, "this is a file; put the config before --live, or write --live=ADDR");
  std::size_t colon = text.find(':');
  if (text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string::npos) refuse(text, "no ']' after '['");
    address.host = text.substr(1, close - 1);
    in6_addr number{};
    if (::inet_pton(AF_INET6, address.host.c_str(), &number) != 1) refuse(text, "no IPv6 address in the brackets");
    if (close + 1 == text.size()) return address;
    colon = close + 1;
    if (text[colon] != ':') refuse(text, "only :PORT may follow ']'");
  } else {
    if (colon != text.rfind(':')) refuse(text, "an IPv6 address must be in brackets");
    address.host = text.substr(0, colon);
    if (!is_name(address.host)) refuse(text, "");
  }
  if (colon != std::string::npos) address.port = port_of(text.substr(colon + 1), text);
  if (address.host == "localhost") address.host = LiveAddress().host;  // it may resolve to ::1 even without IPv6
  return address;
}

}  // namespace

LiveAddress parse_address(const std::string& text, const char* flag) try {
  LiveAddress address = address_of(text);
  address.flag = flag;
  return address;
} catch (const ConfigError& e) {
  throw ConfigError(fmt::format("{}: {}", flag, e.what()));
}

ResolvedHost resolve(const LiveAddress& address) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  if (const int error = ::getaddrinfo(address.host.c_str(), nullptr, &hints, &list); error != 0)
    throw ConfigError(fmt::format("{}: got the host '{}', expected a known one: {}", address.flag, address.host,
                                  ::gai_strerror(error)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, &::freeaddrinfo);
  ResolvedHost host;
  char text[INET6_ADDRSTRLEN] = {};
  if (list->ai_family == AF_INET) {
    sockaddr_in at{};
    std::memcpy(&at, list->ai_addr, sizeof at);
    const std::uint32_t number = ntohl(at.sin_addr.s_addr);
    ::inet_ntop(AF_INET, &at.sin_addr, text, sizeof text);
    host.loopback = number >> 24 == 127;
    host.any = number == INADDR_ANY;
  } else if (list->ai_family == AF_INET6) {
    sockaddr_in6 at{};
    std::memcpy(&at, list->ai_addr, sizeof at);
    ::inet_ntop(AF_INET6, &at.sin6_addr, text, sizeof text);
    host.loopback = IN6_IS_ADDR_LOOPBACK(&at.sin6_addr);
    host.any = IN6_IS_ADDR_UNSPECIFIED(&at.sin6_addr);
  }
  host.number = text;
  return host;
}

std::string authority(const std::string& host, int port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

}  // namespace obolus::cli
