// Reuters-21578 as JSON: files reuters-NNN.json, each a list of { id, date, title, body, topics, … }. News items with
// exactly one topic become rows, unless they have no text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

#include "data/streams/json_text.hpp"
#include "data/streams/pinned_files.hpp"
#include "data/streams/text_row.hpp"
#include "data/streams/text_streams.hpp"
#include "data/streams/timestamp.hpp"
#include "obolus/core/error.hpp"

namespace obolus {
namespace {

using nlohmann::json;

std::string_view list_within(std::string_view path) {
  const std::string_view name = end_of_path(path, 1);
  return end_of_path(path, 2).starts_with("full/") && name.starts_with("reuters-") && name.ends_with(".json")
             ? name
             : std::string_view();
}

struct News {
  double date = 0;
  std::int64_t id = 0;
  std::string row;

  [[nodiscard]] auto key() const { return std::tie(date, id); }
};

class NewsReader {
 public:
  NewsReader(std::string source, std::string file) : where_(fmt::format("{}: {}", source, file)) {}

  void read(const std::string& content, std::vector<News>& to) {
    const json all = json::parse(content, nullptr, false);
    if (!all.is_array()) throw DataError(where_ + ": expected a JSON list of news items");
    for (const json& one : all) {
      ++number_;
      if (!one.is_object()) refuse("entry", one, "an object");
      const auto topics = one.find("topics");
      if (topics == one.end()) continue;
      if (!topics->is_array()) refuse("topics", *topics, "a list");
      if (topics->size() == 1) add(one, topics->front(), to);
    }
  }

 private:
  void add(const json& one, const json& topic, std::vector<News>& to) const {
    if (!topic.is_string()) refuse("topics", topic, "texts");
    const std::string title = text(one, "title"), body = text(one, "body");
    if (title.empty() && body.empty()) return;
    const std::string id = text(one, "id");
    const auto date = wire_date(text(one, "date"));
    if (!date) refuse("date", text(one, "date"), "one such as 26-FEB-1987 15:01:01.79");
    if (id.empty() || id.size() > 9 || id.find_first_not_of("0123456789") != id.npos)
      refuse("id", id, "a whole number");
    const auto& own = reuters_topics();
    const auto label = std::find(own.begin(), own.end(), topic.get<std::string>()) - own.begin() + 1;
    const std::array<TextPart, 2> parts{{{"title", title}, {"body", body}}};
    to.push_back({*date, std::stoll(id), text_row(static_cast<int>(label), id, parts, Encoding::utf8)});
  }
  [[nodiscard]] std::string text(const json& one, const char* key) const {
    const auto found = one.find(key);
    if (found == one.end()) return {};
    if (!found->is_string()) refuse(key, *found, "a text");
    return found->get<std::string>();
  }
  [[noreturn]] void refuse(const char* what, const json& got, const char* expected) const {
    throw DataError(
        fmt::format("{}: news {}: {}: got {}, expected {}", where_, number_, what, shortened(got), expected));
  }

  std::string where_;
  int number_ = 0;
};

}  // namespace

// The ten most frequent topics of news items with one topic.
const std::vector<std::string>& reuters_topics() {
  static const std::vector<std::string> topics{"earn",     "acq",          "crude", "trade", "money-fx",
                                               "interest", "money-supply", "ship",  "sugar", "coffee"};
  return topics;
}

std::string reuters_rows(const ArchiveSource& source, const std::string& digest) {
  std::vector<News> news;
  for (const PinnedFile& file : pinned_files(source, {.digest = digest, .name_within = list_within}))
    NewsReader(source.name, file.name).read(file.content, news);
  std::stable_sort(news.begin(), news.end(), [](const News& a, const News& b) { return a.key() < b.key(); });
  std::string all;
  for (const News& one : news) all += one.row;
  return all;
}

}  // namespace obolus
