// Who may look: on this machine, requests that use one of its names; from elsewhere, requests with the token.
#pragma once

#include <string>

#include "live/address.hpp"

namespace obolus::cli {

class LiveAccess {
 public:
  // Throws ConfigError for an unknown host.
  explicit LiveAccess(const LiveAddress& address);

  [[nodiscard]] const std::string& host() const { return host_.number; }  // to listen on
  [[nodiscard]] std::string url(int port, bool with_token = true) const;
  [[nodiscard]] const std::string& token() const { return token_; }  // empty: not needed
  [[nodiscard]] bool by_token() const { return !token_.empty(); }
  [[nodiscard]] bool opens(const std::string& token) const;
  // The Host header of a request. A page of another site whose name was made to point here sends that name.
  [[nodiscard]] bool is_here(const std::string& header) const;
  [[nodiscard]] const char* expected() const;  // the answer to all others

 private:
  ResolvedHost host_;
  std::string token_;
};

}  // namespace obolus::cli
