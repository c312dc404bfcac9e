import { aggregate, unequal } from "../data/aggregate";
import { ChartModel, Curve } from "../chart/chart_model";
import { Quantity, REGRET } from "../data/quantity";
import { shorten } from "../text/shorten";
import { slopeOf } from "../data/slope";
import { Shown, View } from "./view";
import { X_AXES, positions } from "./x_axis";

export interface Logs {
  x: boolean;
  y: boolean;
}

function curve(shown: Shown, quantity: Quantity, view: View, slopes: boolean): Curve | null {
  const { series, style } = shown;
  const all = aggregate(series, quantity);
  if (all.t.length === 0) return null;
  const x = positions(series, view.xAxis, all.t);
  if (Number.isNaN(x[0])) return null;
  const several = series.runs.length > 1;
  const band = several
    ? { lo: all.mean.map((m, i) => m - all.sd[i]), hi: all.mean.map((m, i) => m + all.sd[i]), opacity: 0.15 }
    : undefined;
  const slope = slopes ? slopeOf(series, quantity) : NaN;
  const note = Number.isNaN(slope) ? undefined : `slope ${slope.toFixed(2).replace("-", "−")}`;
  return {
    id: series.id,
    label: shown.label,
    style,
    width: 1.6,
    x,
    y: all.mean,
    band,
    sd: several ? all.sd : undefined,
    note,
  };
}

const isBound = (bound: unknown): bound is number => typeof bound === "number" && bound > 0 && Number.isFinite(bound);

// Methods of one theorem often share its bound: one line, named after all of them.
function bounds(shown: Shown[]): ChartModel["levels"] {
  const levels = new Map<number, { names: string[]; style: Shown["style"] }>();
  for (const { series, label, style } of shown) {
    for (const bound of new Set(series.runs.map((run) => run.bound).filter(isBound))) {
      const level = levels.get(bound);
      if (level) level.names.push(label);
      else levels.set(bound, { names: [label], style });
    }
  }
  return [...levels].map(([y, { names, style }]) => ({ y, text: `bound of ${names.join(", ")}`, style }));
}

function alarmsText(view: View): string[] {
  const counts = new Map<string, number>();
  for (const { text } of view.alarms()) counts.set(text, (counts.get(text) ?? 0) + 1);
  const said = [...counts].map(([by, n]) => `${n.toLocaleString("en")} by ${shorten(by, 30)}`);
  return said.length > 0 ? [`Dashed vertical lines: drift alarms, ${said.join(", ")}.`] : [];
}

export function quantityModel(view: View, title: string, quantity: Quantity, logs: Logs): ChartModel {
  const shown = view.visible();
  const logLogRegret = quantity.key === REGRET.key && logs.x && logs.y;
  return {
    title: view.streams.length > 1 ? `${title}: ${quantity.name}, ${view.stream}` : `${title}: ${quantity.name}`,
    xTitle: X_AXES[view.xAxis].title,
    yTitle: quantity.name,
    xLog: logs.x,
    yLog: logs.y,
    curves: shown.map((s) => curve(s, quantity, view, logLogRegret)).filter((c) => c !== null),
    marks: view.chartMarks(),
    levels: logLogRegret ? bounds(shown) : [],
    cut: shown.filter((s) => unequal(s.series)).map((s) => s.label),
    remarks: quantity.terms.some(({ from }) => from === "evaluation") ? alarmsText(view) : [],
  };
}
