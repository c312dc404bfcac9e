#include "obolus/core/archive.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "obolus/core/types.hpp"

namespace {

using namespace obolus;

enum class Colour : std::uint8_t { red, green };

struct Part {
  std::int64_t count = 0;
  Vector<float> weights = Vector<float>::Zero(2);
  void fields(Archive& a) {
    a("count", count);
    a("weights", weights);
  }
};

struct Everything {
  double number = 0.0;
  float small = 0.0f;
  std::int64_t whole = 0;
  bool flag = false;
  Colour colour = Colour::red;
  Vector<double> vector = Vector<double>::Zero(3);
  Part part;
  void fields(Archive& a) {
    a("number", number);
    a("small", small);
    a("whole", whole);
    a("flag", flag);
    a("colour", colour);
    a("vector", vector);
    a("part", part);
  }
};

template <class T>
std::vector<std::byte> save(T& value) {
  Archive a;
  value.fields(a);
  return a.bytes();
}

template <class T>
void load(T& value, std::vector<std::byte> bytes) {
  Archive a(std::move(bytes));
  value.fields(a);
  a.finish();
}

Everything sample() {
  Everything e;
  e.number = -0.0;
  e.small = 1e-40f;
  e.whole = -7;
  e.flag = true;
  e.colour = Colour::green;
  e.vector << 1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::denorm_min();
  e.part.count = std::numeric_limits<std::int64_t>::min();
  e.part.weights << 0.5f, -2.5f;
  return e;
}

// The message of the refusal, empty when nothing is refused.
template <class T>
std::string refusal(T& value, std::vector<std::byte> bytes) {
  try {
    load(value, std::move(bytes));
  } catch (const DataError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Archive, WhatIsSavedIsLoadedToTheLastBit) {
  Everything before = sample(), after;
  load(after, save(before));
  EXPECT_TRUE(std::signbit(after.number));
  EXPECT_EQ(after.small, 1e-40f);
  EXPECT_EQ(after.whole, -7);
  EXPECT_TRUE(after.flag);
  EXPECT_EQ(after.colour, Colour::green);
  EXPECT_EQ(after.vector, before.vector);
  EXPECT_EQ(after.part.count, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(save(after), save(before));
}

TEST(Archive, ANanIsKeptToo) {
  double nan = std::numeric_limits<double>::quiet_NaN(), back = 0.0;
  Archive a;
  a("value", nan);
  Archive b(a.bytes());
  b("value", back);
  EXPECT_TRUE(std::isnan(back));
}

RC_GTEST_PROP(ArchiveProperty, NumbersAndVectorsComeBack, (double number, std::int64_t whole, bool flag)) {
  const auto entries = *rc::gen::arbitrary<std::vector<double>>();
  Everything before;
  before.number = number;
  before.whole = whole;
  before.flag = flag;
  before.vector = Eigen::Map<const Vector<double>>(entries.data(), static_cast<Index>(entries.size()));
  Everything after;
  after.vector.resize(before.vector.size());
  load(after, save(before));
  RC_ASSERT(save(after) == save(before));
}

// ---- Refusals ------------------------------------------------------------------------------------------------------

TEST(Archive, AnotherNameIsRefusedAndTheExpectedOneNamed) {
  struct Renamed {
    double number = 1.0;
    void fields(Archive& a) { a("another", number); }
  } renamed;
  struct Named {
    double number = 1.0;
    void fields(Archive& a) { a("number!", number); }
  } named;
  EXPECT_NE(refusal(named, save(renamed)).find("number!"), std::string::npos);
}

TEST(Archive, AnotherTypeOfTheSameSizeIsRefused) {
  struct AsDouble {
    double value = 1.0;
    void fields(Archive& a) { a("value", value); }
  } as_double;
  struct AsInteger {
    std::int64_t value = 1;
    void fields(Archive& a) { a("value", value); }
  } as_integer;
  EXPECT_NE(refusal(as_integer, save(as_double)).find("value"), std::string::npos);
  EXPECT_NE(refusal(as_double, save(as_integer)).find("value"), std::string::npos);
}

TEST(Archive, AnotherSizeIsRefusedWithBothNumbersAndLeavesTheVectorAlone) {
  Everything before = sample(), after;
  after.vector.setConstant(5, 8.0);
  const std::string message = refusal(after, save(before));
  EXPECT_NE(message.find("vector"), std::string::npos) << message;
  EXPECT_NE(message.find('3'), std::string::npos) << message;
  EXPECT_NE(message.find('5'), std::string::npos) << message;
  EXPECT_EQ(after.vector, Vector<double>::Constant(5, 8.0));
}

TEST(Archive, BytesLeftOverAreRefused) {
  Everything e = sample();
  auto bytes = save(e);
  bytes.push_back(std::byte{0});
  EXPECT_NE(refusal(e, bytes).find("left over"), std::string::npos);
}

TEST(Archive, AnythingCutShortIsRefused) {
  Everything e = sample();
  const auto whole = save(e);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Everything target;
    EXPECT_NE(refusal(target, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), "accepted") << size;
  }
}

TEST(Archive, ATruthValueThatIsNeitherIsRefused) {
  struct Flag {
    bool on = true;
    void fields(Archive& a) { a("on", on); }
  } flag;
  auto bytes = save(flag);
  bytes.back() = std::byte{2};
  EXPECT_NE(refusal(flag, bytes).find("on"), std::string::npos);
}

// Without a checksum a changed number goes unnoticed; everything else must be refused, and nothing may crash.
RC_GTEST_PROP(ArchiveProperty, ChangedBytesAreRefusedOrReadAsNumbersOfTheSameShape, ()) {
  Everything e = sample();
  auto bytes = save(e);
  const auto changes = *rc::gen::inRange(1, 5);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[at] ^= static_cast<std::byte>(*rc::gen::inRange(1, 256));
  }
  Everything target;
  if (refusal(target, bytes) == "accepted") {
    RC_ASSERT(target.vector.size() == 3);
    RC_ASSERT(save(target) == bytes);
  }
}

}  // namespace
