import { ColumnInfo, Run } from "./contract";
import { COST, fromColumn, fromEvaluation, has, PRODUCTS, Quantity } from "./quantity";
import { Series } from "./series";

// Which charts there are, and which quantities each can show.
export interface PanelSpec {
  id: string;
  title: string;
  quantities: Quantity[];
  log: boolean; // starts with a logarithmic y axis
  wide: boolean;
  more: boolean; // under "More measures"
}

// `lead`: the column shown first; `sums`: what a panel shows besides the columns that the report's catalogue gives it.
const PANELS: { id: string; title: string; wide?: boolean; lead?: string; log?: boolean; sums?: Quantity[] }[] = [
  { id: "regret", title: "Regret", wide: true },
  { id: "losses", title: "Losses" },
  { id: "accuracy", title: "Accuracy" },
  { id: "squared", title: "Squared error", log: true },
  { id: "absolute", title: "Absolute error" },
  { id: "lambda", title: "Penalty λ" },
  { id: "steps", title: "Inner steps" },
  { id: "residuals", title: "Residuals and errors", lead: "residual_y" },
  { id: "oracle", title: "Oracle calls", sums: [PRODUCTS, COST] },
  { id: "time", title: "Wall time" },
];

function panelOf(evaluation: string): string {
  const name = evaluation.toLowerCase();
  if (name.includes("loss")) return "losses";
  if (/accuracy|balanced|f1|kappa/.test(name)) return "accuracy";
  if (name.includes("regret")) return "regret";
  if (name.endsWith("squared_error")) return "squared";
  if (/(absolute|median)_error$/.test(name)) return "absolute";
  return "more";
}

// Metrics of the last rows say how a fit is doing now: they come first, its losses round by round last.
const FIRST = ["window_log_loss", "window_accuracy"];
function placeOf({ terms: [{ from, column }] }: Quantity): number {
  if (from !== "evaluation") return 3;
  return FIRST.includes(column) ? 0 : column.startsWith("window_") ? 1 : 2;
}

function namesIn(runs: Run[], from: "columns" | "evaluation"): string[] {
  return [...new Set(runs.flatMap((run) => Object.keys(run[from])))];
}

function measured(runs: Run[], quantity: Quantity): boolean {
  const inRun = (run: Run) =>
    quantity.terms.some(({ from, column }) => run[from][column]?.some((v) => typeof v === "number"));
  return runs.some((run) => has(run, quantity) && inRun(run));
}

function morePanel(quantity: Quantity, log = false): PanelSpec {
  return {
    id: `more-${quantity.key}`,
    title: quantity.name,
    quantities: [quantity],
    log,
    wide: false,
    more: true,
  };
}

function fixedPanels(catalogue: ColumnInfo[]): PanelSpec[] {
  return PANELS.map(({ id, title, wide = false, lead, log = false, sums = [] }) => {
    const columns = catalogue.filter((c) => c.panel === id);
    columns.sort((a, b) => Number(b.name === lead) - Number(a.name === lead));
    return {
      id,
      title,
      quantities: [...columns.map((c) => fromColumn(c.name, c)), ...sums],
      log: log || (columns.length > 0 && columns[0].scale === "log"),
      wide,
      more: false,
    };
  });
}

// Only panels with data, of the whole report: a chart does not come and go with the stream. A column that no panel
// takes has one of its own.
export function panelsOf(series: Series[], catalogue: ColumnInfo[]): PanelSpec[] {
  const runs = series.flatMap((s) => s.runs);
  const panels = fixedPanels(catalogue);
  const placed = new Set(["t"]);
  for (const { quantities } of panels)
    for (const { terms } of quantities) for (const { column } of terms) placed.add(column);
  for (const name of namesIn(runs, "evaluation")) {
    const panel = panels.find((p) => p.id === panelOf(name));
    if (panel) panel.quantities.push(fromEvaluation(name));
    else panels.push(morePanel(fromEvaluation(name)));
  }
  for (const name of namesIn(runs, "columns")) {
    if (placed.has(name)) continue;
    const info = catalogue.find((c) => c.name === name);
    panels.push(morePanel(fromColumn(name, info), info?.scale === "log"));
  }
  const windowed = namesIn(runs, "evaluation").some((name) => name.startsWith("window_"));
  for (const panel of panels) {
    panel.quantities = panel.quantities.filter((q) => measured(runs, q));
    if (panel.quantities.some((q) => placeOf(q) < 2)) panel.quantities.sort((a, b) => placeOf(a) - placeOf(b));
    // Of a fit, what is not evaluated is of little interest.
    if (windowed && panel.quantities.every((q) => placeOf(q) === 3)) panel.more = true;
    // Runs without a regret still have the mapping that it would be the sum of.
    if (panel.id === "regret" && !panel.quantities.some((q) => q.key.includes("regret")))
      panel.title = panel.quantities[0]?.name ?? panel.title;
  }
  return panels.filter((panel) => panel.quantities.length > 0);
}

export function evaluationNames(series: Series[]): string[] {
  return namesIn(series.flatMap((s) => s.runs), "evaluation");
}
