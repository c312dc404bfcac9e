// What the server answers: docs/serve.md and openapi.json describe it.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/access.hpp"
#include "serve/http.hpp"
#include "serve/served_model.hpp"

namespace obolus::serve {

using Models = std::vector<std::unique_ptr<ServedModel>>;

class Api {
 public:
  // `more` answers what is no path of the interface, such as the page; it may return nothing.
  using More = std::function<std::optional<HttpAnswer>(const HttpRequest&)>;

  Api(const Models& models, Access access, More more);

  // Before the body is read: an answer of status 0 lets the request through.
  [[nodiscard]] HttpAnswer check(const HttpRequest& request);
  [[nodiscard]] HttpAnswer answer(const HttpRequest& request);
  void drain() { draining_ = true; }  // "not ready" from here on

 private:
  using Answerer = HttpAnswer (Api::*)(const HttpRequest&, ServedModel*);
  struct Route {
    std::string_view method, pattern;  // {name} stands for a model
    Answerer answer;
  };
  static const std::vector<Route>& routes();
  [[nodiscard]] const Route* find(const HttpRequest& request, std::string& name, std::string& allowed) const;
  [[nodiscard]] ServedModel* model(std::string_view name) const;
  [[nodiscard]] HttpAnswer dispatch(const HttpRequest& request);
  void count(std::string_view pattern, int status, double seconds);

  HttpAnswer health(const HttpRequest&, ServedModel*);
  HttpAnswer ready(const HttpRequest&, ServedModel*);
  HttpAnswer metrics(const HttpRequest&, ServedModel*);
  HttpAnswer openapi(const HttpRequest&, ServedModel*);
  HttpAnswer list(const HttpRequest&, ServedModel*);
  HttpAnswer about(const HttpRequest&, ServedModel*);
  HttpAnswer predict(const HttpRequest&, ServedModel*);
  HttpAnswer learn(const HttpRequest&, ServedModel*);
  HttpAnswer feedback(const HttpRequest&, ServedModel*);
  HttpAnswer checkpoint(const HttpRequest&, ServedModel*);
  HttpAnswer protocol(const HttpRequest&, ServedModel*);
  HttpAnswer protocol_live(const HttpRequest&, ServedModel*);
  HttpAnswer protocol_ready(const HttpRequest&, ServedModel*);
  HttpAnswer protocol_model(const HttpRequest&, ServedModel*);
  HttpAnswer protocol_infer(const HttpRequest&, ServedModel*);

  struct Requests {
    std::int64_t count = 0;
    double seconds = 0;
  };

  const Models& models_;
  const Access access_;
  const More more_;
  std::atomic<bool> draining_ = false;
  std::mutex mutex_;
  std::map<std::pair<std::string_view, int>, Requests> requests_;
};

}  // namespace obolus::serve
