import { Cell, Columns, Row, Run, XPath } from "./contract";
import { isObject } from "./loose";

const cell = (v: unknown): Cell => (typeof v === "number" && Number.isFinite(v) ? v : null);

function appendTo(columns: Columns, row: { [name: string]: unknown }, rows: number, skip: Set<string>): void {
  for (const name of Object.keys(row)) {
    if (skip.has(name) || Object.hasOwn(columns, name)) continue;
    // A plain assignment to "__proto__" would change the object's prototype.
    Object.defineProperty(columns, name, {
      value: new Array(rows).fill(null),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  for (const name of Object.keys(columns)) columns[name].push(Object.hasOwn(row, name) ? cell(row[name]) : null);
}

function appendPath(run: Run, key: "values" | "quantiles", list: unknown, t: number, size: unknown): void {
  if (!Array.isArray(list)) return;
  if (!run.x) {
    const path: XPath = { size: typeof size === "number" ? size : list.length, t: [] };
    if (key === "quantiles") path.levels = [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1];
    run.x = path;
  }
  const path = run.x;
  path[key] ??= list.map(() => []);
  if (path[key].length !== list.length) return;
  path.t.push(t);
  list.forEach((v, k) => path[key]![k].push(cell(v)));
}

const SPECIAL = new Set(["evaluation", "x_values", "x_quantiles", "x_size", "alarm", "summary"]);

// False when the row is not newer than the last: after a reconnection some may come twice.
export function appendRow(run: Run, row: Row["row"]): boolean {
  const rounds = run.columns.t;
  const t = row.t;
  if (typeof t !== "number" || (rounds.length > 0 && !(t > (rounds[rounds.length - 1] as number)))) return false;
  const before = rounds.length;
  appendTo(run.columns, row, before, SPECIAL);
  const measures =
    typeof row.evaluation === "object" && row.evaluation !== null
      ? (row.evaluation as { [name: string]: unknown })
      : {};
  appendTo(run.evaluation, measures, before, new Set());
  appendPath(run, "values", row.x_values, t, row.x_size);
  appendPath(run, "quantiles", row.x_quantiles, t, row.x_size);
  if (typeof row.alarm === "string") (run.alarms ??= []).push({ t, text: row.alarm });
  if (isObject(row.summary)) run.summary = row.summary;
  run.rounds = Math.max(run.rounds, t);
  return true;
}
