#include "data_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "data/streams/text_streams.hpp"
#include "obolus/core/error.hpp"
#include "obolus/data/newsgroups.hpp"
#include "obolus/data/pictures.hpp"
#include "option_flags.hpp"
#include "terminal.hpp"

namespace obolus::cli {
namespace {

DataSet newsgroups() {
  return {"20news", "20 Newsgroups, split by date, headers kept", "none attached", newsgroups_path, [] {
            const TokenisedCorpus corpus = load_newsgroups();
            return fmt::format("{} + {} documents in {} classes, {} terms", count(corpus.train.documents()),
                               count(corpus.test.documents()), corpus.classes.size(),
                               count(static_cast<std::int64_t>(corpus.terms.size())));
          }};
}

DataSet pictures(PictureSet set) {
  const bool digits = set == PictureSet::mnist;
  return {std::string(name_of(set)), digits ? "handwritten digits" : "articles of clothing",
          digits ? "none attached" : "MIT", [set] { return pictures_folder(set); },
          [set] {
            const LabelledPictures all = load_pictures(set);
            return fmt::format("{} + {} pictures of {} by {} in {} classes", count(all.train.count()),
                               count(all.test.count()), all.train.height, all.train.width, all.classes);
          }};
}

std::int64_t lines_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::int64_t lines = 0;
  std::vector<char> block(std::size_t{1} << 18);
  do {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    lines += std::count(block.begin(), block.begin() + file.gcount(), '\n');
  } while (file.gcount() > 0);
  return lines;
}

DataSet text(const TextStream& stream) {
  return {stream.name, fmt::format("{}, {}", stream.title, stream.order), stream.licence,
          [&stream] { return rows_path(stream); },
          [&stream] {
            return fmt::format("{} rows in {} classes", count(lines_of(rows_path(stream))), stream.classes.size());
          }};
}

std::vector<DataSet> all_sets() {
  std::vector<DataSet> all{newsgroups()};
  for (const auto& [set, name] : EnumNames<PictureSet>::values) all.push_back(pictures(set));
  for (const TextStream& stream : text_streams()) all.push_back(text(stream));
  return all;
}

}  // namespace

const std::vector<DataSet>& data_sets() {
  static const std::vector<DataSet> all = all_sets();
  return all;
}

std::vector<std::string> data_set_names() {
  std::vector<std::string> names;
  for (const DataSet& set : data_sets()) names.push_back(set.name);
  return names;
}

const DataSet& data_set_named(const std::string& name) {
  for (const DataSet& set : data_sets())
    if (set.name == name) return set;
  throw ConfigError(fault_of_name(name, data_set_names()));
}

}  // namespace obolus::cli
