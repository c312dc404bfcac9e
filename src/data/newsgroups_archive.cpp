#include "data/newsgroups_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "data/counting_crew.hpp"
#include "data/sha256.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr std::size_t batch_bytes = std::size_t{1} << 18;
constexpr std::string_view folder_of_train = "20news-bydate-train", folder_of_test = "20news-bydate-test";

using Digest = Sha256::Digest;

struct Document {
  bool test;
  std::string group, name;
  std::size_t number;  // under which it was counted

  [[nodiscard]] auto key() const { return std::tie(test, group, name); }
};

// The last three names of the path. Errors quote the path, whatever bytes it contains.
Document document_of(const std::string& path, std::size_t number, const std::string& source) {
  const auto refuse = [&](const char* expected) {
    throw DataError(fmt::format("{}: entry {:?}: expected {}", source, path, expected));
  };
  std::array<std::string_view, 3> part;
  std::string_view rest = path;
  for (std::size_t i = 3; i-- > 0;) {
    const std::size_t slash = rest.rfind('/');
    part[i] = slash == rest.npos ? rest : rest.substr(slash + 1);
    if (slash == rest.npos && i > 0) refuse("…/20news-bydate-train/CLASS/NAME or …/20news-bydate-test/CLASS/NAME");
    rest = slash == rest.npos ? std::string_view() : rest.substr(0, slash);
    const bool plain = std::all_of(part[i].begin(), part[i].end(), [](char c) { return c > ' ' && c < 0x7F; });
    if (part[i].empty() || part[i] == "." || part[i] == ".." || !plain) refuse("names of plain characters");
  }
  if (part[0] != folder_of_train && part[0] != folder_of_test)
    refuse("…/20news-bydate-train/CLASS/NAME or …/20news-bydate-test/CLASS/NAME");
  return {part[0] == folder_of_test, std::string(part[1]), std::string(part[2]), number};
}

bool is_hidden(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path.starts_with("__MACOSX/") || path[slash == path.npos ? 0 : slash + 1] == '.';
}

// Unpacks on this thread and hands batches to the crew.
std::vector<Document> read_documents(ArchiveDocuments& archive, const std::string& source, CountingCrew& crew) {
  std::vector<Document> documents;
  Batch batch;
  std::vector<std::size_t> begins;
  const auto flush = [&] {
    begins.push_back(batch.owned.size());
    const std::string_view all(batch.owned.data(), batch.owned.size());
    for (std::size_t i = 0; i + 1 < begins.size(); ++i)
      batch.items.push_back(
          {documents.size() + 1 - begins.size() + i, all.substr(begins[i], begins[i + 1] - begins[i])});
    crew.add(std::exchange(batch, {}));
    begins.clear();
  };
  while (archive.next()) {
    if (is_hidden(archive.name())) continue;
    documents.push_back(document_of(archive.name(), documents.size(), source));
    if (batch.owned.empty()) batch.owned.reserve(2 * batch_bytes);
    begins.push_back(batch.owned.size());
    archive.append_content(batch.owned);
    if (batch.owned.size() >= batch_bytes) flush();
  }
  flush();
  return documents;
}

void sort_documents(std::vector<Document>& documents, const std::string& source) {
  std::sort(documents.begin(), documents.end(), [](const Document& a, const Document& b) { return a.key() < b.key(); });
  const auto twice = std::adjacent_find(documents.begin(), documents.end(),
                                        [](const Document& a, const Document& b) { return a.key() == b.key(); });
  if (twice != documents.end())
    throw DataError(fmt::format("{}: document {}/{}: given twice, expected once", source, twice->group, twice->name));
}

std::vector<std::string> classes_of(const std::vector<Document>& documents) {
  std::vector<std::string> classes;
  for (const Document& d : documents)
    if (classes.empty() || classes.back() != d.group) classes.push_back(d.group);
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

PartOrder order_of(bool test, const std::vector<Document>& documents, const std::vector<std::string>& classes) {
  PartOrder order;
  for (const Document& d : documents) {
    if (d.test != test) continue;
    order.document.push_back(d.number);
    order.label.push_back(
        static_cast<std::int32_t>(std::lower_bound(classes.begin(), classes.end(), d.group) - classes.begin()));
  }
  return order;
}

std::string digest_of(const std::vector<Document>& documents, const std::vector<Digest>& contents) {
  Sha256 sum;
  for (const Document& d : documents) {
    const std::string name = fmt::format("{}/{}/{}", d.test ? "test" : "train", d.group, d.name);
    sum.add(name.c_str(), name.size() + 1);
    sum.add(contents[d.number].data(), contents[d.number].size());
  }
  return sum.finish_in_hexadecimal();
}

void verify_counts(const char* part, const std::vector<std::int32_t>& labels, const std::vector<std::string>& classes,
                   const std::vector<std::int64_t>& expected, const std::string& source) {
  std::vector<std::int64_t> got(classes.size());
  for (const std::int32_t label : labels) ++got[to_size(label)];
  if (got.size() != expected.size())
    throw DataError(fmt::format("{}: got {} classes, expected {}", source, got.size(), expected.size()));
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected[i])
      throw DataError(
          fmt::format("{}: got {} documents of {} in {}, expected {}", source, got[i], classes[i], part, expected[i]));
}

}  // namespace

const CorpusIdentity& newsgroups_identity() {
  static const CorpusIdentity identity{
      .train = {480, 584, 591, 590, 578, 593, 585, 594, 598, 597, 600, 595, 591, 594, 593, 599, 546, 564, 465, 377},
      .test = {319, 389, 394, 392, 385, 395, 390, 396, 398, 397, 399, 396, 393, 396, 394, 398, 364, 376, 310, 251},
      .digest = "5c66a3fa923d76d502b198cf9444480581bc441185e3538f94acc03af7f4ce06"};
  return identity;
}

TokenisedCorpus newsgroups_of_archive(const ArchiveSource& source, int threads, const CorpusIdentity& expected,
                                      const ArchiveLimits& limits) {
  ArchiveDocuments archive(source, limits);
  std::vector<Digest> contents(limits.entries);  // of full size from the start, because threads write into it
  CountingCrew crew(Encoding::latin1, threads, [&](std::size_t document, std::string_view text) {
    Sha256 sum;
    sum.add(text.data(), text.size());
    contents[document] = sum.finish();
  });
  std::vector<Document> documents = read_documents(archive, source.name, crew);
  std::vector<TermCounter> counters = crew.finish();
  sort_documents(documents, source.name);
  std::vector<std::string> classes = classes_of(documents);
  const PartOrder train = order_of(false, documents, classes), test = order_of(true, documents, classes);
  verify_counts("train", train.label, classes, expected.train, source.name);
  verify_counts("test", test.label, classes, expected.test, source.name);
  if (const std::string digest = digest_of(documents, contents); !expected.digest.empty() && digest != expected.digest)
    throw DataError(
        fmt::format("{}: digest of the documents: got {}, expected {}", source.name, digest, expected.digest));
  return join(std::move(counters), std::move(classes), train, test, threads);
}

}  // namespace obolus
