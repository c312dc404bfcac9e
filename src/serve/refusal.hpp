// Why a request is not served: an HTTP status, and what to tell the client.
#pragma once

#include <stdexcept>
#include <string>

namespace obolus::serve {

struct Refusal : std::runtime_error {
  Refusal(int code, const std::string& why, int again = 0) : runtime_error(why), status(code), retry_after(again) {}
  int status;
  int retry_after;  // seconds; 0: a later try would not help
};

}  // namespace obolus::serve
