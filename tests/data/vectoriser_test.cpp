#include "obolus/data/vectoriser.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "tests/data/fixture.hpp"

namespace {

using namespace obolus;
using nlohmann::json;
using test::fixture;
using test::tokenised;

VectoriserOptions options_of(const json& given) {
  VectoriserOptions options;
  if (given.contains("weights")) options.weights = Weighting::counts;
  if (given.contains("stop_words")) options.stop_words = StopWords::english;
  options.max_features = given.value("max_features", 0);
  options.hash_bits = given.value("hash_bits", 0);
  options.normalise = given.value("normalise", true);
  return options;
}

std::vector<std::string> names(const TokenisedCorpus& corpus, const Vectoriser& vectoriser) {
  std::vector<std::string> out;
  for (const std::int32_t term : vectoriser.vocabulary()) out.push_back(corpus.terms[to_size(term)]);
  return out;
}

// Values are stored as float and at most 10 in size here: half a unit in the last place is 5e-7.
void expect_rows(const SparseRows& got, const json& expected, const std::string& what) {
  ASSERT_EQ(to_size(got.rows()), expected.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::map<std::int32_t, double> row;
    for (std::size_t k = 0; k < expected[i][0].size(); ++k) row[expected[i][0][k]] = expected[i][1][k];
    for (std::int64_t k = got.start[i]; k < got.start[i + 1]; ++k) {
      row[got.column[k]] -= static_cast<double>(got.value[k]);
      EXPECT_LT(got.column[k], got.columns);
      EXPECT_TRUE(k == got.start[i] || got.column[k - 1] < got.column[k]);
    }
    for (const auto& [column, difference] : row)
      EXPECT_NEAR(difference, 0, 1e-6) << what << ", row " << i << ", column " << column;
  }
}

TEST(VectoriserTest, GivesTheNumbersOfScikitLearn) {
  for (const json& c : fixture()["cases"]) {
    const std::string what = c["corpus"].get<std::string>() + " " + c["options"].dump();
    const TokenisedCorpus corpus = tokenised(c["corpus"]);
    Vectoriser vectoriser(options_of(c["options"]));
    vectoriser.fit(corpus, corpus.train);
    EXPECT_EQ(names(corpus, vectoriser), c["vocabulary"].get<std::vector<std::string>>()) << what;
    expect_rows(vectoriser.transform(corpus.train), c["train"], what + ", train");
    expect_rows(vectoriser.transform(corpus.test), c["test"], what + ", test");
  }
}

TokenisedCorpus corpus_of(const std::vector<std::string>& train) {
  std::vector<Text> texts;
  for (const std::string& t : train) texts.push_back({t, 0});
  return tokenise(texts, {}, {"all"}, Encoding::utf8);
}

TEST(VectoriserTest, AmongEquallyFrequentTermsTheAlphabeticallyFirstAreKept) {
  const TokenisedCorpus corpus = corpus_of({"dd cc bb aa zz zz", "ee zz"});
  Vectoriser vectoriser({.max_features = 3});
  vectoriser.fit(corpus, corpus.train);
  EXPECT_EQ(names(corpus, vectoriser), (std::vector<std::string>{"aa", "bb", "zz"}));
}

TEST(VectoriserTest, StopWordsDoNotCountTowardsTheLimit) {
  const TokenisedCorpus corpus = corpus_of({"the the the and and cat sat", "the cat"});
  Vectoriser vectoriser({.stop_words = StopWords::english, .max_features = 1});
  vectoriser.fit(corpus, corpus.train);
  EXPECT_EQ(names(corpus, vectoriser), std::vector<std::string>{"cat"});
}

TEST(VectoriserTest, ThreadsChangeNothing) {
  std::vector<std::string> documents(1500);
  for (std::size_t i = 0; i < documents.size(); ++i)
    for (std::size_t k = 0; k < i % 40; ++k) documents[i] += std::to_string(1000 + i * k % 997) + " ";
  const TokenisedCorpus corpus = corpus_of(documents);
  for (const std::int64_t bits : {0, 5}) {
    Vectoriser vectoriser({.hash_bits = bits});
    vectoriser.fit(corpus, corpus.train);
    const SparseRows one = vectoriser.transform(corpus.train, 1), three = vectoriser.transform(corpus.train, 3);
    EXPECT_EQ(one.start, three.start);
    EXPECT_EQ(one.column, three.column);
    EXPECT_EQ(one.value, three.value);
  }
}

TEST(VectoriserTest, ANewFitForgetsTheOldOne) {
  const TokenisedCorpus first = corpus_of({"aa bb cc", "aa"}), second = corpus_of({"dd ee"});
  Vectoriser vectoriser({});
  vectoriser.fit(first, first.train);
  EXPECT_EQ(vectoriser.size(), 3);
  vectoriser.fit(second, second.train);
  EXPECT_EQ(vectoriser.size(), 2);
  const SparseRows rows = vectoriser.transform(second.train);
  EXPECT_EQ(rows.value, SparseRows::List<float>(2, static_cast<float>(std::sqrt(0.5))));
}

TEST(VectoriserTest, OptionsThatMakeNoSenseAreRefused) {
  EXPECT_THROW(Vectoriser({.max_features = -1}), ConfigError);
  EXPECT_THROW(Vectoriser({.hash_bits = 31}), ConfigError);
  EXPECT_THROW(Vectoriser({.max_features = 5, .hash_bits = 5}), ConfigError);
}

TEST(VectoriserTest, DocumentsOfALargerCorpusAreRefused) {
  const TokenisedCorpus small = corpus_of({"aa bb"}), large = corpus_of({"aa bb cc dd"});
  Vectoriser vectoriser({});
  EXPECT_THROW((void)vectoriser.transform(small.train), DataError) << "not fitted at all";
  vectoriser.fit(small, small.train);
  EXPECT_THROW((void)vectoriser.transform(large.train), DataError);
  EXPECT_THROW(vectoriser.fit(small, large.train), DataError);
}

}  // namespace
