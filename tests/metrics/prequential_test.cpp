#include "obolus/metrics/prequential.hpp"

#include <gtest/gtest.h>

namespace {

using namespace obolus;

Evaluation judged(double loss, double accuracy) {
  Evaluation e;
  e.add("loss", loss);
  e.add("accuracy", accuracy);
  return e;
}

Evaluation means(const Prequential& p, const Evaluation& now) {
  Evaluation out;
  p.append_means_with(now, out);
  return out;
}

TEST(Prequential, TheMeansAreOverTheRoundsBeforeAndTheCurrentOne) {
  Prequential p;
  EXPECT_EQ(means(p, judged(4.0, 0.5)).find("prequential_loss"), 4.0);
  p.add(judged(4.0, 0.5));
  p.add(judged(1.0, 0.0));
  EXPECT_EQ(means(p, judged(1.0, 1.0)).find("prequential_loss"), 2.0);
  EXPECT_EQ(means(p, judged(1.0, 1.0)).find("prequential_accuracy"), 0.5);
}

TEST(Prequential, LookingAddsNothing) {
  Prequential p;
  p.add(judged(4.0, 0.5));
  (void)means(p, judged(100.0, 0.0));
  EXPECT_EQ(means(p, judged(2.0, 0.5)).find("prequential_loss"), 3.0);
}

TEST(Prequential, ASavedStateGoesOnWithTheSameSums) {
  Prequential before, after;
  before.add(judged(0.1, 0.5));
  before.add(judged(0.2, 0.25));
  Archive saved;
  saved("prequential", before);
  Archive loaded(saved.bytes());
  loaded("prequential", after);
  EXPECT_EQ(means(after, judged(0.3, 1.0)), means(before, judged(0.3, 1.0)));
}

TEST(Prequential, OtherNamesThanBeforeAreRefused) {
  Prequential p;
  p.add(judged(1.0, 1.0));
  Evaluation renamed, fewer;
  renamed.add("loss", 1.0);
  renamed.add("recall", 1.0);
  fewer.add("loss", 1.0);
  EXPECT_THROW(p.add(renamed), DataError);
  EXPECT_THROW(p.add(fewer), DataError);
}

}  // namespace
