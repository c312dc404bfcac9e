#include "live/access.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <stdexcept>

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

std::string LiveAccess::url(int port) const {
  const std::string host = host_.any ? name_of_machine() : host_.number;
  return fmt::format("http://{}/{}", authority(host, port), token_.empty() ? "" : "?token=" + token_);
}

// In constant time, so that the time taken does not reveal how much of the token was right.
bool LiveAccess::opens(const std::string& token) const {
  unsigned difference = token.size() == token_.size() ? 0 : 1;
  for (std::size_t i = 0; i < token_.size(); ++i)
    difference |= static_cast<unsigned char>(i < token.size() ? token[i] : 0) ^ static_cast<unsigned char>(token_[i]);
  return by_token() && difference == 0;
}

bool LiveAccess::is_here(const std::string& header) const {
  const std::size_t colon = header.rfind(':');
  const bool has_port = colon != header.npos && header.find(']', colon) == header.npos;
  if (has_port && header.find_first_not_of("0123456789", colon + 1) != header.npos) return false;
  const std::string host = header.substr(0, has_port ? colon : header.npos);
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]" || host == host_.number;
}

const char* LiveAccess::expected() const {
  return by_token() ? "the address needs the token that the program printed" : "not a name of this machine";
}

}  // namespace obolus::cli
