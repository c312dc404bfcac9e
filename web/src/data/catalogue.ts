import { COST, fromColumn, fromEvaluation, has, PRODUCTS, Quantity, REGRET, SECONDS } from "./quantity";
import { Run } from "./contract";
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

const columns = (...names: string[]): Quantity[] => names.map(fromColumn);

const FIXED: Omit<PanelSpec, "more">[] = [
  { id: "regret", title: "Regret", quantities: [REGRET, ...columns("regret_increment", "own_mapping")], log: false, wide: true },
  { id: "losses", title: "Losses", quantities: columns("f", "g"), log: false, wide: false },
  { id: "accuracy", title: "Accuracy", quantities: [], log: false, wide: false },
  { id: "lambda", title: "Penalty λ", quantities: columns("lambda"), log: false, wide: false },
  { id: "steps", title: "Inner steps", quantities: columns("inner_steps", "inner_steps_y", "inner_steps_z", "capped", "indefinite"), log: false, wide: false },
  {
    id: "residuals",
    title: "Residuals and errors",
    quantities: columns("residual_y", "residual_z", "separation", "distance_y", "distance_z", "hypergradient_error"),
    log: true,
    wide: false,
  },
  { id: "oracle", title: "Oracle calls", quantities: [...columns("grad_f", "grad_g"), PRODUCTS, COST, ...columns("hvp", "cross", "values")], log: false, wide: false },
  { id: "time", title: "Wall time", quantities: [SECONDS], log: false, wide: false },
];

function panelOf(evaluation: string): string {
  const name = evaluation.toLowerCase();
  if (name.includes("loss")) return "losses";
  if (/accuracy|balanced|f1|kappa/.test(name)) return "accuracy";
  if (name.includes("regret")) return "regret";
  return "more";
}

const namesIn = (runs: Run[], from: "columns" | "evaluation"): string[] => [...new Set(runs.flatMap((run) => Object.keys(run[from])))];

function measured(runs: Run[], quantity: Quantity): boolean {
  return runs.some((run) => has(run, quantity) && quantity.terms.some(({ from, column }) => run[from][column]?.some((v) => typeof v === "number")));
}

function morePanel(quantity: Quantity): PanelSpec {
  return { id: `more-${quantity.key}`, title: quantity.name, quantities: [quantity], log: false, wide: false, more: true };
}

// Only panels with data, of the whole report: a chart does not come and go with the stream.
export function panelsOf(series: Series[]): PanelSpec[] {
  const runs = series.flatMap((s) => s.runs);
  const panels: PanelSpec[] = FIXED.map((spec) => ({ ...spec, quantities: [...spec.quantities], more: false }));
  const known = new Set(["t", ...FIXED.flatMap((p) => p.quantities.flatMap((q) => q.terms.map((term) => term.column)))]);
  for (const name of namesIn(runs, "evaluation")) {
    const panel = panels.find((p) => p.id === panelOf(name));
    if (panel) panel.quantities.push(fromEvaluation(name));
    else panels.push(morePanel(fromEvaluation(name)));
  }
  for (const name of namesIn(runs, "columns")) if (!known.has(name)) panels.push(morePanel(fromColumn(name)));
  for (const panel of panels) {
    panel.quantities = panel.quantities.filter((q) => measured(runs, q));
    // Runs without a regret still have the mapping that it would be the sum of.
    if (panel.id === "regret" && !panel.quantities.some((q) => q.name.includes("regret"))) panel.title = panel.quantities[0]?.name ?? panel.title;
  }
  return panels.filter((panel) => panel.quantities.length > 0);
}

export function evaluationNames(series: Series[]): string[] {
  return namesIn(series.flatMap((s) => s.runs), "evaluation");
}
