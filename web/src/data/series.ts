import { Run, Report } from "./contract";

// Runs of one (stream, optimiser, setting) over seeds. `cache` holds what was computed from the runs; code
// that changes a run clears it.
export interface Series {
  id: string;
  stream: string;
  optimiser: string;
  setting: string;
  origin: string; // the source's name if two sources hold the same runs, otherwise ""
  runs: Run[];
  cache: Map<string, unknown>;
}

const SEPARATOR = "\u0001";

export function label(series: Series): string {
  const parts = [series.optimiser, series.setting, series.origin && `[${series.origin}]`];
  return parts.filter((part) => part !== "").join(" · ");
}

// Runs of different folders may be one series; those of different comparisons are not: their problems may differ.
function keyOf(report: Report, run: Run): string {
  const { kind } = report.sources[run.source];
  return [kind, kind === "comparison" ? run.source : "", run.stream, run.optimiser, run.setting].join(SEPARATOR);
}

function sourceNames(report: Report): string[] {
  const seen = new Map<string, number>();
  return report.sources.map(({ name }) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  });
}

function groupBy<T>(items: T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const k = key(item);
    const group = groups.get(k);
    if (group) group.push(item);
    else groups.set(k, [item]);
  }
  return groups;
}

const seedsClash = (runs: Run[]): boolean => new Set(runs.map((r) => r.seed)).size < runs.length;

function makeSeries(id: string, runs: Run[], origin: string): Series {
  const [{ stream, optimiser, setting }] = runs;
  return { id, stream, optimiser, setting, origin, runs, cache: new Map() };
}

export function groupRuns(report: Report): Series[] {
  const names = sourceNames(report);
  const all: Series[] = [];
  for (const [key, runs] of groupBy(report.runs, (run) => keyOf(report, run))) {
    if (!seedsClash(runs)) {
      all.push(makeSeries(key, runs, ""));
      continue;
    }
    for (const [source, part] of groupBy(runs, (run) => String(run.source))) {
      all.push(makeSeries(key + SEPARATOR + source, part, names[Number(source)]));
    }
  }
  // A run folder and a comparison may share every name; they are not averaged, so their labels must differ too.
  for (const same of groupBy(all, (s) => s.stream + SEPARATOR + label(s)).values()) {
    if (same.length > 1) for (const s of same) s.origin = names[s.runs[0].source];
  }
  return all;
}

export function streamNames(series: Series[]): string[] {
  return [...new Set(series.map((s) => s.stream))];
}

export function cached<T>(series: Series, key: string, compute: () => T): T {
  if (!series.cache.has(key)) series.cache.set(key, compute());
  return series.cache.get(key) as T;
}
