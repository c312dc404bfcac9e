#include "obolus/run/run.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "obolus/optimisers/f2obo.hpp"
#include "obolus/problems/oscillation.hpp"
#include "obolus/problems/quadratic.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/conformance/witnesses.hpp"

namespace {

using namespace obolus;
using namespace obolus::test;

using Real = Vector<double>;

QuadraticOptions quadratic_options() {
  QuadraticOptions o;
  o.dim_x = 3;
  o.dim_y = 4;
  o.drift = Drift::oscillating;
  return o;
}

const Real x1 = Real::LinSpaced(3, -0.5, 0.5), y1 = Real::LinSpaced(4, 0.3, -0.2);

F2obo optimiser() { return F2obo({.alpha = 0.1, .gamma = 0.05, .tau = 0.5}, ConvexSet::box(-0.4, 0.4)); }

const auto every_round = [](const Row&, const auto&) { return true; };

// ---- Commit, reveal, measure, update -------------------------------------------------------------------------------

using Log = std::vector<std::string>;

void note(Log& log, const std::string& what) {
  if (log.empty() || log.back() != what) log.push_back(what);  // a measurement of many calls is one measurement
}

// f = ½y², g = ½(y − x/2)²; logs every call.
class LoggedProblem : public FirstOrderOnly {
 public:
  explicit LoggedProblem(Log& log) : log_(&log) {}
  void reveal(Round t) { note(*log_, "reveal " + std::to_string(t)); }
  double outer_value(In<double> x, In<double> y) {
    asked();
    return FirstOrderOnly::outer_value(x, y);
  }
  double inner_value(In<double> x, In<double> y) {
    asked();
    return FirstOrderOnly::inner_value(x, y);
  }
  void outer_gradient_x(In<double> x, In<double> y, Out<double> d) {
    asked();
    FirstOrderOnly::outer_gradient_x(x, y, d);
  }
  void outer_gradient_y(In<double> x, In<double> y, Out<double> d) {
    asked();
    FirstOrderOnly::outer_gradient_y(x, y, d);
  }
  void inner_gradient_x(In<double> x, In<double> y, Out<double> d) {
    asked();
    FirstOrderOnly::inner_gradient_x(x, y, d);
  }
  void inner_gradient_y(In<double> x, In<double> y, Out<double> d) {
    asked();
    FirstOrderOnly::inner_gradient_y(x, y, d);
  }
  void inner_solution(In<double> x, Out<double> y) {
    asked();
    y[0] = 0.5 * x[0];
  }

 private:
  void asked() { note(*log_, "measure"); }
  Log* log_;
};

// Commits x = t for round t, which shows which commitment is current.
class LoggedSession final : public AnySession<double> {
 public:
  explicit LoggedSession(Log& log) : log_(&log) {}
  Step step(const Rng&) override {
    note(*log_, "update");
    x_[0] += 1.0;
    return {.lambda = 1.0, .gamma = 1.0};
  }
  [[nodiscard]] const Real& x() const override {
    note(*log_, "look at x = " + std::to_string(static_cast<int>(x_[0])));
    return x_;
  }
  [[nodiscard]] const Real& direction() const override { return direction_; }
  void read_y(Out<double> y) override { y[0] = x_[0]; }
  void read_z(Out<double> z) override { z[0] = x_[0]; }
  [[nodiscard]] const OracleCounts& counts() const override { return counts_; }
  [[nodiscard]] const ConvexSet& set() const override { return set_; }
  void fields(Archive&) override {}

 private:
  Log* log_;
  Real x_ = Real::Ones(1), direction_ = Real::Zero(1);
  OracleCounts counts_;
  ConvexSet set_ = ConvexSet::all();
};

TEST(Run, CommitsRevealsMeasuresAndUpdatesInThisOrderAndNoOther) {
  Log log;
  LoggedProblem problem(log);
  LoggedSession session(log);
  RoundMeter<LoggedProblem> meter(problem, ConvexSet::all(), 1.0);
  log.clear();
  run(problem, session, meter, Rng(1), 1, 3, 0.0, every_round);
  const Log expected{"reveal 1", "look at x = 1", "measure", "update", "measure",
                     "reveal 2", "look at x = 2", "measure", "update", "measure",
                     "reveal 3", "look at x = 3", "measure", "update", "measure"};
  EXPECT_EQ(log, expected);
}

TEST(Run, LossesAreThoseOfTheCommittedPairOnTheRevealedRound) {
  Quadratic<double> problem(quadratic_options(), 3), judge(quadratic_options(), 3);
  Session<F2obo, Quadratic<double>> session(optimiser(), problem, x1, y1);
  RoundMeter<Quadratic<double>> meter(problem, session.set(), 0.05);
  Real x = session.x(), y(4);
  session.read_y(y);
  double regret = 0.0;
  run(problem, session, meter, Rng(1), 1, 20, 0.0, [&](const Row& row, const auto& m) {
    judge.reveal(row.t);
    EXPECT_EQ(m.x(), x) << "round " << row.t;
    EXPECT_EQ(m.y(), y) << "round " << row.t;
    EXPECT_EQ(row.f, judge.outer_value(x, y));
    EXPECT_EQ(row.g, judge.inner_value(x, y));
    EXPECT_GE(row.regret_increment, 0.0);
    regret += row.regret_increment;
    EXPECT_EQ(row.regret, regret);
    x = session.x();  // committed for the next round
    session.read_y(y);
    return true;
  });
}

// ---- What is measured, and when ------------------------------------------------------------------------------------

// The committed y of every evaluation, and of every judgement.
struct AskedProblem : FirstOrderOnly {
  std::vector<double> evaluated, judged;
  void evaluate(In<double>, In<double> y, Evaluation& out) {
    evaluated.push_back(y[0]);
    out.add("height", 10.0 * y[0]);
  }
  void judge(In<double>, In<double> y, Evaluation& out) {
    judged.push_back(y[0]);
    out.add("size", y[0]);
  }
};

// Ten rounds of a session that commits y = t in round t.
std::vector<Row> rows_of(AskedProblem& problem, const MeterOptions& options, Round last = 10) {
  Log unused;
  LoggedSession session(unused);
  RoundMeter<AskedProblem> meter(problem, ConvexSet::all(), 1.0, options);
  std::vector<Row> rows;
  run(problem, session, meter, Rng(1), 1, last, 0.0, [&](const Row& row, const auto&) {
    rows.push_back(row);
    return true;
  });
  return rows;
}

TEST(Run, TheLastRoundIsEvaluatedAtWhatItCommittedAndNoOtherUnlessAskedFor) {
  AskedProblem problem;
  const std::vector<Row> rows = rows_of(problem, {});
  EXPECT_EQ(problem.evaluated, (std::vector<double>{10}));
  EXPECT_EQ(problem.judged, (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_TRUE(rows[8].evaluation.empty());
  EXPECT_EQ(rows[9].evaluation.find("height"), 100.0);
  EXPECT_EQ(rows[9].evaluation.find("prequential_size"), 5.5);
  EXPECT_EQ(rows[3].judged.find("size"), 4.0);
}

TEST(Run, EvaluationsComeAtTheirRoundsAndAtThoseNamed) {
  AskedProblem problem;
  const std::vector<Row> rows = rows_of(problem, {.evaluate_every = 4, .evaluated = {3, 5}});
  EXPECT_EQ(problem.evaluated, (std::vector<double>{3, 4, 5, 8, 10}));
  EXPECT_EQ(rows[2].evaluation.find("prequential_size"), 2.0);
}

TEST(Run, ARoundThatIsNotMeasuredAsksNothing) {
  Log log;
  LoggedProblem problem(log);
  LoggedSession session(log);
  RoundMeter<LoggedProblem> meter(problem, ConvexSet::all(), 1.0, {.regret = false, .residuals = false, .every = 2});
  log.clear();
  run(problem, session, meter, Rng(1), 1, 3, 0.0, every_round);
  const Log expected{"reveal 1", "update",   "reveal 2",      "look at x = 2", "measure",
                     "update",   "reveal 3", "look at x = 3", "measure",       "update"};
  EXPECT_EQ(log, expected);
}

TEST(Run, WhatIsNotMeasuredIsNotANumber) {
  AskedProblem problem;
  const std::vector<Row> rows = rows_of(problem, {.regret = false, .residuals = false, .every = 3});
  for (const Row& row : rows) {
    EXPECT_EQ(row.measured, row.t % 3 == 0 || row.t == 10) << row.t;
    EXPECT_EQ(std::isfinite(row.f), row.measured) << row.t;
    EXPECT_TRUE(std::isnan(row.regret) && std::isnan(row.regret_increment) && std::isnan(row.hypergradient_error));
    EXPECT_TRUE(std::isnan(row.residual_y) && std::isnan(row.residual_z));
    EXPECT_EQ(row.lambda, 1.0);
  }
  EXPECT_EQ(problem.judged, (std::vector<double>{3, 6, 9, 10}));
  EXPECT_EQ(rows[9].evaluation.find("prequential_size"), 7.0);
}

// Otherwise a run's means would depend on extra evaluations, or on where it was interrupted.
TEST(Run, RoundsMeasuredOutOfTurnStayOutOfTheMeansToCome) {
  AskedProblem problem;
  const MeterOptions sparse{.regret = false, .every = 3}, looked{.regret = false, .every = 3, .evaluated = {4, 7}};
  const std::vector<Row> rows = rows_of(problem, looked);
  EXPECT_EQ(rows[3].evaluation.find("prequential_size"), 3.5);
  EXPECT_EQ(rows[9].evaluation, rows_of(problem, sparse)[9].evaluation);
}

TEST(Run, TheRegretNeedsEveryRound) {
  FirstOrderOnly problem;
  EXPECT_THROW(RoundMeter<FirstOrderOnly>(problem, ConvexSet::all(), 1.0, {.every = 2}), ConfigError);
}

TEST(Run, ANumberOfAnEvaluationThatIsNotFiniteEndsTheRun) {
  struct Failing : AskedProblem {
    void evaluate(In<double>, In<double>, Evaluation& out) { out.add("recall", std::nan("")); }
  } problem;
  Log unused;
  LoggedSession session(unused);
  RoundMeter<Failing> meter(problem, ConvexSet::all(), 1.0, {.evaluate_every = 4});
  const RunEnd end = run(problem, session, meter, Rng(1), 1, 10, 0.0, every_round);
  EXPECT_EQ(end.status, RunStatus::diverged);
  EXPECT_EQ(end.rounds, 3);
  EXPECT_EQ(end.quantity, "recall is not finite");
}

// ---- What is charged -----------------------------------------------------------------------------------------------

TEST(Run, MeasuringIsNeverCounted) {
  Quadratic<double> problem(quadratic_options(), 3), bare(quadratic_options(), 3);
  Session<F2obo, Quadratic<double>> measured(optimiser(), problem, x1, y1), alone(optimiser(), bare, x1, y1);
  RoundMeter<Quadratic<double>> meter(problem, measured.set(), 0.05);
  OracleCounts shown;
  run(problem, measured, meter, Rng(1), 1, 20, 0.0, [&](const Row& row, const auto&) {
    shown = row.counts;
    return true;
  });
  for (Round t = 1; t <= 20; ++t) {
    bare.reveal(t);
    alone.step(Rng(1));
  }
  EXPECT_EQ(measured.counts(), alone.counts());
  EXPECT_EQ(shown, alone.counts());
  EXPECT_EQ(shown.values, 0);
  EXPECT_EQ(measured.x(), alone.x());  // nor does it change anything
}

TEST(Run, SecondsGoOnFromWhereTheyWere) {
  Quadratic<double> problem(quadratic_options(), 3);
  Session<F2obo, Quadratic<double>> session(optimiser(), problem, x1, y1);
  RoundMeter<Quadratic<double>> meter(problem, session.set(), 0.05);
  double before = 100.0;
  run(problem, session, meter, Rng(1), 1, 5, 100.0, [&](const Row& row, const auto&) {
    EXPECT_GE(row.seconds, before);
    before = row.seconds;
    return true;
  });
  EXPECT_LT(before, 160.0);  // five updates of microseconds each, even on a machine that stalls
}

// Oscillation's reveal allocates nothing, so whatever is counted belongs to the loop, the meter or the optimiser.
TEST(Run, MemoryDoesNotDependOnTheNumberOfRounds) {
  if (!AllocationCounter::supported()) GTEST_SKIP() << "allocations cannot be counted in this build";
  const auto allocations = [](Round last) {
    Oscillation<double> problem({}, 1);
    Session<F2obo, Oscillation<double>> session(optimiser(), problem, Real::Constant(1, 0.3), Real::Zero(1));
    RoundMeter<Oscillation<double>> meter(problem, session.set(), 0.05);
    const AllocationCounter counter;
    run(problem, session, meter, Rng(1), 1, last, 0.0, every_round);
    return counter.count();
  };
  EXPECT_EQ(allocations(1000), allocations(10));
}

// ---- How a run ends ------------------------------------------------------------------------------------------------

TEST(Run, TwoHalvesAreTheWholeBitForBit) {
  const auto play = [](const std::vector<Round>& cuts) {
    Quadratic<double> problem(quadratic_options(), 3);
    Session<F2obo, Quadratic<double>> session(optimiser(), problem, x1, y1);
    RoundMeter<Quadratic<double>> meter(problem, session.set(), 0.05);
    Round first = 1;
    for (const Round last : cuts) {
      EXPECT_EQ(run(problem, session, meter, Rng(1), first, last, 0.0, every_round).rounds, last);
      first = last + 1;
    }
    return std::pair{Real(session.x()), meter.regret()};
  };
  EXPECT_EQ(play({30}), play({7, 8, 30}));
}

// Without a closed form each reference solve starts from the one before: that start belongs to the saved state.
TEST(Run, MeasurementsResumeBitForBitAlsoWhereTheyRestOnReferenceSolves) {
  const auto rows = [](Round cut) {
    std::vector<double> shown;
    const auto see = [&](const Row& row, const auto&) {
      shown.insert(shown.end(), {row.regret, row.regret_increment, row.hypergradient_error});
      return true;
    };
    CallCounting problem(quadratic_options(), 3);
    Session<F2obo, CallCounting> session(optimiser(), problem, x1, y1);
    RoundMeter<CallCounting> first(problem, session.set(), 0.05), second(problem, session.set(), 0.05);
    EXPECT_FALSE(first.closed_form());
    run(problem, session, first, Rng(1), 1, cut, 0.0, see);
    Archive saved;
    saved("meter", first);
    Archive loaded(saved.bytes());
    loaded("meter", second);
    run(problem, session, second, Rng(1), cut + 1, 20, 0.0, see);
    return shown;
  };
  const std::vector<double> whole = rows(20);
  for (const Round cut : {1, 2, 7, 19}) EXPECT_TRUE(rows(cut) == whole) << "cut after round " << cut;
}

TEST(Run, ARowThatSaysStopStopsAndTheLastRowCannot) {
  Quadratic<double> problem(quadratic_options(), 3);
  Session<F2obo, Quadratic<double>> session(optimiser(), problem, x1, y1);
  RoundMeter<Quadratic<double>> meter(problem, session.set(), 0.05);
  const auto until = [](Round t) { return [t](const Row& row, const auto&) { return row.t < t; }; };
  const RunEnd stopped = run(problem, session, meter, Rng(1), 1, 9, 0.0, until(4));
  EXPECT_EQ(stopped.status, RunStatus::stopped);
  EXPECT_EQ(stopped.rounds, 4);
  const RunEnd finished = run(problem, session, meter, Rng(1), 5, 9, 0.0, until(9));
  EXPECT_EQ(finished.status, RunStatus::finished);
  EXPECT_EQ(finished.rounds, 9);
}

TEST(Run, NothingToDoIsFinished) {
  Quadratic<double> problem(quadratic_options(), 3);
  Session<F2obo, Quadratic<double>> session(optimiser(), problem, x1, y1);
  RoundMeter<Quadratic<double>> meter(problem, session.set(), 0.05);
  const RunEnd end = run(problem, session, meter, Rng(1), 5, 4, 0.0, every_round);
  EXPECT_EQ(end.status, RunStatus::finished);
  EXPECT_EQ(end.rounds, 4);
  EXPECT_EQ(session.counts(), OracleCounts{});
}

TEST(Run, ANanEndsItWithTheRoundAndTheQuantityNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<Kind, std::string> cases[] = {{Kind::value, "f is not finite"},
                                                {Kind::f_x, "d is not finite"},
                                                {Kind::g_x, "d is not finite"},
                                                {Kind::f_y, "inner iterate"},
                                                {Kind::g_y, "inner iterate"}};
  for (const auto& [kind, named] : cases) {
    Poisoned problem(quadratic_options(), 3, kind, 6, nan);
    Session<F2obo, Poisoned> session(optimiser(), problem, x1, y1);
    RoundMeter<Poisoned> meter(problem, session.set(), 0.05);
    Round seen = 0;
    const RunEnd end = run(problem, session, meter, Rng(1), 1, 20, 0.0, [&](const Row& row, const auto&) {
      seen = row.t;
      return true;
    });
    EXPECT_EQ(end.status, RunStatus::diverged);
    EXPECT_EQ(end.rounds, 5);
    EXPECT_EQ(seen, 5) << "a row that is no good was handed on";
    EXPECT_NE(end.quantity.find(named), std::string::npos) << end.quantity;
  }
}

}  // namespace
