// Where a live view listens.
#pragma once

#include <string>

namespace obolus::cli {

struct LiveAddress {
  std::string host = "127.0.0.1";  // a name or a number, without brackets
  int port = 0;                    // 0: any free one
  const char* flag = "--live";     // that gave it, for errors
};

// PORT, HOST, HOST:PORT, [::1] or [::1]:PORT; empty is the default. Throws ConfigError.
[[nodiscard]] LiveAddress parse_address(const std::string& text, const char* flag = "--live");

// The numeric address of the host. Throws ConfigError if it is unknown.
struct ResolvedHost {
  std::string number;     // as bind takes it
  bool loopback = false;  // reachable from this machine only
  bool any = false;       // every address of this machine
};
[[nodiscard]] ResolvedHost resolve(const LiveAddress& address);

// HOST:PORT as a URL has it: IPv6 in brackets.
[[nodiscard]] std::string authority(const std::string& host, int port);

}  // namespace obolus::cli
