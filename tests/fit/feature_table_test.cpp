#include "fit/model/feature_table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <unordered_map>

#include "obolus/core/rng.hpp"

namespace obolus {
namespace {

using fit::FeatureTable;

TEST(FeatureTable, GivesEveryKeyTheNextSlotAndKeepsIt) {
  FeatureTable table(0);
  std::unordered_map<std::uint64_t, std::int32_t> expected;
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    // Keys in a row as svmlight's, and hashes; 0 and the largest are keys like others.
    const std::uint64_t key = i % 2 == 0 ? rng.below(5000)
                              : i == 1   ? ~std::uint64_t{0}
                                         : rng.child("hash", rng.below(4000)).bits();
    const auto [at, is_new] = expected.try_emplace(key, static_cast<std::int32_t>(expected.size()));
    EXPECT_EQ(table.known(key), is_new ? -1 : at->second);
    EXPECT_EQ(table.slot(key), at->second);
  }
  EXPECT_EQ(table.slots(), static_cast<std::int64_t>(expected.size()));
  for (const auto& [key, slot] : expected) EXPECT_EQ(table.known(key), slot);
  std::size_t listed = 0;
  table.each([&](std::uint64_t key, std::int32_t slot) { listed += expected.at(key) == slot; });
  EXPECT_EQ(listed, expected.size());
}

TEST(FeatureTable, HashesIntoAFixedNumberOfSlots) {
  FeatureTable table(5);
  EXPECT_EQ(table.slots(), 32);
  std::set<std::int32_t> slots;
  for (std::uint64_t key = 0; key < 1000; ++key) {
    const std::int32_t slot = table.slot(key);
    ASSERT_TRUE(slot >= 0 && slot < 32);
    EXPECT_EQ(table.known(key), slot);
    slots.insert(slot);
  }
  EXPECT_EQ(slots.size(), 32u);  // (31/32)^1000 = 2e-14 to miss a given one
  EXPECT_EQ(table.slots(), 32);
}

FeatureTable loaded(const std::vector<std::byte>& bytes) {
  FeatureTable table(0);
  Archive from(bytes);
  table.fields(from);
  from.finish();
  return table;
}

TEST(FeatureTable, HasTheSameSlotsAfterLoading) {
  for (const int bits : {0, 9}) {
    FeatureTable table(bits);
    for (std::uint64_t key = 0; key < 3000; ++key) table.slot(key * key);
    Archive to;
    table.fields(to);
    FeatureTable again = loaded(to.bytes());
    EXPECT_EQ(again.slots(), table.slots());
    for (std::uint64_t key = 0; key < 3000; ++key) EXPECT_EQ(again.known(key * key), table.known(key * key));
    EXPECT_EQ(again.slot(~std::uint64_t{0}), table.slot(~std::uint64_t{0}));
  }
}

TEST(FeatureTable, IsRefusedWhereASavedOneIsImpossible) {
  const auto bytes = [](int bits, std::vector<std::uint64_t> keys) {
    Archive to;
    to("bits", bits);
    fit::saved(to, "keys", keys);
    return to.bytes();
  };
  EXPECT_EQ(loaded(bytes(0, {5, 6})).slots(), 2);
  EXPECT_THROW(loaded(bytes(0, {5, 5})), DataError);
  EXPECT_THROW(loaded(bytes(-1, {})), DataError);
  EXPECT_THROW(loaded(bytes(31, {})), DataError);
}

}  // namespace
}  // namespace obolus
