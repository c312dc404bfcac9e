#include "live/feed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

namespace obolus::cli {
namespace {

using namespace std::chrono_literals;

const RunName name{"stream", "f2obo", "", 1};

LiveRun running() {
  LiveRun run{.name = name};
  run.horizon = 1000;
  return run;
}

Json row(Round t) { return {{"t", t}, {"f", 0.5 * static_cast<double>(t)}}; }

struct Event {
  std::string kind;
  Json data;
};

// What a reader gets until nothing is left.
struct Reader {
  LiveFeed& feed;
  LiveFeed::Place place;
  std::string text = {};

  explicit Reader(LiveFeed& f, std::optional<std::uint64_t> last_seen = {})
      : feed(f), place(f.place(last_seen ? std::to_string(*last_seen) : "")) {}

  std::vector<Event> events() {
    text.clear();
    const auto write = [&](std::string_view part) {
      text += part;
      return true;
    };
    static_cast<void>(feed.next(place, 0ms, write));
    std::vector<Event> found;
    for (std::size_t at = 0; (at = text.find("event: ", at)) != std::string::npos;) {
      const std::size_t line = text.find('\n', at), end = text.find("\n\n", line);
      found.push_back({text.substr(at + 7, line - at - 7), Json::parse(text.substr(line + 7, end - line - 7))});
      at = end;
    }
    return found;
  }
};

TEST(LiveFeed, TellsAnEarlyReaderEveryRowAndALateOneAllOfThemAtOnce) {
  LiveFeed feed(Json{{"format", 1}});
  feed.run(running());
  Reader early(feed);
  ASSERT_EQ(early.events().front().kind, "reset");
  for (Round t = 1; t <= 5; ++t) EXPECT_FALSE(feed.row(name, row(t)));
  const auto rows = early.events();
  ASSERT_EQ(rows.size(), 5u);
  for (Round t = 1; t <= 5; ++t) EXPECT_EQ(rows[to_size(t - 1)].data.at("row"), row(t));
  const auto late = Reader(feed).events();
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late.front().data.at("runs").at(0).at("columns").at("t"), Json({1, 2, 3, 4, 5}));
  EXPECT_EQ(late.front().data.at("runs").at(0).at("columns").at("f"), Json({0.5, 1, 1.5, 2, 2.5}));
}

TEST(LiveFeed, ALateReaderHasTheAlarmsAndTheLastSummaryThatCameWithRows) {
  LiveFeed feed(Json{{"format", 1}});
  feed.run(running());
  for (Round t = 1; t <= 4; ++t) {
    Json one = row(t);
    if (t == 2) one["alarm"] = "adwin";
    if (t < 4) one["summary"] = {{"rows", 8 * t}};
    feed.row(name, one);
  }
  const Json run = Reader(feed).events().front().data.at("runs").at(0);
  EXPECT_EQ(run.at("alarms"), Json::array({{{"t", 2}, {"text", "adwin"}}}));
  EXPECT_EQ(run.at("summary"), Json({{"rows", 24}}));
  EXPECT_FALSE(run.at("columns").contains("alarm"));
}

TEST(LiveFeed, AReaderGoesOnWhereItWasWhileTheEventsAreHeld) {
  LiveFeed feed(Json{{"format", 1}}, {.events = 4});
  feed.run(running());
  Reader reader(feed);
  static_cast<void>(reader.events());
  for (Round t = 1; t <= 4; ++t) feed.row(name, row(t));
  EXPECT_EQ(Reader(feed, reader.place.id).events().size(), 4u);
  feed.row(name, row(5));
  const auto again = Reader(feed, reader.place.id).events();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again.front().kind, "reset");
  EXPECT_EQ(Reader(feed, reader.place.id + 100).events().front().kind, "reset");
  EXPECT_EQ(reader.events().front().kind, "reset");  // the one that stayed fell behind too
}

TEST(LiveFeed, DropsEverySecondRowWhenThereAreTooManyAndKeepsTheEvaluatedOnes) {
  LiveFeed feed(Json{{"format", 1}}, {.rows = 100});
  feed.run(running());
  int drops = 0;
  for (Round t = 1; t <= 1000; ++t) {
    Json r = row(t);
    if (t % 100 == 0) r["evaluation"] = {{"accuracy", 0.25}};
    drops += feed.row(name, r) ? 1 : 0;
  }
  EXPECT_GT(drops, 1);
  const auto got = Reader(feed).events();
  const Json& run = got.front().data.at("runs").at(0);
  const auto t = run.at("columns").at("t").get<std::vector<Round>>();
  EXPECT_LE(t.size(), 100u);
  EXPECT_TRUE(std::is_sorted(t.begin(), t.end()));
  EXPECT_EQ(t.front(), 1);
  EXPECT_EQ(t.back(), 1000);
  std::vector<Round> evaluated;
  for (std::size_t i = 0; i < t.size(); ++i) {
    EXPECT_EQ(run.at("columns").at("f").at(i), 0.5 * static_cast<double>(t[i]));
    if (!run.at("evaluation").at("accuracy").at(i).is_null()) evaluated.push_back(t[i]);
  }
  EXPECT_EQ(evaluated, (std::vector<Round>{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}));
}

TEST(LiveFeed, HoldsSoManyRowsAndNoMoreWhereEachIsEvaluated) {
  LiveFeed feed(Json{{"format", 1}}, {.rows = 64});
  feed.run(running());
  for (Round t = 1; t <= 5000; ++t) {
    Json r = row(t);
    r["evaluation"] = {{"accuracy", 0.25}};
    feed.row(name, r);
  }
  const auto got = Reader(feed).events();
  EXPECT_LE(got.front().data.at("runs").at(0).at("columns").at("t").size(), 64u);
}

TEST(LiveFeed, ThinsFinishedRunsWhenAllOfThemHoldTooManyNumbers) {
  LiveFeed feed(Json{{"format", 1}}, {.finished = 1000});
  for (std::int64_t seed = 1; seed <= 20; ++seed) {
    LiveRun run{.name = {"stream", "f2obo", "", seed}};
    run.status = "finished";
    for (Round t = 1; t <= 50; ++t) run.columns.append(row(t));
    feed.run(std::move(run));
  }
  const auto got = Reader(feed).events();
  std::size_t numbers = 0;
  for (const Json& run : got.front().data.at("runs")) {
    numbers += 2 * run.at("columns").at("t").size();
    EXPECT_EQ(run.at("columns").at("t").front(), 1);
    EXPECT_EQ(run.at("columns").at("t").back(), 50);
  }
  EXPECT_EQ(got.front().data.at("runs").size(), 20u);
  EXPECT_LE(numbers, 1000u);
}

TEST(LiveFeed, ANewRunReplacesTheOneOfItsName) {
  LiveFeed feed(Json{{"format", 1}});
  for (const Round rounds : {3, 7}) {
    LiveRun run{.name = name};
    run.status = "finished";
    run.rounds = rounds;
    feed.run(std::move(run));
  }
  const auto got = Reader(feed).events();
  ASSERT_EQ(got.front().data.at("runs").size(), 1u);
  EXPECT_EQ(got.front().data.at("runs").at(0).at("rounds"), 7);
}

TEST(LiveFeed, WhatWasNotMeasuredIsNullAndNamesNeedNotBeUtf8) {
  LiveFeed feed(Json{{"title", "a\xff\nb"}});
  LiveRun run = running();
  run.columns.append({{"t", 1}});
  run.columns.append({{"t", 2}, {"f", 1.0}, {"x_values", {0.5, 0.25}}});
  run.columns.append({{"t", 3}, {"f", std::numeric_limits<double>::infinity()}, {"capped", true}});
  feed.run(std::move(run));
  const auto got = Reader(feed).events();
  ASSERT_EQ(got.size(), 1u);
  const Json& shown = got.front().data.at("runs").at(0);
  EXPECT_EQ(shown.at("columns").at("f"), Json({nullptr, 1, nullptr}));
  EXPECT_EQ(shown.at("columns").at("capped"), Json({nullptr, nullptr, 1}));
  EXPECT_EQ(shown.at("x"), Json({{"size", 2}, {"t", {2}}, {"values", {{0.5}, {0.25}}}}));
}

TEST(LiveFeed, AfterTheEndNothingComesAndWhoComesLateIsToldToo) {
  LiveFeed feed(Json{{"format", 1}});
  feed.run(running());
  Reader reader(feed);
  static_cast<void>(reader.events());
  feed.progress({{"done", 3}});
  feed.end({{"status", "stopped"}});
  const auto write = [](std::string_view) { return true; };
  LiveFeed::Place place = reader.place;
  EXPECT_FALSE(feed.next(place, 10s, write));
  const auto late = Reader(feed).events();
  ASSERT_EQ(late.size(), 3u);
  EXPECT_EQ(late[1].kind, "progress");
  EXPECT_EQ(late[2].kind, "end");
}

TEST(LiveFeed, ReadersOfAnyPaceSeeRoundsInOrderWhileItGrows) {
  LiveFeed feed(Json{{"format", 1}}, {.rows = 200, .events = 50});
  feed.run(running());
  std::atomic<int> disorder = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&feed, &disorder, i] {
      LiveFeed::Place place = feed.place("");
      std::uint64_t last = 0;
      const auto write = [&](std::string_view text) {
        if (text.starts_with("id: ")) {
          const std::uint64_t id = std::stoull(std::string(text.substr(4, text.find('\n') - 4)));
          if (id < last) ++disorder;
          last = id;
        }
        for (int spin = 0; spin < i * 1000; ++spin) std::atomic_signal_fence(std::memory_order_seq_cst);
        return true;
      };
      while (feed.next(place, 100ms, write)) {
      }
    });
  for (Round t = 1; t <= 5000; ++t) feed.row(name, row(t));
  feed.end({{"status", "finished"}});
  for (std::thread& r : readers) r.join();
  EXPECT_EQ(disorder, 0);
}

}  // namespace
}  // namespace obolus::cli
