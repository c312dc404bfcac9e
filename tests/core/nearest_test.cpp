#include "obolus/core/nearest.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace {

using namespace obolus;

const std::vector<std::string> options{"alpha", "beta", "gamma", "lambda1", "warm_start"};

TEST(EditDistance, CountsInsertionsDeletionsSubstitutionsAndSwapsOfNeighbours) {
  EXPECT_EQ(edit_distance("gamma", "gamma"), 0u);
  EXPECT_EQ(edit_distance("gama", "gamma"), 1u);
  EXPECT_EQ(edit_distance("gammma", "gamma"), 1u);
  EXPECT_EQ(edit_distance("gamna", "gamma"), 1u);
  EXPECT_EQ(edit_distance("agmma", "gamma"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", ""), 0u);
}

RC_GTEST_PROP(EditDistanceProperty, IsSymmetricZeroForEqualsAndBoundedByTheLongerWord, (std::string a, std::string b)) {
  const std::size_t d = edit_distance(a, b);
  RC_ASSERT(d == edit_distance(b, a));
  RC_ASSERT((d == 0) == (a == b));
  RC_ASSERT(d <= std::max(a.size(), b.size()));
  RC_ASSERT(d + std::min(a.size(), b.size()) >= std::max(a.size(), b.size()));
}

RC_GTEST_PROP(EditDistanceProperty, OneLetterMoreIsOneEditMore, (std::string word)) {
  const auto at = *rc::gen::inRange<std::size_t>(0, word.size() + 1);
  std::string longer = word;
  longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(at), *rc::gen::arbitrary<char>());
  RC_ASSERT(edit_distance(word, longer) == 1u);
}

TEST(Suggestion, NamesTheNearestWord) {
  EXPECT_NE(suggestion("gama", options).find("'gamma'"), std::string::npos);
  EXPECT_NE(suggestion("lamda1", options).find("'lambda1'"), std::string::npos);
  EXPECT_NE(suggestion("warmstart", options).find("'warm_start'"), std::string::npos);
}

TEST(Suggestion, CapitalsAndHyphensAreNoEdits) {
  EXPECT_NE(suggestion("GAMMA", options).find("'gamma'"), std::string::npos);
  EXPECT_NE(suggestion("Warm-Start", options).find("'warm_start'"), std::string::npos);
}

TEST(Suggestion, ListsAllWordsWhenNoneIsNear) {
  const std::string text = suggestion("momentum", options);
  EXPECT_EQ(text.find("did you mean"), std::string::npos) << text;
  for (const std::string& option : options) EXPECT_NE(text.find(option), std::string::npos) << option;
}

TEST(Suggestion, SurvivesAnEmptyListAndAnEmptyWord) {
  EXPECT_EQ(suggestion("alpha", {}).find("did you mean"), std::string::npos);
  EXPECT_FALSE(suggestion("", options).empty());
}

}  // namespace
