import { Cell, ColumnInfo, Run } from "./contract";

// One number per round: a column, a measure that the problem names, or a sum of columns.
export interface Quantity {
  key: string;
  name: string;
  meaning?: string;
  terms: { from: "columns" | "evaluation"; column: string; weight: number }[];
}

const words = (name: string): string => name.replace(/_/g, " ");

// `info`: what the report's catalogue says of the column.
export function fromColumn(column: string, info?: ColumnInfo): Quantity {
  return {
    key: `c:${column}`,
    name: info?.label ?? words(column),
    meaning: info?.meaning,
    terms: [{ from: "columns", column, weight: 1 }],
  };
}

export function fromEvaluation(column: string): Quantity {
  return { key: `e:${column}`, name: words(column), terms: [{ from: "evaluation", column, weight: 1 }] };
}

function sum(key: string, name: string, weights: { [column: string]: number }): Quantity {
  const terms = Object.entries(weights).map(([column, weight]) => ({ from: "columns" as const, column, weight }));
  return { key, name, terms };
}

export const ROUND = fromColumn("t");
export const ROWS = fromColumn("rows"); // of a fit
export const SECONDS = fromColumn("seconds");
export const REGRET = fromColumn("regret");
export const GRADIENTS = sum("s:gradients", "gradients of f and g", { grad_f: 1, grad_g: 1 });
export const PRODUCTS = sum("s:products", "products (g_yy v and g_xy v)", { hvp: 1, cross: 1 });
// A product costs about two gradients, a value half of one: as the program counts evaluations.
export const COST = sum("s:cost", "gradient evaluations", { grad_f: 1, grad_g: 1, hvp: 2, cross: 2, values: 0.5 });

export function columnOf(run: Run, from: "columns" | "evaluation", column: string): Cell[] | undefined {
  return Object.hasOwn(run[from], column) ? run[from][column] : undefined;
}

// A sum counts absent columns as nothing, but at least one must be there.
export function has(run: Run, quantity: Quantity): boolean {
  return quantity.terms.some(({ from, column }) => columnOf(run, from, column) !== undefined);
}

export function valuesOf(run: Run, quantity: Quantity): Float64Array {
  const out = new Float64Array(run.columns.t.length);
  if (!has(run, quantity)) return out.fill(NaN);
  for (const { from, column, weight } of quantity.terms) {
    const cells = columnOf(run, from, column);
    if (!cells) continue;
    for (let i = 0; i < out.length; i++) {
      const cell = cells[i];
      out[i] += typeof cell === "number" ? weight * cell : NaN;
    }
  }
  return out;
}

// Looks from the end: a table of last values must not read whole columns.
export function lastValue(run: Run, quantity: Quantity): number {
  const parts = quantity.terms.flatMap(({ from, column, weight }) => {
    const cells = columnOf(run, from, column);
    return cells ? [{ cells, weight }] : [];
  });
  if (parts.length === 0) return NaN;
  for (let i = run.columns.t.length - 1; i >= 0; i--) {
    let value = 0;
    for (const { cells, weight } of parts) value += typeof cells[i] === "number" ? weight * (cells[i] as number) : NaN;
    if (Number.isFinite(value)) return value;
  }
  return NaN;
}
