import { Aggregate, aggregate } from "../data/aggregate";
import { COST, has, Quantity, ROUND, ROWS, SECONDS } from "../data/quantity";
import { cached, Series } from "../data/series";

export type XAxis = "rounds" | "rows" | "cost" | "seconds";

export const X_AXES: { [axis in XAxis]: { choice: string; title: string; quantity: Quantity } } = {
  rounds: { choice: "rounds", title: "round t", quantity: ROUND },
  rows: { choice: "rows", title: "rows", quantity: ROWS },
  cost: {
    choice: "gradient evaluations",
    title: "gradient evaluations (gradients of f and g + 2 · products + ½ · values)",
    quantity: COST,
  },
  seconds: { choice: "seconds", title: "seconds spent in updates", quantity: SECONDS },
};

export function axisAvailable(axis: XAxis, series: Series[]): boolean {
  return axis === "rounds" || series.some((s) => s.runs.some((run) => has(run, X_AXES[axis].quantity)));
}

function interpolate(at: Float64Array, x: Float64Array, y: Float64Array): Float64Array {
  const out = new Float64Array(at.length);
  let j = 0;
  for (let i = 0; i < at.length; i++) {
    while (j + 1 < x.length && x[j + 1] <= at[i]) j++;
    const next = Math.min(j + 1, x.length - 1);
    const share = x[next] > x[j] ? Math.min(1, Math.max(0, (at[i] - x[j]) / (x[next] - x[j]))) : 0;
    out[i] = y[j] + share * (y[next] - y[j]);
  }
  return out;
}

// Where the rounds of a list stand on the axis: the mean over seeds. When a seed ends early that mean may step back;
// the running maximum keeps the axis increasing.
export function positions(series: Series, axis: XAxis, rounds: Float64Array): Float64Array {
  if (axis === "rounds") return rounds;
  const cost: Aggregate = cached(series, `x:${axis}`, () => {
    const mean = aggregate(series, X_AXES[axis].quantity);
    const rising = mean.mean.slice();
    for (let i = 1; i < rising.length; i++) rising[i] = Math.max(rising[i], rising[i - 1]);
    return { ...mean, mean: rising };
  });
  if (cost.t.length === 0) return new Float64Array(rounds.length).fill(NaN);
  return interpolate(rounds, cost.t, cost.mean);
}
