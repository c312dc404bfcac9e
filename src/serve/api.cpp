#include "serve/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "obolus/core/error.hpp"
#include "obolus/version.hpp"
#include "serve/inference_protocol.hpp"
#include "serve/metrics_text.hpp"
#include "serve/openapi.hpp"
#include "serve/refusal.hpp"

namespace obolus::serve {
namespace {

constexpr std::string_view of_model = "{name}";

// The model's name in the path, if the path is of this pattern.
std::optional<std::string> match(std::string_view pattern, std::string_view path) {
  const std::size_t at = pattern.find(of_model);
  if (at == pattern.npos) return pattern == path ? std::optional<std::string>("") : std::nullopt;
  const std::string_view before = pattern.substr(0, at), after = pattern.substr(at + of_model.size());
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) || !path.ends_with(after))
    return std::nullopt;
  const std::string_view name = path.substr(before.size(), path.size() - before.size() - after.size());
  return name.find('/') == name.npos ? std::optional<std::string>(name) : std::nullopt;
}

BodyForm form_of(const HttpRequest& request) {
  const std::string header = request.header("Content-Type");
  std::string type = header.substr(0, header.find(';'));
  while (type.ends_with(' ')) type.pop_back();
  std::ranges::transform(type, type.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (type == "application/json" || type.empty()) return BodyForm::json;
  if (type == "application/x-ndjson" || type == "application/jsonl") return BodyForm::lines;
  throw Refusal(415, "expected the Content-Type application/json or application/x-ndjson");
}

HttpAnswer json(std::string body) { return {.body = std::move(body) + "\n"}; }

}  // namespace

const std::vector<Api::Route>& Api::routes() {
  static const std::vector<Route> all{
      {"POST", "/v1/models/{name}/predict", &Api::predict},
      {"POST", "/v1/models/{name}/learn", &Api::learn},
      {"POST", "/v1/models/{name}/feedback", &Api::feedback},
      {"POST", "/v1/models/{name}/checkpoint", &Api::checkpoint},
      {"GET", "/v1/models", &Api::list},
      {"GET", "/v1/models/{name}", &Api::about},
      {"GET", "/healthz", &Api::health},
      {"GET", "/readyz", &Api::ready},
      {"GET", "/metrics", &Api::metrics},
      {"GET", "/openapi.json", &Api::openapi},
      {"GET", "/v2", &Api::protocol},
      {"GET", "/v2/health/live", &Api::protocol_live},
      {"GET", "/v2/health/ready", &Api::protocol_ready},
      {"GET", "/v2/models/{name}", &Api::protocol_model},
      {"GET", "/v2/models/{name}/ready", &Api::protocol_ready},
      {"POST", "/v2/models/{name}/infer", &Api::protocol_infer},
  };
  return all;
}

Api::Api(const Models& models, Access access, More more)
    : models_(models), access_(std::move(access)), more_(std::move(more)) {}

ServedModel* Api::model(std::string_view name) const {
  const auto found = std::ranges::find_if(models_, [&](const auto& m) { return m->name() == name; });
  return found == models_.end() ? nullptr : found->get();
}

const Api::Route* Api::find(const HttpRequest& request, std::string& name, std::string& allowed) const {
  const std::string_view method = request.method == "HEAD" ? std::string_view("GET") : std::string_view(request.method);
  for (const Route& route : routes()) {
    const auto matched = match(route.pattern, request.path);
    if (!matched) continue;
    if (route.method == method) {
      name = *matched;
      return &route;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(route.method == "GET" ? "GET, HEAD" : route.method);
  }
  return nullptr;
}

// What need not be read is not.
HttpAnswer Api::check(const HttpRequest& request) {
  if (auto refusal = access_.refuses(request)) {
    count("refused", refusal->status, 0);
    return std::move(*refusal);
  }
  std::string name, allowed;
  if (request.method == "POST" && !find(request, name, allowed)) return answer(request);
  return {.status = 0};
}

HttpAnswer Api::answer(const HttpRequest& request) {
  HttpAnswer answer;
  const auto refuse = [&](int status, const char* why, int retry_after) {
    answer = refused(status, why, retry_after);
    if (request.path.starts_with("/v2/")) answer.body = protocol_error(why);
  };
  try {
    answer = dispatch(request);
  } catch (const Refusal& refusal) {
    refuse(refusal.status, refusal.what(), refusal.retry_after);
  } catch (const std::exception& e) {
    refuse(500, e.what(), 0);
  }
  access_.share(request, answer);
  return answer;
}

HttpAnswer Api::dispatch(const HttpRequest& request) {
  using Clock = std::chrono::steady_clock;
  const auto begun = Clock::now();
  if (request.method == "OPTIONS" && !request.header("Origin").empty()) return {.status = 204};
  std::string name, allowed;
  const Route* route = find(request, name, allowed);
  if (!route) {
    if (!allowed.empty()) {
      HttpAnswer answer = refused(405, "expected " + allowed);
      answer.headers.emplace_back("Allow", allowed);
      return answer;
    }
    if (auto answer = more_ ? more_(request) : std::nullopt) return std::move(*answer);
    return refused(404, "no such path; see /openapi.json");
  }
  HttpAnswer answer;
  try {
    ServedModel* asked = name.empty() ? nullptr : model(name);
    if (!name.empty() && !asked) throw Refusal(404, "no model of this name; see /v1/models");
    answer = (this->*route->answer)(request, asked);
  } catch (const Refusal& refusal) {
    count(route->pattern, refusal.status, std::chrono::duration<double>(Clock::now() - begun).count());
    throw;
  }
  count(route->pattern, answer.status, std::chrono::duration<double>(Clock::now() - begun).count());
  return answer;
}

void Api::count(std::string_view pattern, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  Requests& requests = requests_[{pattern, status}];
  requests.count += 1;
  requests.seconds += seconds;
}

HttpAnswer Api::health(const HttpRequest&, ServedModel*) { return json(R"({"status":"ok"})"); }

HttpAnswer Api::ready(const HttpRequest&, ServedModel*) {
  if (draining_) throw Refusal(503, "the server is about to stop", 5);
  return json(R"({"status":"ready"})");
}

HttpAnswer Api::openapi(const HttpRequest&, ServedModel*) { return json(std::string(openapi_document())); }

HttpAnswer Api::metrics(const HttpRequest&, ServedModel*) {
  MetricsText text;
  for (const auto& model : models_) text.add(*model);
  const std::lock_guard lock(mutex_);
  for (const auto& [key, requests] : requests_)
    text.add_requests(key.first, key.second, requests.count, requests.seconds);
  return {.body = text.text(), .type = "text/plain; version=0.0.4; charset=utf-8"};
}

HttpAnswer Api::list(const HttpRequest&, ServedModel*) {
  std::string text = R"({"models":[)";
  for (const auto& model : models_) text += (text.ends_with('[') ? "" : ",") + model->listing();
  return json(text + "]}");
}

HttpAnswer Api::about(const HttpRequest&, ServedModel* model) { return json(model->about()); }

HttpAnswer Api::predict(const HttpRequest& request, ServedModel* model) {
  return json(model->predict(request.body, form_of(request)));
}

HttpAnswer Api::learn(const HttpRequest& request, ServedModel* model) {
  return json(model->learn(request.body, form_of(request)));
}

HttpAnswer Api::feedback(const HttpRequest& request, ServedModel* model) {
  return json(model->feedback(request.body, form_of(request)));
}

HttpAnswer Api::checkpoint(const HttpRequest& request, ServedModel* model) {
  if (request.body.find_first_not_of(" \t\r\n{}") != std::string::npos)
    throw Refusal(422, "expected an empty body, or {}");
  return json(model->checkpoint());
}

HttpAnswer Api::protocol(const HttpRequest&, ServedModel*) {
  return json(fmt::format(R"({{"name":"obolus","version":"{}","extensions":[]}})", version_text));
}

HttpAnswer Api::protocol_live(const HttpRequest&, ServedModel*) { return json(R"({"live":true})"); }

HttpAnswer Api::protocol_ready(const HttpRequest& request, ServedModel* model) {
  (void)ready(request, model);
  if (!model) return json(R"({"ready":true})");
  return json(fmt::format(R"({{"name":"{}","ready":true}})", model->name()));
}

HttpAnswer Api::protocol_model(const HttpRequest&, ServedModel* model) { return json(protocol_about(*model)); }

HttpAnswer Api::protocol_infer(const HttpRequest& request, ServedModel* model) {
  if (form_of(request) != BodyForm::json) throw Refusal(415, "expected the Content-Type application/json");
  return json(protocol_answer(*model, request.body));
}

}  // namespace obolus::serve
