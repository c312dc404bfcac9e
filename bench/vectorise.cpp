// From documents to tf-idf rows, timed and written out for vectorise_vs_sklearn.py, which speaks to it in lines:
//     build/bench/bench/vectorise ARCHIVE THREADS
//     memory              seconds from the documents in memory to the rows of train and of test
//     archive             seconds from the archive to the same
//     cache PATH          seconds to load the tokenised corpus from a file, which is written first
//     write VARIANT STEM  the vocabulary and the rows of a variant into files STEM.…
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "data/corpus_file.hpp"
#include "data/newsgroups_archive.hpp"
#include "obolus/data/vectoriser.hpp"

namespace {

using namespace obolus;

template <class Call>
double seconds(Call&& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct InMemory {
  std::vector<std::vector<char>> kept;
  std::vector<Text> train, test;
};

InMemory read(const std::string& path) {
  InMemory documents;
  ArchiveDocuments archive({path, {}}, {});
  while (archive.next()) {
    archive.append_content(documents.kept.emplace_back());
    const std::vector<char>& text = documents.kept.back();
    const bool train = archive.name().find("-train/") != std::string::npos;
    (train ? documents.train : documents.test).push_back({{text.data(), text.size()}, 0});
  }
  return documents;
}

void vectorise(const TokenisedCorpus& corpus, int threads) {
  Vectoriser vectoriser({});
  vectoriser.fit(corpus, corpus.train);
  const SparseRows train = vectoriser.transform(corpus.train, threads);
  const SparseRows test = vectoriser.transform(corpus.test, threads);
  if (train.rows() == 0 || test.rows() == 0) std::abort();
}

VectoriserOptions variant(const std::string& name) {
  if (name == "tfidf") return {};
  if (name == "counts") return {.weights = Weighting::counts, .normalise = false};
  if (name == "english") return {.stop_words = StopWords::english, .max_features = 10'000};
  if (name == "hashing") return {.weights = Weighting::counts, .hash_bits = 18};
  if (name == "hashed_tfidf") return {.hash_bits = 18};
  std::cerr << "vectorise: no variant is called '" << name << "'\n";
  std::exit(2);
}

template <class T>
void write(const std::string& path, const std::vector<T>& numbers) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(numbers.size() * sizeof(T)));
}

void write_rows(const std::string& stem, const SparseRows& rows) {
  write(stem + ".start", rows.start);
  write(stem + ".column", rows.column);
  write(stem + ".value", rows.value);
}

void write_variant(const TokenisedCorpus& corpus, const std::string& name, const std::string& stem) {
  Vectoriser vectoriser(variant(name));
  vectoriser.fit(corpus, corpus.train);
  std::ofstream terms(stem + ".terms", std::ios::binary);
  for (const std::int32_t term : vectoriser.vocabulary()) terms << corpus.terms[static_cast<std::size_t>(term)] << '\n';
  write_rows(stem + ".train", vectoriser.transform(corpus.train));
  write_rows(stem + ".test", vectoriser.transform(corpus.test));
}

void answer(const std::string& line, const std::string& archive, const InMemory& documents, int threads) {
  std::istringstream words(line);
  std::string verb, first, second;
  words >> verb >> first >> second;
  double spent = 0;
  if (verb == "memory") {
    spent = seconds(
        [&] { vectorise(tokenise(documents.train, documents.test, {"any"}, Encoding::latin1, threads), threads); });
  } else if (verb == "archive") {
    spent = seconds([&] { vectorise(newsgroups_of_archive({archive, {}}, threads), threads); });
  } else if (verb == "cache") {
    save_corpus(first, newsgroups_of_archive({archive, {}}, threads));
    spent = seconds([&] { (void)load_corpus(first); });
  } else if (verb == "write") {
    write_variant(newsgroups_of_archive({archive, {}}, threads), first, second);
  }
  std::cout << spent << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: vectorise ARCHIVE THREADS\n";
    return 2;
  }
  try {
    const InMemory documents = read(argv[1]);
    for (std::string line; std::getline(std::cin, line);) answer(line, argv[1], documents, std::atoi(argv[2]));
  } catch (const std::exception& e) {
    std::cerr << "vectorise: " << e.what() << '\n';
    return 1;
  }
}
