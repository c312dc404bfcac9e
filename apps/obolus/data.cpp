// obolus data get|list|path: corpora that problems read, brought here once.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "data/corpus_file.hpp"
#include "data/newsgroups_archive.hpp"
#include "download.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/nearest.hpp"
#include "obolus/data/newsgroups.hpp"
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

void get(const Arguments& a) {
  const std::string path = newsgroups_path();
  const TokenisedCorpus corpus = fetched(a);
  save_corpus(path, corpus);
  fmt::print("20news: {}\n{}\n", sizes(corpus), path);
}

void list() {
  Table table({"name", "what", "here"}, "lll");
  std::string here = "no: obolus data get 20news";
  const std::string path = newsgroups_path();
  if (std::filesystem::exists(path)) {
    try {
      here = sizes(load_newsgroups());
    } catch (const DataError&) {
      here = "damaged, or of another version: obolus data get 20news";
    }
  }
  table.row({"20news", "20 Newsgroups, split by date, headers kept", here});
  fmt::print("{}", table.text());
}

void add_get(CLI::App& data, int& code) {
  CLI::App* verb = data.add_subcommand("get", "fetch a corpus, verify it, and keep it tokenised");
  auto a = std::make_shared<Arguments>();
  verb->add_option("name", a->name, "which: 20news")->required()->check([](const std::string& name) {
    return name == "20news" ? std::string() : "got '" + name + "', expected 20news" + suggestion(name, {"20news"});
  });
  CLI::Option* from = verb->add_option("--from", a->from, "an archive at hand, in any form libarchive unpacks");
  verb->add_option("--url", a->url, fmt::format("where to fetch the archive; default: {}", home))->excludes(from);
  verb->add_option("--threads", a->threads, "threads to use; results do not depend on it")->check(CLI::Range(1, 256));
  verb->callback([a, &code] {
    get(*a);
    code = success;
  });
}

}  // namespace

void add_data(CLI::App& app, int& code) {
  CLI::App* verb = app.add_subcommand("data", "corpora that problems read: fetch, list, find");
  verb->require_subcommand(1);
  add_get(*verb, code);
  verb->add_subcommand("list", "what there is, and what is here")->callback(list);
  verb->add_subcommand("path", "the folder where corpora are kept")->callback([] {
    fmt::print("{}\n", data_folder());
  });
  verb->footer(
      "Corpora are kept in $OBOLUS_DATA, or else in $XDG_CACHE_HOME/obolus, or else in ~/.cache/obolus.\n"
      "Exit codes: 0 done, 2 wrong arguments, 3 the data cannot be had or is not what it should be.");
}

}  // namespace obolus::cli
