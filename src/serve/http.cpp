#include "serve/http.hpp"

#include <algorithm>

#include "data/append_format.hpp"
#include "serve/json_text.hpp"

namespace obolus::serve {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

std::string HttpRequest::header(std::string_view name, int* count) const {
  std::string value;
  int found = 0;
  for (const auto& [key, text] : headers)
    if (same_name(key, name) && found++ == 0) value = text;
  if (count) *count = found;
  return value;
}

std::string HttpRequest::parameter(std::string_view name) const {
  const auto found = std::ranges::find(query, name, &std::pair<std::string, std::string>::first);
  return found == query.end() ? std::string() : found->second;
}

HttpAnswer refused(int status, std::string_view message, int retry_after) {
  HttpAnswer answer{.status = status};
  append_format(answer.body, R"({{"error":{{"status":{},"message":)", status);
  append_json(answer.body, message);
  answer.body += "}}\n";
  if (retry_after > 0) answer.headers.emplace_back("Retry-After", std::to_string(retry_after));
  return answer;
}

}  // namespace obolus::serve
