#include "fit/stream/fit_path.hpp"

#include <gtest/gtest.h>

#include "obolus/core/error.hpp"
#include "tests/fit/fit_stream.hpp"
#include "tests/temporary_folder.hpp"

namespace obolus {
namespace {

using test::fit_options;
using test::FitStream;

std::vector<double> tuned(const Fit& fit) {
  std::vector<double> values;
  for (const FitHyperparameter& h : fit.hyperparameters())
    if (h.tuned) values.push_back(h.value);
  return values;
}

// exp(ln v) is v to a few units of its last place, so predictions after 50 rounds agree far better than float weights
// do.
TEST(FitPath, LeadsToTheSamePredictions) {
  Fit first(fit_options()), second(fit_options());
  std::vector<FitPathPoint> path;
  std::vector<std::vector<double>> expected;
  FitStream stream(3), again(3);
  first.set_groups(FitStream::groups(), true);
  second.set_groups(FitStream::groups(), true);
  for (int i = 0; i < 200; ++i) {
    expected.push_back(first.learn(stream.next()).probabilities);
    if (first.rounds() > static_cast<std::int64_t>(path.size())) path.push_back({first.rounds(), tuned(first)});
  }
  second.follow(path);
  for (const std::vector<double>& p : expected) {
    const Prediction& got = second.learn(again.next());
    ASSERT_EQ(got.probabilities.size(), p.size());
    for (std::size_t c = 0; c < p.size(); ++c) EXPECT_NEAR(got.probabilities[c], p[c], 1e-5);
  }
  EXPECT_NE(tuned(first), tuned(Fit(fit_options())));  // it did move
  for (std::size_t i = 0; i < tuned(first).size(); ++i) EXPECT_NEAR(tuned(second)[i] / tuned(first)[i], 1, 1e-12);
}

TEST(FitPath, HoldsBetweenItsRounds) {
  Fit fit(fit_options());
  fit.set_groups(FitStream::groups(), true);
  fit.follow({{2, {0.5, 1e-4, 2.0, 0.3, 1.5}}});
  FitStream stream(4);
  for (int i = 0; i < 4; ++i) fit.learn(stream.next());
  EXPECT_NEAR(tuned(fit)[0], 1.0, 1e-12);  // where it starts, in round 1
  for (int i = 0; i < 40; ++i) fit.learn(stream.next());
  EXPECT_NEAR(tuned(fit)[0], 0.5, 1e-12);
  EXPECT_NEAR(tuned(fit)[4], 1.5, 1e-12);
}

TEST(FitPath, MustBeOfWhatIsTuned) {
  Fit fit(fit_options());
  EXPECT_THROW(fit.follow({{1, {0.5}}}), DataError);
  EXPECT_THROW(fit.follow({{1, {0.5, 1e-4, -2.0, 0.3, 1.5}}}), DataError);
}

class FitPathFile : public testing::Test {
 protected:
  std::string file(const std::string& text, const std::string& name = "trace.jsonl") const {
    folder_.write(name, text);
    return folder_.file(name);
  }
  test::TemporaryFolder folder_;
};

TEST_F(FitPathFile, IsReadFromATraceOrItsFolder) {
  file("{\"t\":1,\"x_values\":[2,0.5]}\n{\"t\":4,\"f\":1,\"x_values\":[3,0.25]}\n{\"t\":5,\"x_va");  // torn by a crash
  const auto path = fit::path_of_trace(folder_.path());
  ASSERT_EQ(path.size(), 2u);
  EXPECT_EQ(path[1].round, 4);
  EXPECT_EQ(path[1].values, (std::vector<double>{3, 0.25}));
}

TEST_F(FitPathFile, RefusesWhatIsNoTrace) {
  EXPECT_THROW((void)fit::path_of_trace(file("{\"t\":1}\n")), DataError);
  EXPECT_THROW((void)fit::path_of_trace(file("{\"t\":2,\"x_values\":[1]}\n{\"t\":2,\"x_values\":[1]}\n")), DataError);
  EXPECT_THROW((void)fit::path_of_trace(file("")), DataError);
  EXPECT_THROW((void)fit::path_of_trace(folder_.file("none")), DataError);
}

}  // namespace
}  // namespace obolus
