// The report's data, format 1. Null stands for a number that was not measured or stopped being finite.

export type Cell = number | null;
export type Columns = { [name: string]: Cell[] };

export interface Report {
  format: 1;
  title: string;
  made: { obolus: string; date: string; command: string };
  catalogue: ColumnInfo[]; // of the program's columns; absent in reports of older programs, and then read as empty
  sources: Source[];
  runs: Run[];
}

// What the program says of a column.
export interface ColumnInfo {
  name: string;
  label: string;
  meaning: string;
  panel: string; // the id of a panel; any other: a panel of its own
  scale: "linear" | "log";
}

export interface Mark {
  t: number;
  text: string;
}

export interface Table {
  title: string;
  header: string[];
  align: string;
  rows: string[][];
}

export interface Source {
  name: string;
  kind: "run" | "comparison";
  config: string;
  about: About[];
  summary: object | null;
  ranking?: { by: string; rank: "least" | "most" };
  best?: { stream: string; optimiser: string; setting: string }[]; // of a finished comparison: what its tables show
  streams: { name: string; problem: string; marks: Mark[] }[];
  tables?: Table[];
}

export interface About {
  command: string;
  obolus: string;
  started: string;
  machine: { processor: string; cores: number; memory_gb: number; system: string; compiler: string };
}

export type Status = "finished" | "stopped" | "diverged" | "running";

export interface XPath {
  size: number;
  t: number[];
  values?: Cell[][];
  levels?: number[];
  quantiles?: Cell[][];
}

export interface Histogram {
  size: number;
  least: number;
  most: number;
  counts: number[];
  values?: number[];
}

export interface Run {
  source: number;
  stream: string;
  optimiser: string;
  setting: string;
  seed: number;
  status: Status;
  quantity?: string;
  rounds: number;
  horizon: number;
  notes: string[];
  columns: Columns;
  evaluation: Columns;
  x?: XPath;
  final?: Histogram;
  bound?: number | null;
  alarms?: Mark[]; // of detectors of drift
  summary?: object; // of a fit in progress; that of a finished one is its source's
}

export interface RunName {
  stream: string;
  optimiser: string;
  setting: string;
  seed: number;
}

export interface Row {
  run: RunName;
  row: { [name: string]: unknown };
}

export interface Progress {
  done: number;
  of: number;
  unit: "rounds" | "jobs";
  seconds: number;
  remaining: number | null;
  paused: boolean;
}
