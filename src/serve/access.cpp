#include "serve/access.hpp"

#include <algorithm>

namespace obolus::serve {
namespace {

bool has(const std::vector<std::string>& list, const std::string& one) {
  return std::ranges::find(list, one) != list.end();
}

// What monitors ask; it tells nothing about a model.
bool is_open(const std::string& method, const std::string& path) {
  if (method != "GET" && method != "HEAD") return false;
  return path == "/healthz" || path == "/readyz" || path == "/v2/health/live" || path == "/v2/health/ready";
}

bool is_page(const std::string& path) { return path == "/" || path == "/events"; }

}  // namespace

bool same_secret(const std::string& given, const std::string& secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < secret.size(); ++i)
    difference |= static_cast<unsigned char>(i < given.size() ? given[i] : 0) ^ static_cast<unsigned char>(secret[i]);
  return difference == 0;
}

std::string host_of(const std::string& header) {
  const std::size_t colon = header.rfind(':');
  const bool has_port = colon != header.npos && header.find(']', colon) == header.npos;
  if (has_port && header.find_first_not_of("0123456789", colon + 1) != header.npos) return {};
  return header.substr(0, has_port ? colon : header.npos);
}

std::optional<HttpAnswer> Access::refuses(const HttpRequest& request) const {
  int hosts_given = 0;
  const std::string host = request.header("Host", &hosts_given);
  if (hosts_given != 1) return refused(400, "expected one Host header");
  // A page of another site whose name was made to point here sends that name.
  if (token.empty() && !has(hosts, host_of(host)))
    return refused(403, "the Host is not a name of this server; --allow-host adds one");
  const std::string origin = request.header("Origin");
  if (!origin.empty() && origin != "http://" + host && origin != "https://" + host && !has(origins, origin))
    return refused(403, "pages of other sites may not ask; --allow-origin names one that may");
  if (token.empty() || is_open(request.method, request.path) || request.method == "OPTIONS") return std::nullopt;
  constexpr std::string_view bearer = "Bearer ";
  const std::string authorization = request.header("Authorization");
  std::string given = authorization.starts_with(bearer) ? authorization.substr(bearer.size()) : "";
  if (given.empty() && is_page(request.path)) given = request.parameter("token");
  if (same_secret(given, token)) return std::nullopt;
  HttpAnswer answer = refused(401, "expected Authorization: Bearer and the server's token");
  answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

void Access::share(const HttpRequest& request, HttpAnswer& answer) const {
  const std::string origin = request.header("Origin");
  if (!has(origins, origin)) return;
  answer.headers.emplace_back("Access-Control-Allow-Origin", origin);
  answer.headers.emplace_back("Vary", "Origin");
  if (request.method != "OPTIONS") return;
  answer.headers.emplace_back("Access-Control-Allow-Methods", "GET, HEAD, POST");
  answer.headers.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type");
}

}  // namespace obolus::serve
