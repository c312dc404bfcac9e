import { valuesOf, Quantity, ROUND } from "./quantity";
import { Series } from "./series";

interface Points {
  t: ArrayLike<number>;
  values: ArrayLike<number>;
}

// The exponent p of regret ~ t^p, as `obolus plot` fits it: least squares of log regret on log t over the last decade
// of rounds, with one level per seed. Only positive values count; fewer than three points give no slope.
export function logLogSlope(runs: Points[]): number {
  let n = 0;
  let xx = 0;
  let xy = 0;
  for (const { t, values } of runs) {
    const last = t[t.length - 1];
    const points: [number, number][] = [];
    for (let i = 0; i < t.length; i++)
      if (10 * t[i] >= last && values[i] > 0) points.push([Math.log(t[i]), Math.log(values[i])]);
    const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length;
    const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length;
    n += points.length;
    for (const [x, y] of points) {
      xx += (x - meanX) ** 2;
      xy += (x - meanX) * (y - meanY);
    }
  }
  return n >= 3 && xx > 0 ? xy / xx : NaN;
}

export function slopeOf(series: Series, quantity: Quantity): number {
  return logLogSlope(series.runs.map((run) => ({ t: valuesOf(run, ROUND), values: valuesOf(run, quantity) })));
}
