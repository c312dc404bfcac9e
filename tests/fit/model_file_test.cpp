#include "fit/model/model_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "data/checksum.hpp"
#include "obolus/core/error.hpp"
#include "tests/fit/fit_stream.hpp"
#include "tests/temporary_folder.hpp"

namespace obolus {
namespace {

using test::fit_options;
using test::FitStream;

Fit fitted(const FitOptions& o) {
  Fit fit(o);
  fit.set_groups(FitStream::groups(), true);
  FitStream stream(5, o.task);
  for (int t = 0; t < 60; ++t) fit.learn(stream.next());
  fit.finish();
  return fit;
}

void expect_same_predictions(Fit& got, Fit& expected) {
  FitStream stream(6, got.options().task);
  for (int t = 0; t < 20; ++t) {
    const DataRow row = stream.next();
    const Prediction g = got.predict(row), e = expected.predict(row);
    ASSERT_EQ(g.probabilities.size(), e.probabilities.size());
    for (std::size_t k = 0; k < g.probabilities.size(); ++k)
      EXPECT_NEAR(g.probabilities[k], e.probabilities[k], 1e-5);  // a dozen floats of up to about 5 are added up
  }
}

// With the version's number in the header, which the checksum does not cover.
void set_version(const std::string& path, std::uint32_t version) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(8);
  file.write(reinterpret_cast<const char*>(&version), sizeof version);
}

std::string refusal(const std::string& path) {
  try {
    (void)fit::load_model(path);
  } catch (const DataError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(ModelFile, IsReadAsItWasWritten) {
  const test::TemporaryFolder folder;
  FitOptions o = fit_options();
  for (const char* optimiser : {"first-order", "f2obo"}) {
    o.optimiser = optimiser;
    o.shrinkage = 0.01;
    o.optimiser_options = o.optimiser == "f2obo" ? "lambda1=30" : "";
    Fit fit = fitted(o);
    fit::save_model(folder.file("model"), fit);
    Fit model = fit::load_model(folder.file("model"));
    model.set_groups(FitStream::groups(), true);
    EXPECT_EQ(model.options().optimiser, optimiser);
    EXPECT_EQ(model.options().optimiser_options, o.optimiser_options);
    EXPECT_EQ(model.options().shrinkage, 0.01);
    EXPECT_EQ(model.options().feature_step, std::nullopt);
    EXPECT_EQ(model.penalties(), fit.penalties());
    EXPECT_TRUE(model.penalties().has_value());
    expect_same_predictions(model, fit);
  }
}

TEST(ModelFile, OfAnotherVersionIsRefusedByItsNumber) {
  const test::TemporaryFolder folder;
  Fit fit = fitted(fit_options());
  const std::string path = folder.file("model");
  fit::save_model(path, fit);
  set_version(path, 5);
  EXPECT_NE(refusal(path).find("version 5"), std::string::npos);
  EXPECT_NE(refusal(path).find("newer"), std::string::npos);
  set_version(path, 2);
  EXPECT_NE(refusal(path).find("version 2"), std::string::npos);
  EXPECT_NE(refusal(path).find("fit it again"), std::string::npos);
  set_version(path, 4);
  EXPECT_EQ(refusal(path), "accepted");
}

TEST(ModelFile, KeepsTheNameOfTheLabelAndIsReadWithoutIt) {
  Fit fit = fitted(fit_options());
  fit.set_label_name("kind");
  std::string bytes = fit::model_bytes(fit);
  EXPECT_EQ(fit::model_from(bytes, "model").label_name(), "kind");

  // As version 3 was: the field is its name, a zero, a tag, a count, and the text with its length.
  constexpr std::size_t header = 32, number = 8, field = 10 + 1 + 1 + number + number + 4;
  bytes.erase(bytes.find("label_name"), field);
  bytes[8] = 3;
  const std::uint64_t size = bytes.size() - header;
  const std::uint64_t sum = checksum(bytes.data() + header, size);
  std::memcpy(bytes.data() + 16, &size, number);
  std::memcpy(bytes.data() + 24, &sum, number);
  const Fit older = fit::model_from(bytes, "model");
  EXPECT_EQ(older.label_name(), "");
  EXPECT_EQ(older.classes(), fit.classes());
}

}  // namespace
}  // namespace obolus
