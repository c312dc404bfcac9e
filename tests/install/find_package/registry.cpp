// A run by name, from a text, through the compiled library.
#include <cstdio>
#include <obolus/any/listing.hpp>
#include <obolus/run/experiment.hpp>

int main() {
  if (obolus::list_optimisers().empty() || obolus::list_problems().empty()) return 1;
  const obolus::Experiment experiment(
      "[problem]\nname = \"oscillation\"\nrounds = 50\n[optimiser]\nname = \"af2obo\"\n[start]\nx = 0.5\n"
      "[domain]\nset = \"box\"\nlower = -1\nupper = 1\n",
      "built in", ".");
  const obolus::RunSummary summary = experiment.run({});
  std::printf("%s on %s: regret %g\n", summary.optimiser.c_str(), summary.problem.c_str(), summary.last.regret);
  return summary.end.status == obolus::RunStatus::finished && summary.end.rounds == 50 ? 0 : 2;
}
