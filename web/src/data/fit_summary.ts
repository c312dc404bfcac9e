import { list, number, object, text } from "./loose";
import { Report, Run } from "./contract";

// What a fit says of itself at its end, or so far: summary.json, as far as the page shows it. Every part may be absent:
// older folders have less.
export interface FitSummary {
  rows: number;
  rounds: number;
  batch: number; // rows of a round; 0: not said
  settings: [string, string][]; // options that differ from their defaults
  tuned: string[]; // names of the run's x
  atBound: { name: string; share: number }[];
  lastRows: number;
  calibration: { of: string; bins: Bin[] } | null;
  confusion: Confusion | null;
  pairs: { truth: number; predicted: number }[];
  weights: { feature: string; output: string; value: number }[];
  shadow: Shadow | null;
}

export interface Bin {
  rows: number;
  weight: number;
  probability: number;
  frequency: number;
}

// Weights of rows by their true class and the predicted one.
export interface Confusion {
  classes: string[];
  folded: number; // if not 0, one more place: so many rarer classes
  weights: number[][];
  unpredicted: number[]; // by a model that knew no class
}

// What fixed settings would have given, this run's own numbers first.
export interface Shadow {
  columns: string[];
  rows: { name: string; values: number[] }[];
}

const finite = (v: unknown): v is number => typeof v === "number" && Number.isFinite(v);

function readCalibration(value: unknown): FitSummary["calibration"] {
  const { of, bins } = object(value);
  const read = list(bins).map((bin) => {
    const b = object(bin);
    return {
      rows: number(b.rows),
      weight: number(b.weight),
      probability: number(b.probability),
      frequency: number(b.frequency),
    };
  });
  return read.some((bin) => bin.rows > 0) ? { of: text(of), bins: read } : null;
}

// Lists of other lengths than its classes have are refused: a table of them would be wrong.
function readConfusion(value: unknown): Confusion | null {
  const raw = object(value);
  const classes = list(raw.classes).map(text);
  const folded = number(raw.folded);
  const places = classes.length + (folded > 0 ? 1 : 0);
  const weights = list(raw.weights).map((row) => list(row).map(number));
  if (places === 0 || weights.length !== places || weights.some((row) => row.length !== places)) return null;
  const unpredicted = list(raw.unpredicted).map(number);
  return { classes, folded, weights, unpredicted: weights.map((_, i) => unpredicted[i] ?? 0) };
}

const MAIN = /^(window_)?(log_loss|accuracy|(squared|absolute|median)_error)$/;
const MAX_COLUMNS = 6;

type Numbers = Map<string, number>;

// Metrics over all rows, and those of the window: an object, or one number.
function metrics(all: unknown, window: unknown): Numbers {
  const last = Object.entries(object(window)).map(([name, value]) => [`window_${name}`, value]);
  const named = [...Object.entries(object(all)), ...last];
  return new Map(named.filter((entry): entry is [string, number] => finite(entry[1])));
}

function readShadow(summary: { [name: string]: unknown }): Shadow | null {
  const cells = list(summary.shadow)
    .map(object)
    .map((cell) => ({ name: text(cell.name), numbers: metrics(cell, cell.window) }));
  if (cells.length === 0) return null;
  const own = metrics(summary.prequential, summary.window);
  own.set("window", own.get("window_log_loss") ?? own.get("window_squared_error") ?? NaN);
  const names = [...new Set(cells.flatMap(({ numbers }) => [...numbers.keys()]))];
  const main = names.filter((name) => MAIN.test(name) || name === "window");
  const columns = (main.length > 0 ? main : names).slice(0, MAX_COLUMNS);
  return {
    columns,
    rows: [{ name: "this run", numbers: own }, ...cells].map(({ name, numbers }) => ({
      name,
      values: columns.map((column) => numbers.get(column) ?? NaN),
    })),
  };
}

function readPairs(value: unknown): FitSummary["pairs"] {
  return list(value).flatMap((pair) => {
    const [truth, predicted] = list(pair);
    return finite(truth) && finite(predicted) ? [{ truth, predicted }] : [];
  });
}

function readSummary(summary: { [name: string]: unknown }): FitSummary | null {
  if (!Array.isArray(summary.tuned)) return null;
  const last = object(summary.last_window);
  return {
    rows: number(summary.rows),
    rounds: number(summary.rounds),
    batch: number(summary.batch),
    settings: Object.entries(object(summary.settings)).map(([key, value]) => [key, text(value)]),
    tuned: summary.tuned.map(text),
    atBound: Object.entries(object(summary.at_bound)).flatMap(([name, share]) =>
      finite(share) && share > 0 ? [{ name, share }] : [],
    ),
    lastRows: number(last.rows),
    calibration: readCalibration(last.calibration),
    confusion: readConfusion(last.confusion),
    pairs: readPairs(last.pairs),
    weights: list(summary.largest_weights)
      .map(object)
      .map((w) => ({ feature: text(w.feature), output: text(w.for), value: number(w.weight) })),
    shadow: readShadow(summary),
  };
}

const read = new WeakMap<object, FitSummary | null>();

// Of a run in progress with the run, of a finished one with its source; null if it is not of a fit.
export function fitOf(report: Report, run: Run): FitSummary | null {
  const source = report.sources[run.source];
  const raw = run.summary ?? (source.kind === "run" ? source.summary : null);
  if (typeof raw !== "object" || raw === null) return null;
  if (!read.has(raw)) read.set(raw, readSummary(object(raw)));
  return read.get(raw)!;
}
