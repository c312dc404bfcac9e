// The Large Movie Review Dataset as JSON: reviews.json, a list of { t: text, s: 0 or 1 }, sorted by class and therefore
// shuffled.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

#include "data/streams/json_text.hpp"
#include "data/streams/pinned_files.hpp"
#include "data/streams/text_row.hpp"
#include "data/streams/text_streams.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/rng.hpp"

namespace obolus {
namespace {

using nlohmann::json;

constexpr std::string_view line_break = "<br />";
constexpr ArchiveLimits reviews_limits{
    .entries = 1'000, .entry_bytes = std::size_t{1} << 27, .total_bytes = std::size_t{1} << 28};

std::string_view reviews_within(std::string_view path) {
  const std::string_view name = end_of_path(path, 1);
  return name == "reviews.json" ? name : std::string_view();
}

std::string without_line_breaks(std::string_view text) {
  std::string plain;
  for (std::size_t end = text.find(line_break); end != text.npos; end = text.find(line_break)) {
    plain.append(text.substr(0, end)) += ' ';
    text.remove_prefix(end + line_break.size());
  }
  return plain.append(text);
}

std::string row_of(const json& review, std::size_t number, const std::string& source) {
  const bool whole = review.is_object() && review.contains("t") && review.contains("s") && review["t"].is_string() &&
                     review["s"].is_number_integer() && (review["s"] == 0 || review["s"] == 1);
  if (!whole)
    throw DataError(fmt::format("{}: review {}: got {}, expected a text t and a number s, 0 or 1", source, number + 1,
                                shortened(review)));
  const std::string text = without_line_breaks(review["t"].get_ref<const std::string&>());
  const std::array<TextPart, 1> parts{{{"text", text}}};
  return text_row(review["s"].get<int>() + 1, fmt::format("{}", number + 1), parts, Encoding::utf8);
}

}  // namespace

std::string imdb_rows(const ArchiveSource& source, const std::string& digest) {
  const auto files = pinned_files(source, {.digest = digest, .name_within = reviews_within, .limits = reviews_limits});
  const json reviews = json::parse(files.front().content, nullptr, false);
  if (!reviews.is_array()) throw DataError(source.name + ": reviews.json: expected a JSON list of reviews");
  std::vector<std::size_t> order(reviews.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng(1).child("imdb").shuffle(order);
  std::string all;
  for (const std::size_t i : order) all += row_of(reviews[i], i, source.name);
  return all;
}

}  // namespace obolus
