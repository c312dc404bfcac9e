import { Quantity, ROUND, valuesOf } from "./quantity";
import { cached, Series } from "./series";

// Mean and sample standard deviation over seeds, at the rounds where there is something to average.
// The four lists are equally long and hold finite numbers only; sd is 0 where one run alone has a value.
export interface Aggregate {
  t: Float64Array;
  mean: Float64Array;
  sd: Float64Array;
  count: Uint16Array;
}

function sameList(a: Float64Array, b: Float64Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

// Rounds that every run has: a mean over fewer seeds would jump where one of them ends. The lists increase; runs
// without rounds are ignored.
export function commonRounds(lists: Float64Array[]): Float64Array {
  const some = lists.filter((list) => list.length > 0);
  if (some.length === 0) return new Float64Array(0);
  if (some.every((list) => sameList(list, some[0]))) return some[0];
  const times = new Map<number, number>();
  for (const list of some) for (const t of list) times.set(t, (times.get(t) ?? 0) + 1);
  return Float64Array.from([...times.keys()].filter((t) => times.get(t) === some.length).sort((a, b) => a - b));
}

// Welford's update: no cancellation when the mean is large against the spread. Indexed, because this is the innermost
// loop of loading and iterators of typed arrays are slow.
export function spread(values: ArrayLike<number>): { n: number; mean: number; sd: number } {
  let n = 0;
  let mean = 0;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    const v = values[i];
    if (!Number.isFinite(v)) continue;
    n++;
    const delta = v - mean;
    mean += delta / n;
    squares += delta * (v - mean);
  }
  return { n, mean: n > 0 ? mean : NaN, sd: n > 1 ? Math.sqrt(squares / (n - 1)) : n === 1 ? 0 : NaN };
}

export function aggregateLists(rounds: Float64Array[], values: Float64Array[]): Aggregate {
  const grid = commonRounds(rounds);
  const place = new Array<number>(rounds.length).fill(0);
  const out = {
    t: new Float64Array(grid.length),
    mean: new Float64Array(grid.length),
    sd: new Float64Array(grid.length),
    count: new Uint16Array(grid.length),
  };
  const here = new Float64Array(rounds.length);
  let size = 0;
  for (let k = 0; k < grid.length; k++) {
    const t = grid[k];
    for (let r = 0; r < rounds.length; r++) {
      while (place[r] < rounds[r].length && rounds[r][place[r]] < t) place[r]++;
      here[r] = rounds[r][place[r]] === t ? values[r][place[r]] : NaN;
    }
    const { n, mean, sd } = spread(here);
    if (n === 0) continue;
    out.t[size] = t;
    out.mean[size] = mean;
    out.sd[size] = sd;
    out.count[size++] = n;
  }
  if (size === grid.length) return out;
  return {
    t: out.t.slice(0, size),
    mean: out.mean.slice(0, size),
    sd: out.sd.slice(0, size),
    count: out.count.slice(0, size),
  };
}

// Whether seeds end at different rounds; numbers are those of the rounds that all of them have.
export function unequal(series: Series): boolean {
  return new Set(series.runs.map((run) => run.columns.t.at(-1))).size > 1;
}

export function aggregate(series: Series, quantity: Quantity): Aggregate {
  return cached(series, quantity.key, () => {
    const rounds = cached(series, "rounds", () => series.runs.map((run) => valuesOf(run, ROUND)));
    return aggregateLists(
      rounds,
      series.runs.map((run) => valuesOf(run, quantity)),
    );
  });
}
