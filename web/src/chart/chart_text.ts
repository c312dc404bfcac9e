import { ChartModel, Curve, nearestIndex, NumbersTable, Range } from "./chart_model";
import { csvRow } from "../text/table_text";
import { meanAndSd, significant } from "../text/number_format";
import { shorten } from "../text/shorten";

const MAX_SPOKEN = 16;

const valueText = (c: Curve, i: number): string => {
  if (c.width === 0 && c.band) return `${significant(c.band.lo[i], 4)} to ${significant(c.band.hi[i], 4)}`;
  return meanAndSd(c.y[i], c.sd?.[i] ?? 0, c.sd ? 2 : 1);
};

export function spoken(model: ChartModel): string {
  const curves = model.curves.filter((c) => !c.quiet && c.x.length > 0);
  const said = curves
    .slice(0, MAX_SPOKEN)
    .map((c) => `${shorten(c.label, 60)} ${valueText(c, c.x.length - 1)}${c.note ? ` (${c.note})` : ""}`);
  const rest = curves.length > MAX_SPOKEN ? `, and ${curves.length - MAX_SPOKEN} more` : "";
  const values = said.length > 0 ? `Last values: ${said.join(", ")}${rest}.` : "No series shown.";
  return `${shorten(model.title, 120)}, against ${model.xTitle}. ${values}`;
}

function union(curves: Curve[], range: Range): number[] {
  const all = new Set<number>();
  for (const { x } of curves) for (const v of x) if (v >= range.min && v <= range.max) all.add(v);
  return [...all].sort((a, b) => a - b);
}

// At most `max` items, the first and the last among them.
export function sample<T>(list: T[], max: number): T[] {
  if (list.length <= max) return list;
  return Array.from({ length: max }, (_, i) => list[Math.round((i * (list.length - 1)) / (max - 1))]);
}

// Every series has its own x values when the axis is not rounds: each line then has the nearest row of every series.
export function numbersTable(model: ChartModel, range: Range, max: number): NumbersTable {
  if (model.table) return model.table;
  const curves = model.curves.filter((c) => !c.quiet && c.x.length > 0);
  const xs = sample(union(curves, range), max);
  const cell = (c: Curve, x: number): string => {
    if (x > c.x[c.x.length - 1] || x < c.x[0]) return "–";
    return valueText(c, nearestIndex(c.x, x));
  };
  return {
    header: [model.xTitle, ...curves.map((c) => c.label)],
    rows: xs.map((x) => [significant(x, 7), ...curves.map((c) => cell(c, x))]),
  };
}

// Full precision, long form: one line per point, because series need not share x values.
export function chartCsv(model: ChartModel): string {
  if (model.table) return [model.table.header, ...model.table.rows].map(csvRow).join("");
  const lines = [csvRow(["series", model.xTitle, model.yTitle, "sd", "low", "high"])];
  for (const c of model.curves) {
    for (let i = 0; i < c.x.length && !c.quiet; i++) {
      const band = c.band ? [c.band.lo[i], c.band.hi[i]] : ["", ""];
      lines.push(csvRow([c.label, c.x[i], c.y[i], c.sd ? c.sd[i] : "", ...band]));
    }
  }
  return lines.join("");
}
