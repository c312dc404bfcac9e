// Who may ask: on this machine, requests that use one of its names; from elsewhere, requests with the token. Pages of
// other sites may not, unless their origin is named.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "serve/http.hpp"

namespace obolus::serve {

// In constant time, so that the time taken does not reveal how much was right.
[[nodiscard]] bool same_secret(const std::string& given, const std::string& secret);
// The host of a Host header, without its port; empty if the port is none.
[[nodiscard]] std::string host_of(const std::string& header);

struct Access {
  std::string token;                 // empty: not needed
  std::vector<std::string> hosts;    // that a request may name without a token
  std::vector<std::string> origins;  // of other sites that may read answers

  // Why the request is refused, if it is.
  [[nodiscard]] std::optional<HttpAnswer> refuses(const HttpRequest& request) const;
  // What lets a page of an allowed origin read the answer.
  void share(const HttpRequest& request, HttpAnswer& answer) const;
};

}  // namespace obolus::serve
