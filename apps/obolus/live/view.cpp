#include "live/view.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <utility>

#include "about.hpp"
#include "fit/stream/fit_run.hpp"
#include "live/feed.hpp"
#include "live/records.hpp"
#include "live/server.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/version.hpp"
#include "page.hpp"
#include "report/catalogue.hpp"
#include "report/config_facts.hpp"
#include "run/profile_json.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto between_rows = 50ms;
constexpr auto between_progress = 400ms;
constexpr auto between_summaries = 1s;
constexpr auto patience_at_the_end = 2s;

void put(Json& row, const Profile& x) {
  row[x.whole() ? "x_values" : "x_quantiles"] = x.numbers;
  row["x_size"] = x.size;
}

Json report(Json source) {
  Json json = {{"format", 1}, {"title", source["name"]}};
  json["made"] = {{"obolus", version_text}, {"date", now()}, {"command", command_line()}};
  json["catalogue"] = catalogue_json();
  json["sources"] = Json::array({std::move(source)});
  return json;
}

Json source(const std::string& folder, const char* kind, const std::string& config, Json streams) {
  return {{"name", folder},     {"kind", kind},
          {"config", config},   {"about", Json::array({Json::parse(about_line())})},
          {"summary", nullptr}, {"streams", std::move(streams)}};
}

Json stream(const std::string& name, const std::string& problem, const std::vector<DriftMark>& marks) {
  Json json{{"name", name}, {"problem", problem}, {"marks", Json::array()}};
  for (const DriftMark& m : marks) json["marks"].push_back({{"t", m.t}, {"text", m.text}});
  return json;
}

Json report_on(const Experiment& experiment, const std::string& folder) {
  const std::string config = experiment.config(), &problem = experiment.problem();
  return report(
      source(folder, "run", config, Json::array({stream(problem, problem, drift_marks(config, experiment.rounds()))})));
}

Json report_on(const Comparison& comparison, const std::string& folder) {
  Json streams = Json::array();
  ComparisonFacts facts = facts_of_comparison(comparison.config(), comparison.horizon());
  for (const auto& [name, problem] : comparison.streams())
    streams.push_back(stream(name, problem, facts.streams[name].marks));
  Json json = source(folder, "comparison", comparison.config(), std::move(streams));
  const Ranking& ranking = comparison.ranking();
  json["ranking"] = {{"by", ranking.by}, {"rank", ranking.rank == Rank::max ? "most" : "least"}};
  return report(std::move(json));
}

}  // namespace

Json live_report(const std::string& folder, const std::string& config, const std::string& name) {
  return report(source(folder, "run", config, Json::array({stream(name, name, {})})));
}

LiveView::LiveView(const std::string& address, const Json& report, const char* unit)
    : unit_(unit), feed_(std::make_unique<LiveFeed>(report)), between_rows_(between_rows) {
  server_ = std::make_unique<LiveServer>(parse_address(address), live_page(), *feed_);
  fmt::print(stderr, "Live: {}\n", server_->url());
  std::fflush(stderr);
}

LiveView::LiveView(const std::string& address, const Experiment& experiment, const std::string& folder)
    : LiveView(address, report_on(experiment, folder), "rounds") {
  name_ = {experiment.problem(), experiment.optimiser(), "", experiment.seed()};
  LiveRun run{.name = name_};
  run.horizon = experiment.rounds();
  feed_->run(std::move(run));
}

LiveView::LiveView(const std::string& address, const Comparison& comparison, const std::string& folder)
    : LiveView(address, report_on(comparison, folder), "jobs") {}

LiveView::LiveView(const std::string& address, const std::string& config, const std::string& folder,
                   const RunName& name)
    : LiveView(address, live_report(folder, config, name.stream), "rows") {
  name_ = name;
  feed_->run(LiveRun{.name = name_});
}

LiveView::~LiveView() = default;

void LiveView::line(const fit::FitTraceLine& line) {
  const auto since = Clock::now() - sent_at_;
  if (!line.alarm && since < between_rows_ && !(line.evaluated && since >= between_evaluations_)) return;
  Json json = Json::parse(line.text);
  const auto t = json.at("t").get<Round>();
  replay(t);
  if (t <= sent_) return;
  sent_ = t;
  sent_at_ = Clock::now();
  if (sent_at_ - summed_at_ >= between_summaries_) {
    json["summary"] = Json::parse(line.so_far().json());
    summed_at_ = Clock::now();
    between_summaries_ = std::max<Clock::duration>(between_summaries, 20 * (summed_at_ - sent_at_));
  }
  if (feed_->row(name_, json)) slow_down();
}

void LiveView::end(const fit::FitSummary& summary) {
  feed_->finish(name_, [&](LiveRun& run) {
    run.status = summary.name();
    run.rounds = summary.rounds;
    run.more["summary"] = Json::parse(summary.json());
  });
  finish(summary.name());
}

void LiveView::recall(const std::string& folder) {
  const std::string path = folder + "/trace.jsonl";
  if (std::filesystem::exists(path)) past_ = read_trace(path);
}

// Rounds that the run will repeat, since no checkpoint had them, are left out.
void LiveView::replay(Round before) {
  if (!past_) return;
  const TraceColumns past = std::move(*past_);
  past_.reset();
  const std::vector<Profile> profiles = past.profiles();
  auto x = profiles.begin();
  auto alarm = past.alarms().begin();
  for (std::size_t i = 0; i < past.rows(); ++i) {
    const auto t = static_cast<Round>(past.t()[i]);
    if (t >= before) return;
    for (; alarm != past.alarms().end() && alarm->t < t; ++alarm)  // of a row that was thinned away
      feed_->row(name_, {{"t", alarm->t}, {"alarm", alarm->by}});
    Json row;
    if (alarm != past.alarms().end() && alarm->t == t) row["alarm"] = (alarm++)->by;
    for (const auto& column : past.numbers())
      if (const double v = column.at(i); std::isfinite(v)) row[column.name] = v;
    for (const auto& column : past.evaluation())
      if (const double v = column.at(i); std::isfinite(v)) row["evaluation"][column.name] = v;
    if (x != profiles.end() && x->t == t) put(row, *x++);
    feed_->row(name_, row);
  }
}

void LiveView::row(const Row& row, bool last) {
  replay(row.t);
  // Some rounds of every octave: a fast run does thousands of rounds in the first twentieth of a second, and axes may
  // be logarithmic.
  const auto since = Clock::now() - sent_at_;
  const bool wanted = !row.evaluation.empty() || profiled(row.t) || x_.t == row.t;
  if (last || since >= between_rows_ || (wanted && since >= between_evaluations_)) send(row);
}

void LiveView::send(const Row& row) {
  sent_ = row.t;
  sent_at_ = Clock::now();
  Json json = row_json(row);
  if (x_.t == row.t) put(json, x_);
  if (feed_->row(name_, json)) slow_down();
}

// Of the rows that may be held, about half are left: no more than as many again in twice the time.
void LiveView::slow_down() {
  between_evaluations_ = (sent_at_ - start_) / (LiveFeed::Limits().rows / 2);
  between_rows_ = std::max(between_rows_, between_evaluations_);
}

void LiveView::cell(const std::string& line) {
  if (auto run = run_of_cell(line)) feed_->run(std::move(*run));
}

void LiveView::progress(const Pace& pace, std::int64_t done, std::int64_t of) {
  const auto now = Clock::now();
  if (now - told_at_ < between_progress && pace.paused() == paused_ && done != of) return;
  told_at_ = now;
  paused_ = pace.paused();
  const auto left = pace.remaining(done, of);
  feed_->progress({{"done", done},
                   {"of", of},
                   {"unit", unit_},
                   {"seconds", pace.seconds()},
                   {"remaining", left ? Json(*left) : Json(nullptr)},
                   {"paused", paused_}});
}

void LiveView::end(const RunSummary& summary) {
  constexpr const char* names[] = {"finished", "stopped", "diverged"};
  const char* status = names[to_size(summary.end.status)];
  if (summary.last.t > sent_) send(summary.last);
  feed_->finish(name_, [&](LiveRun& run) {
    run.status = status;
    run.quantity = summary.end.quantity;
    run.rounds = summary.end.rounds;
    if (summary.x.size > 0) run.more["final"] = distribution_json(summary.x);
    if (summary.bound && std::isfinite(summary.bound->value)) run.more["bound"] = summary.bound->value;
  });
  finish(status);
}

void LiveView::end(bool finished) { finish(finished ? "finished" : "stopped"); }

void add_live(Verb& verb, std::optional<std::string>& address) {
  verb.add_option_function(
          "--live",
          [&address](const std::string& text) {
            static_cast<void>(parse_address(text));  // refuses a wrong address before anything is read
            address = text;
          },
          "show progress in the browser: prints an address on this machine, or at ADDR (PORT, HOST:PORT); other "
          "machines need the printed token")
      ->optional_value()
      ->type_name("[ADDR]");
}

void LiveView::finish(const char* status) {
  feed_->end({{"status", status}});
  server_->drain(patience_at_the_end);
  server_.reset();
}

}  // namespace obolus::cli
