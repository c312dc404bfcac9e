// obolus serve: models of `obolus fit` over HTTP, asked and taught by other programs.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "data/durable_file.hpp"
#include "live/access.hpp"
#include "live/address.hpp"
#include "live/served_view.hpp"
#include "obolus/core/error.hpp"
#include "serve/api.hpp"
#include "serve/http_server.hpp"
#include "serve/served_model.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

struct Arguments {
  std::vector<std::string> models, allow_hosts, allow_origins;
  std::string listen = "127.0.0.1:8765", token_file, durability = "always";
  double interval = 0.2, checkpoint_seconds = 30;
  double keep_seconds = 3600;
  serve::ServeOptions serve;
  serve::HttpOptions http;
  bool quiet = false;
};

struct NamedPath {
  std::string name, path;
};

// NAME=PATH, or the name of the file or folder.
NamedPath named(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != text.npos && equals > 0 && text.find('/') > equals && !std::filesystem::exists(text))
    return {text.substr(0, equals), text.substr(equals + 1)};
  std::string path = text;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return {std::filesystem::path(path).filename().string(), text};
}

void require_name(const std::string& name) {
  constexpr std::size_t max = 64;
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  if (name.empty() || name.size() > max || !std::ranges::all_of(name, is_plain) || name == "." || name == "..")
    throw ConfigError(
        fmt::format("model: got the name '{}', expected up to {} letters, digits, _, - and .; give "
                    "another one as NAME={}",
                    name, max, "PATH"));
}

serve::Models open_models(const Arguments& a) {
  serve::Models models;
  for (const std::string& text : a.models) {
    const auto [name, path] = named(text);
    require_name(name);
    if (std::ranges::any_of(models, [&](const auto& m) { return m->name() == name; }))
      throw ConfigError(fmt::format("model: got the name {} twice, expected each once; NAME=PATH gives another", name));
    if (!std::filesystem::exists(path)) throw DataError(path + ": no such file or folder");
    models.push_back(std::make_unique<serve::ServedModel>(name, path, a.serve));
    if (!a.quiet)
      fmt::print(stderr, "{}: {}, {} rows learnt{}\n", name, path, models.back()->state().read()->rows,
                 models.back()->learns() ? "" : "; a model file, which predicts only");
  }
  return models;
}

std::string token_of(const std::string& file) {
  constexpr std::uint64_t max = 4096;
  constexpr std::size_t min_length = 16;
  std::string token = read_whole_file(file, max);
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' ')) token.pop_back();
  const auto is_plain = [](char c) { return c > ' ' && c < '\x7F'; };
  if (token.size() < min_length || !std::ranges::all_of(token, is_plain))
    throw ConfigError(
        fmt::format("--token-file: {}: expected at least {} printable characters without blanks", file, min_length));
  return token;
}

serve::Access access_of(const Arguments& a, const LiveAccess& listening) {
  serve::Access access;
  if (!a.token_file.empty()) access.token = token_of(a.token_file);
  else access.token = listening.token();
  access.hosts = {"localhost", "127.0.0.1", "[::1]", listening.host()};
  std::ranges::copy(a.allow_hosts, std::back_inserter(access.hosts));
  access.origins = a.allow_origins;
  return access;
}

// Writers call the view: they end before it does.
struct Stopping {
  const serve::Models& models;
  ~Stopping() {
    for (const auto& model : models) model->stop();
  }
};

void settle(Arguments& a) {
  const auto milliseconds = [](double seconds) { return std::chrono::milliseconds(std::llround(1000 * seconds)); };
  a.serve.sync_always = a.durability == "always";
  a.serve.interval = milliseconds(a.interval);
  a.serve.checkpoint_every = std::chrono::duration<double>(a.checkpoint_seconds);
  a.serve.kept.time = std::chrono::seconds(std::llround(a.keep_seconds));
}

int run(Arguments& a) {
  settle(a);
  const LiveAddress address = parse_address(a.listen, "--listen");
  const LiveAccess listening(address);
  const Interruption interruption;
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes is a full disk
  const serve::Models models = open_models(a);
  ServedView view(models);
  const Stopping stopping{models};
  serve::Api api(models, access_of(a, listening), [&](const serve::HttpRequest& r) { return view.answer(r); });
  a.http.host = listening.host();
  a.http.port = address.port;
  {
    const serve::HttpServer server(
        a.http, [&](const serve::HttpRequest& r) { return api.check(r); },
        [&](const serve::HttpRequest& r) { return api.answer(r); });
    if (!a.quiet) fmt::print(stderr, "Serving on {}\n", listening.url(server.port(), a.token_file.empty()));
    std::fflush(stderr);
    while (Interruption::signal() == 0 && server.is_listening()) ::poll(nullptr, 0, 100);
    if (Interruption::signal() == 0) throw std::runtime_error("the system ended the listening socket");
    if (!a.quiet) fmt::print(stderr, "Stopping: requests that have arrived are answered\n");
    api.drain();
    view.close();
  }
  return Interruption::signal() == SIGTERM ? success : Interruption::exit_code();
}

constexpr const char* footer =
    "A run's folder predicts and goes on learning; a model file only predicts.\n"
    "  obolus fit rows.csv --out run && obolus serve run\n"
    "  curl -d '{\"a\": 1.5, \"b\": -1, \"y\": \"n\"}' -H 'Content-Type: application/json' \\\n"
    "       http://127.0.0.1:8765/v1/models/run/learn\n"
    "What an answer has said to be learnt survives a kill and a power cut: it stands in RUN/serve, beside a run that\n"
    "stays as it was. docs/serve.md and GET /openapi.json describe the interface.\n"
    "Exit codes: 0 stopped by SIGTERM, 2 wrong arguments, 3 bad data or model, 130 interrupted; both save everything.";

}  // namespace

void add_serve(Verb& app, int& code) {
  Verb* verb = app.add_subcommand("serve", "serve models of `obolus fit` over HTTP, and let them go on learning");
  auto a = std::make_shared<Arguments>();
  verb->add_option("models", a->models, "[NAME=]FOLDER of a run, or a model file")->required();
  verb->add_option("--listen", a->listen, "PORT, HOST or HOST:PORT; other machines need the token")
      ->capture_default_str();
  verb->add_option("--token-file", a->token_file, "the token that requests must bring; default: a new one, if needed");
  verb->add_option("--allow-host", a->allow_hosts, "a further name of this server in requests");
  verb->add_option("--allow-origin", a->allow_origins, "a site whose pages may ask, such as https://example.org");
  constexpr const char* learning = "Learning";
  verb->add_option(
          "--durability", a->durability,
          "always: an answer comes when its rows are on the disk; interval: a power cut may take the last ones")
      ->check(one_of({"always", "interval"}))
      ->capture_default_str()
      ->group(learning);
  verb->add_option("--interval", a->interval, "seconds between syncs with --durability interval")
      ->check(number_between(0.001, 3600))
      ->capture_default_str()
      ->group(learning);
  verb->add_option("--checkpoint-seconds", a->checkpoint_seconds, "seconds between checkpoints, which cut the journal")
      ->check(number_between(0.01, 1e6))
      ->capture_default_str()
      ->group(learning);
  verb->add_flag("--keep-journal", a->serve.keep_journal, "checkpoints leave the journal whole, for `obolus fit`")
      ->group(learning);
  verb->add_option("--id", a->serve.id, "the key of a row's id, for feedback")->capture_default_str()->group(learning);
  verb->add_option("--keep", a->serve.kept.rows, "predicted rows that are kept for feedback")
      ->capture_default_str()
      ->group(learning);
  verb->add_option("--keep-seconds", a->keep_seconds, "for how long")
      ->check(number_between(1, 1e9))
      ->capture_default_str()
      ->group(learning);
  constexpr const char* limits = "Limits";
  verb->add_option("--connections", a->http.max_connections, "connections at once")
      ->check(whole_number(1, 4096))
      ->capture_default_str()
      ->group(limits);
  verb->add_option("--max-body", a->http.max_body, "bytes of a request")
      ->check(whole_number(1024, 1 << 28))
      ->capture_default_str()
      ->group(limits);
  verb->add_option("--max-rows", a->serve.max_rows, "rows of a request")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str()
      ->group(limits);
  verb->add_flag("-q,--quiet", a->quiet, "print errors only");
  verb->footer(footer);
  verb->callback([a, &code] { code = run(*a); });
}

}  // namespace obolus::cli
