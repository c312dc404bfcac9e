#include "obolus/data/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "generators/rows.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace {

using namespace obolus;

TEST(Generators, AnyOrderOfRowsAndASecondGeneratorGiveTheSameBits) {
  const ConceptOptions drifting{.seed = 7, .drift_rows = Numbers({40.0, 90.0}), .drift_width = 30.0};
  for (GeneratorOptions options : generators()) {
    std::visit([&](auto& o) { o.stream = drifting; }, options);
    if (auto* rbf = std::get_if<RandomRbfOptions>(&options)) rbf->speed = 0.01;
    if (auto* led = std::get_if<LedOptions>(&options)) led->drifting = 4;
    const auto forwards = make_generator(options), jumping = make_generator(options);
    std::vector<GeneratedRow> rows;
    for (std::int64_t i = 0; i < 150; ++i) rows.push_back(row_of(*forwards, i));
    for (std::int64_t k = 0; k < 150; ++k) {
      const std::int64_t i = k * 67 % 150;
      const GeneratedRow again = row_of(*jumping, i);
      EXPECT_EQ(again.numbers, rows[to_size(i)].numbers) << i;
      EXPECT_EQ(again.label, rows[to_size(i)].label) << i;
    }
  }
}

TEST(Generators, AnotherSeedGivesOtherRows) {
  for (GeneratorOptions options : generators()) {
    const auto first = make_generator(options);
    std::visit([](auto& o) { o.stream.seed = 2; }, options);
    const auto second = make_generator(options);
    int same = 0;
    for (std::int64_t i = 0; i < 20; ++i) same += row_of(*first, i).numbers == row_of(*second, i).numbers;
    EXPECT_EQ(same, 0);
  }
}

TEST(Generators, EachIsFoundByItsNameAndHasAColumnForEveryNumber) {
  for (const GeneratorOptions& options : generators()) {
    const std::string_view name = std::visit([](const auto& o) { return o.name; }, options);
    ASSERT_TRUE(generator_named(name));
    EXPECT_EQ(generator_named(name)->index(), options.index());
    const auto g = make_generator(options);
    const GeneratedRow r = row_of(*g, 0);
    EXPECT_EQ(r.numbers.size(), g->columns().size());
    EXPECT_LT(to_size(r.label), g->classes().size());
  }
  EXPECT_FALSE(generator_named("nothing"));
}

TEST(Generators, AnAbruptDriftHappensAtItsRowAndConceptsRepeat) {
  const auto g = make_generator(SeaOptions{.stream = {.drift_rows = Numbers({10.0, 20.0, 30.0, 40.0})}});
  const auto listed = make_generator(
      SeaOptions{.stream = {.drift_rows = Numbers({10.0, 20.0, 30.0, 40.0}), .concepts = Numbers({3.0, 1.0})}});
  for (std::int64_t i = 0; i < 60; ++i) {
    const std::int64_t stretch = std::min<std::int64_t>(i / 10, 4);
    EXPECT_EQ(g->concept_of(i), 1 + stretch % 4) << i;
    EXPECT_EQ(listed->concept_of(i), stretch % 2 == 0 ? 3 : 1) << i;
  }
}

TEST(Generators, AGradualDriftFollowsTheSigmoid) {
  // Hoeffding holds for draws of different probabilities too: their mean is that of the sigmoid over the rows.
  constexpr double p = 20000.0, w = 10000.0;
  const auto g = make_generator(SeaOptions{.stream = {.drift_rows = Numbers(p), .drift_width = w}});
  for (std::int64_t first = 5000; first < 35000; first += 5000) {
    double expected = 0.0, found = 0.0;
    for (std::int64_t i = first; i < first + 5000; ++i) {
      expected += 1.0 / (1.0 + std::exp(-4.0 * (static_cast<double>(i) - p) / w)) / 5000.0;
      found += (g->concept_of(i) == 2) / 5000.0;
    }
    EXPECT_NEAR(found, expected, hoeffding(5000)) << first;
  }
}

TEST(Generators, NestedGradualDriftsEndInTheLastConcept) {
  const auto g = make_generator(LedOptions{.stream = {.drift_rows = Numbers({1000.0, 2000.0}), .drift_width = 100.0}});
  EXPECT_EQ(g->concept_of(0), 1);     // the others have e^{-40} or less
  EXPECT_EQ(g->concept_of(1500), 2);  // e^{-20}
  EXPECT_EQ(g->concept_of(3000), 3);
}

TEST(Generators, OptionsThatMakeNoSenseAreNamed) {
  const auto message = [](const auto& options) {
    try {
      (void)make_generator(options);
    } catch (const ConfigError& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  EXPECT_NE(message(SeaOptions{.noise = 1.5}).find("sea.noise"), std::string::npos);
  EXPECT_NE(message(SeaOptions{.stream = {.drift_rows = Numbers({20.0, 10.0})}}).find("sea.drift_rows"),
            std::string::npos);
  EXPECT_NE(message(SeaOptions{.stream = {.drift_rows = 1.5}}).find("sea.drift_rows"), std::string::npos);
  EXPECT_NE(message(SeaOptions{.stream = {.concepts = Numbers(5.0)}}).find("sea.concepts"), std::string::npos);
  EXPECT_NE(message(AgrawalOptions{.stream = {.concepts = 11.0}}).find("agrawal.concepts"), std::string::npos);
  EXPECT_NE(message(LedOptions{.irrelevant = false, .drifting = 2}).find("led.drifting"), std::string::npos);
  EXPECT_NE(message(RandomRbfOptions{.classes = 9, .centroids = 8}).find("rbf.centroids"), std::string::npos);
}

TEST(Generators, CsvHasAHeaderNamesOfCategoriesAndNumbersThatComeBack) {
  const auto g = make_generator(AgrawalOptions{});
  std::ostringstream out;
  write_csv(*g, 5, 3, out);
  std::istringstream lines(out.str());
  std::string line, field;
  std::getline(lines, line);
  EXPECT_EQ(line, "salary,commission,age,elevel,car,zipcode,hvalue,hyears,loan,class");
  for (std::int64_t i = 5; i < 8; ++i) {
    ASSERT_TRUE(std::getline(lines, line));
    std::istringstream fields(line);
    const GeneratedRow r = row_of(*g, i);
    for (std::size_t j = 0; j < r.numbers.size(); ++j) {
      std::getline(fields, field, ',');
      const auto& categories = g->columns()[j].categories;
      if (categories.empty()) {
        EXPECT_EQ(std::stof(field), r.numbers[j]);
      } else {
        EXPECT_EQ(field, categories[to_size(r.numbers[j])]);
      }
    }
    std::getline(fields, field, ',');
    EXPECT_EQ(field, r.label == 0 ? "groupA" : "groupB");
  }
  EXPECT_FALSE(std::getline(lines, line));
}

}  // namespace
