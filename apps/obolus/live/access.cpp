#include "live/access.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <stdexcept>

#include "serve/access.hpp"

namespace obolus::cli {
namespace {

std::string random_token() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    throw std::runtime_error("the system provided no random bytes");
  std::string text;
  for (const unsigned char b : bytes) text += fmt::format("{:02x}", b);
  return text;
}

std::string name_of_machine() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

}  // namespace

LiveAccess::LiveAccess(const LiveAddress& address)
    : host_(resolve(address)), token_(host_.loopback ? "" : random_token()) {}

std::string LiveAccess::url(int port, bool with_token) const {
  const std::string host = host_.any ? name_of_machine() : host_.number;
  return fmt::format("http://{}/{}", authority(host, port), token_.empty() || !with_token ? "" : "?token=" + token_);
}

bool LiveAccess::opens(const std::string& token) const { return by_token() && serve::same_secret(token, token_); }

bool LiveAccess::is_here(const std::string& header) const {
  const std::string host = serve::host_of(header);
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]" || host == host_.number;
}

const char* LiveAccess::expected() const {
  return by_token() ? "the address needs the token that the program printed" : "not a name of this machine";
}

}  // namespace obolus::cli
