#include "fit/model/model_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
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

// As it was written before features could have penalties of their own: without the options that came with them.
std::string of_version(std::uint32_t version, Fit& fit) {
  Archive a;
  FitOptions options = fit.options();
  options.describe([&]<class T>(std::string_view name, T& value, std::string_view, Range = {}) {
    if (name == "optimiser" || name == "optimiser_options" || name == "feature_step" || name == "shrinkage") return;
    if constexpr (std::is_same_v<T, std::optional<double>>) {
      double number = value.value_or(std::nan(""));
      a(name, number);
    } else {
      a(name, value);
    }
  });
  fit.model_fields(a);
  const std::uint32_t numbers[] = {version, 0};
  const std::uint64_t sizes[] = {a.bytes().size(), checksum(a.bytes().data(), a.bytes().size())};
  std::string file = "OBOLUSFM";
  file.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
  file.append(reinterpret_cast<const char*>(sizes), sizeof sizes);
  file.append(reinterpret_cast<const char*>(a.bytes().data()), a.bytes().size());
  return file;
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

TEST(ModelFile, OfTheFirstVersionIsReadAndHasTheOptionsItHad) {
  const test::TemporaryFolder folder;
  FitOptions o = fit_options();
  o.tune = "rate,l2,replay,temperature";
  Fit fit = fitted(o);
  folder.write("model", of_version(1, fit));
  Fit model = fit::load_model(folder.file("model"));
  model.set_groups(FitStream::groups(), true);
  EXPECT_EQ(model.options().tune, o.tune);
  EXPECT_EQ(model.options().optimiser, "first-order");
  EXPECT_EQ(model.rows(), 60);
  EXPECT_FALSE(model.penalties().has_value());
  expect_same_predictions(model, fit);
}

TEST(ModelFile, OfAnotherVersionIsRefusedByItsNumber) {
  const test::TemporaryFolder folder;
  FitOptions o = fit_options();
  o.tune = "rate";
  Fit fit = fitted(o);
  folder.write("later", of_version(3, fit));
  folder.write("earlier", of_version(0, fit));
  folder.write("lying", of_version(2, fit));
  EXPECT_NE(refusal(folder.file("later")).find("version 3"), std::string::npos);
  EXPECT_NE(refusal(folder.file("later")).find("newer"), std::string::npos);
  EXPECT_NE(refusal(folder.file("earlier")).find("version 0"), std::string::npos);
  EXPECT_NE(refusal(folder.file("lying")), "accepted") << "options of the second version are missing";
}

}  // namespace
}  // namespace obolus
