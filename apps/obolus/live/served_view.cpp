#include "live/served_view.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "fit/stream/trace_line.hpp"
#include "live/feed.hpp"
#include "live/view.hpp"
#include "page.hpp"

namespace obolus::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto between_rows = 200ms;
constexpr auto heartbeat = 10s;
constexpr auto look_after_reader = 250ms;

}  // namespace

struct ServedView::Model {
  explicit Model(serve::ServedModel& served)
      : name{served.name(), "served", "", 0}, feed(live_report(served.name(), "", served.name())) {
    feed.run(LiveRun{.name = name});
    alarms = served.state().read()->evaluation.alarms();
    row(*served.state().read());
    served.on_learnt = [this](const serve::ServedState& state) {
      if (Clock::now() - sent >= between_rows) row(state);
    };
  }

  void row(const serve::ServedState& state) {
    if (state.fit.rounds() == round) return;
    round = state.fit.rounds();
    sent = Clock::now();
    const double seconds = std::chrono::duration<double>(sent - start).count();
    const bool alarmed = std::exchange(alarms, state.evaluation.alarms()) != state.evaluation.alarms();
    fit::format_trace_line({round, state.rows, seconds, alarmed ? state.alarm : "", true}, state.fit, state.evaluation,
                           line);
    feed.row(name, Json::parse(line));
  }

  RunName name;
  LiveFeed feed;
  Clock::time_point start = Clock::now(), sent{};
  std::int64_t round = -1, alarms = 0;
  std::string line;
};

ServedView::ServedView(const serve::Models& models) {
  for (const auto& model : models) models_.push_back(std::make_unique<Model>(*model));
}

ServedView::~ServedView() = default;

void ServedView::close() {
  for (const auto& model : models_) model->feed.close();
}

std::optional<serve::HttpAnswer> ServedView::answer(const serve::HttpRequest& request) {
  if (request.path != "/" && request.path != "/events") return std::nullopt;
  if (request.method != "GET" && request.method != "HEAD") {
    serve::HttpAnswer answer = serve::refused(405, "expected GET, HEAD");
    answer.headers.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  const std::string wanted = request.parameter("model");
  const auto found =
      std::ranges::find_if(models_, [&](const auto& model) { return wanted.empty() || model->name.stream == wanted; });
  if (found == models_.end()) return serve::refused(404, "no model of this name; see /v1/models");
  if (request.path == "/events") return events(request, **found);
  serve::HttpAnswer answer{.body = live_page(), .type = "text/html; charset=utf-8"};
  answer.headers = {{"Content-Security-Policy", live_page_policy}, {"Referrer-Policy", "no-referrer"}};
  return answer;
}

serve::HttpAnswer ServedView::events(const serve::HttpRequest& request, Model& model) {
  serve::HttpAnswer answer{.type = "text/event-stream"};
  if (request.method == "HEAD") return answer;
  if (++streams_ > max_streams) {
    --streams_;
    return serve::refused(503, "too many pages are open", 5);
  }
  const std::shared_ptr<void> place_held(nullptr, [this](void*) { --streams_; });
  auto place = model.feed.place(request.header("Last-Event-ID"));
  auto written = Clock::now() - heartbeat;
  answer.stream = [&model, place, written, place_held](const std::function<bool(std::string_view)>& write) mutable {
    bool whole = true;
    const auto send = [&](std::string_view text) {
      written = Clock::now();
      return whole = write(text);
    };
    if (!model.feed.next(place, look_after_reader, send)) return false;
    if (Clock::now() - written > heartbeat) (void)send(":\n\n");
    return whole;
  };
  return answer;
}

}  // namespace obolus::cli
