#include "obolus/core/evaluation.hpp"

#include <gtest/gtest.h>

#include "obolus/any/erased.hpp"
#include "obolus/problems/quadratic.hpp"
#include "tests/sound_problem.hpp"

namespace {

using namespace obolus;
using Sound = test::SoundProblem<double>;

// Says what it was asked at.
struct Telling : Sound {
  void evaluate(In<double> x, In<double> y, Evaluation& out) {
    out.add("x", x[0]);
    out.add("y", y[0]);
  }
  void judge(In<double>, In<double> y, Evaluation& out) { out.add("last", y[2]); }
};
static_assert(Evaluated<Telling> && Judged<Telling>);
static_assert(!Evaluated<Sound> && !Judged<Sound>);

const Vector<double> x = Vector<double>::LinSpaced(2, 1.0, 2.0), y = Vector<double>::LinSpaced(3, 3.0, 5.0);

TEST(Evaluation, NamesStandInTheOrderInWhichTheyCame) {
  Evaluation e;
  EXPECT_TRUE(e.empty());
  e.add("loss", 0.5);
  e.add("accuracy", 0.75);
  ASSERT_EQ(e.size(), 2u);
  EXPECT_EQ(e.begin()->name, "loss");
  EXPECT_EQ(e.find("accuracy"), 0.75);
  EXPECT_FALSE(e.find("accurac"));
}

TEST(Evaluation, ComesBackFromASavedStateWithItsNames) {
  Evaluation before, after;
  before.add("loss", -0.0);
  before.add("a name that no short string holds in itself", 1e-300);
  after.add("something else", 1.0);
  Archive saved;
  saved("evaluation", before);
  Archive loaded(saved.bytes());
  loaded("evaluation", after);
  loaded.finish();
  EXPECT_EQ(after, before);
  EXPECT_TRUE(std::signbit(after.begin()->value));
}

TEST(Evaluation, ASavedStateCutAnywhereIsRefused) {
  Evaluation e;
  e.add("loss", 1.0);
  e.add("accuracy", 0.5);
  Archive saved;
  saved("evaluation", e);
  const auto& whole = saved.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Archive cut({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    Evaluation target;
    EXPECT_THROW(cut("evaluation", target), DataError) << size;
  }
}

TEST(Evaluation, GoesThroughTheErasedLayer) {
  Erased<Telling> telling(std::in_place);
  AnyOracle<double>& any = telling;
  Evaluation e, judged;
  any.evaluate(x, y, e);
  any.judge(x, y, judged);
  EXPECT_EQ(e.find("x"), 1.0);
  EXPECT_EQ(e.find("y"), 3.0);
  EXPECT_EQ(judged.find("last"), 5.0);
}

TEST(Evaluation, IsEmptyWhereAProblemOffersNone) {
  Erased<Sound> sound(std::in_place);
  AnyOracle<double>& any = sound;
  Evaluation e;
  any.evaluate(x, y, e);
  any.judge(x, y, e);
  EXPECT_TRUE(e.empty());
  Quadratic<double> silent({}, 1);
  silent.evaluate(Vector<double>::Ones(5), Vector<double>::Ones(10), e);
  EXPECT_TRUE(e.empty());
}

}  // namespace
