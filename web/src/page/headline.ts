import { View } from "../view/view";

const count = (n: number, one: string, many = `${one}s`): string => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

// One sentence on what the report holds.
export function headline(view: View): string {
  const { runs } = view.report;
  if (runs.length === 0) return "There are no runs yet.";
  const seeds = new Set(runs.map((run) => run.seed)).size;
  const rounds = runs.reduce((max, run) => Math.max(max, run.rounds), 0);
  const states = (["finished", "running", "stopped", "diverged"] as const)
    .map((state) => [runs.filter((run) => run.status === state).length, state] as const)
    .filter(([n]) => n > 0)
    .map(([n, state]) => `${n.toLocaleString("en")} ${state}`);
  const streams =
    view.streams.length > 1 ? ` on ${count(view.streams.length, "stream")}` : view.stream ? ` on ${view.stream}` : "";
  const optimisers = count(view.optimisers().length, "optimiser");
  const size = `${count(seeds, "seed")}, up to ${count(rounds, "round")}: ${count(runs.length, "run")}`;
  return `${optimisers}${streams}, ${size} (${states.join(", ")}).`;
}
