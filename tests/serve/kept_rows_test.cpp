#include "serve/kept_rows.hpp"

#include <gtest/gtest.h>

namespace obolus::serve {
namespace {

using std::chrono::seconds;
const KeptRows::Clock::time_point start = KeptRows::Clock::now();

TEST(KeptRows, ARowIsTakenOnce) {
  KeptRows kept({});
  kept.keep("a", "row", start);
  EXPECT_EQ(kept.take("a", start), "row");
  EXPECT_EQ(kept.take("a", start), std::nullopt);
}

TEST(KeptRows, TheLatestRowOfAnIdCounts) {
  KeptRows kept({});
  kept.keep("a", "old", start);
  kept.keep("a", "new", start);
  EXPECT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept.take("a", start), "new");
}

TEST(KeptRows, TheOldestGoFirst) {
  KeptRows kept({.rows = 2});
  for (const char* id : {"a", "b", "c"}) kept.keep(id, id, start);
  EXPECT_EQ(kept.take("a", start), std::nullopt);
  EXPECT_EQ(kept.take("b", start), "b");
  EXPECT_EQ(kept.take("c", start), "c");
}

TEST(KeptRows, RowsExpire) {
  KeptRows kept({.time = seconds(10)});
  kept.keep("a", "row", start);
  kept.keep("b", "row", start + seconds(5));
  EXPECT_EQ(kept.take("a", start + seconds(11)), std::nullopt);
  EXPECT_EQ(kept.take("b", start + seconds(11)), "row");
}

TEST(KeptRows, TheirBytesAreLimited) {
  KeptRows kept({.rows = 100, .bytes = 100});
  for (int i = 0; i < 50; ++i) kept.keep(std::to_string(i), std::string(20, 'x'), start);
  EXPECT_LE(kept.size(), 5U);
  EXPECT_NE(kept.take("49", start), std::nullopt);
}

}  // namespace
}  // namespace obolus::serve
