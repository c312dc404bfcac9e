import { aggregate } from "../data/aggregate";
import { evaluationNames } from "../data/catalogue";
import { duration, meanAndSd } from "../text/number_format";
import {
  COST,
  fromColumn,
  fromEvaluation,
  GRADIENTS,
  has,
  PRODUCTS,
  Quantity,
  REGRET,
  SECONDS,
} from "../data/quantity";
import { Series } from "../data/series";

export interface SummaryCell {
  text: string;
  sort: number | string;
  csv: (string | number)[];
}

export interface SummaryColumn {
  title: string;
  numeric: boolean;
  csv: string[];
  cell(series: Series): SummaryCell;
}

const nameColumn = (title: string, get: (s: Series) => string): SummaryColumn => ({
  title,
  numeric: false,
  csv: [title],
  cell: (s) => ({ text: get(s), sort: get(s), csv: [get(s)] }),
});

const countColumn = (title: string, get: (s: Series) => number): SummaryColumn => ({
  title,
  numeric: true,
  csv: [title],
  cell: (s) => ({ text: String(get(s)), sort: get(s), csv: [get(s)] }),
});

const withStatus = (s: Series, ...states: string[]): number =>
  s.runs.filter((run) => states.includes(run.status)).length;

// As in the program's tables: where a seed diverged the series has no last value, and the regret says so.
function measureColumn(
  title: string,
  quantity: Quantity,
  format: (mean: number, sd: number, n: number) => string,
): SummaryColumn {
  return {
    title,
    numeric: true,
    csv: [`${title} mean`, `${title} sd`],
    cell: (s) => {
      const diverged = withStatus(s, "diverged");
      if (diverged > 0) {
        const text = quantity.key === REGRET.key ? `diverged (${diverged} of ${s.runs.length})` : "–";
        return { text, sort: Infinity, csv: ["", ""] };
      }
      const all = aggregate(s, quantity);
      const [n, mean, sd] = [all.count.at(-1) ?? 0, all.mean.at(-1) ?? NaN, all.sd.at(-1) ?? NaN];
      return {
        text: n > 0 ? format(mean, sd, n) : "–",
        sort: n > 0 ? mean : NaN,
        csv: n > 0 ? [mean, n > 1 ? sd : ""] : ["", ""],
      };
    },
  };
}

export function summaryColumns(series: Series[]): SummaryColumn[] {
  const any = (q: Quantity) => series.some((s) => s.runs.some((run) => has(run, q)));
  const windowed = evaluationNames(series).some((name) => name.startsWith("window_"));
  const measures: [string, Quantity][] = [
    ["final regret", REGRET],
    ...(windowed ? [] : [["final f", fromColumn("f")] as [string, Quantity]]), // the loss of a few rows says nothing
    ...evaluationNames(series).map((name): [string, Quantity] => [name.replace(/_/g, " "), fromEvaluation(name)]),
    ["gradients", GRADIENTS],
    ["products", PRODUCTS],
    ["evaluations", COST],
  ];
  const running = series.some((s) => withStatus(s, "running", "stopped") > 0);
  return [
    nameColumn("stream", (s) => s.stream),
    nameColumn("optimiser", (s) => (s.origin ? `${s.optimiser} [${s.origin}]` : s.optimiser)),
    nameColumn("setting", (s) => s.setting),
    countColumn("seeds", (s) => s.runs.length),
    countColumn("finished", (s) => withStatus(s, "finished")),
    countColumn("diverged", (s) => withStatus(s, "diverged")),
    ...(running ? [countColumn("unfinished", (s) => withStatus(s, "running", "stopped"))] : []),
    ...measures.filter(([, q]) => any(q)).map(([title, q]) => measureColumn(title, q, meanAndSd)),
    ...(any(SECONDS) ? [measureColumn("time", SECONDS, (mean) => duration(mean))] : []),
  ];
}

// Missing numbers sort last in either direction.
export function compareCells(a: SummaryCell, b: SummaryCell, direction: 1 | -1): number {
  if (typeof a.sort === "string" || typeof b.sort === "string")
    return direction * String(a.sort).localeCompare(String(b.sort), "en");
  const lost = (v: number) => (Number.isNaN(v) ? 2 : v === Infinity ? 1 : 0);
  if (lost(a.sort) || lost(b.sort)) return lost(a.sort) - lost(b.sort);
  return direction * (a.sort - b.sort);
}
