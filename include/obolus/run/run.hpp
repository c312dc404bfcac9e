// The loop: commit, reveal, measure, update. This order lives here and nowhere else.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "obolus/any/session.hpp"
#include "obolus/metrics/round_meter.hpp"
#include "obolus/run/run_end.hpp"

namespace obolus {

// Rounds first … last. `on_row(row, meter)` sees every finished round and returns false to stop.
// `seconds` is the time spent in updates before `first`; measuring is never on the clock.
template <FirstOrderOracle P, class OnRow>
  requires Stream<P>
RunEnd run(P& problem, AnySession<ScalarOf<P>>& session, RoundMeter<P>& meter, const Rng& rng, Round first, Round last,
           double seconds, OnRow&& on_row) {
  using Clock = std::chrono::steady_clock;
  RunEnd end{RunStatus::finished, first - 1, {}};
  const auto diverged = [&](std::string_view quantity) {
    end.status = RunStatus::diverged;
    end.quantity = quantity;
    return end;
  };
  for (Round t = first; t <= last; ++t) {
    problem.reveal(t);
    Row row{.t = t};
    meter.before(problem, session, row, t == last);
    const auto start = Clock::now();
    const Step step = session.step(rng);
    seconds += std::chrono::duration<double>(Clock::now() - start).count();
    if (step.status != Status::ok) return diverged(to_string(step.status));
    meter.after(problem, session, step, row);
    row.seconds = seconds;
    if (const auto bad = non_finite(row); !bad.empty()) return diverged(std::string(bad) + " is not finite");
    end.rounds = t;
    if (!on_row(row, meter)) {
      if (t < last) end.status = RunStatus::stopped;
      return end;
    }
  }
  return end;
}

}  // namespace obolus
