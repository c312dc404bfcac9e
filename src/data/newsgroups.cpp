#include "obolus/data/newsgroups.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "data/corpus_file.hpp"
#include "obolus/core/error.hpp"

namespace obolus {
namespace {

constexpr const char* remedy = "obolus data get 20news [--from ARCHIVE]";

std::string setting(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets one
  return value ? value : "";
}

}  // namespace

std::string data_folder() {
  if (const std::string own = setting("OBOLUS_DATA"); !own.empty()) return own;
  if (const std::string cache = setting("XDG_CACHE_HOME"); !cache.empty()) return cache + "/obolus";
  if (const std::string home = setting("HOME"); !home.empty()) return home + "/.cache/obolus";
  throw ConfigError("no folder for data: none of OBOLUS_DATA, XDG_CACHE_HOME and HOME is set");
}

std::string newsgroups_path() { return data_folder() + "/20news.corpus"; }

TokenisedCorpus load_newsgroups() {
  const std::string path = newsgroups_path();
  if (!std::filesystem::exists(path))
    throw DataError(fmt::format("20 Newsgroups: not found at {}; to fetch it:\n  {}", path, remedy));
  try {
    return load_corpus(path);
  } catch (const DataError& e) {
    throw DataError(fmt::format("{}; to fetch it again:\n  {}", e.what(), remedy));
  }
}

}  // namespace obolus
