import { ChartModel, Curve } from "../chart/chart_model";
import { fitOf } from "../data/fit_summary";
import { Series } from "../data/series";
import { percent } from "../text/number_format";
import { Logs } from "./curves";
import { Shown, View } from "./view";
import { positions, X_AXES } from "./x_axis";
import { meanLine } from "./x_paths";

// The names of a series' x; empty if they are not known.
export function namesOf(view: View, series: Series): string[] {
  const [first] = series.runs;
  const names = fitOf(view.report, first)?.tuned ?? [];
  return names.length === (first.x?.values?.length ?? 0) ? names : [];
}

export function allNames(view: View): string[] {
  return [...new Set(view.series.flatMap((s) => namesOf(view, s)))];
}

// A shift is added, and may be negative; everything else is a positive factor.
export const isLinear = (name: string): boolean => name.startsWith("shift of ");

function curve(view: View, { series, label, style }: Shown, name: string): Curve | null {
  const k = namesOf(view, series).indexOf(name);
  if (k < 0) return null;
  const line = meanLine(series, "values", k);
  if (line.t.length === 0) return null;
  const several = series.runs.length > 1;
  return {
    id: series.id,
    label,
    style,
    width: 1.4,
    x: positions(series, view.xAxis, line.t),
    y: line.mean,
    sd: several ? line.sd : undefined,
  };
}

function remarks(view: View, shown: Shown[], name: string): string[] {
  return shown.flatMap(({ series, label }) => {
    const bound = fitOf(view.report, series.runs[0])?.atBound.find((b) => b.name === name);
    const who = shown.length > 1 ? `${label}: at` : "At";
    return bound ? [`${who} a bound in ${percent(bound.share)} of the rounds.`] : [];
  });
}

export function hyperparameterModel(view: View, name: string, logs: Logs): ChartModel | null {
  const shown = view.visible();
  const curves = shown.map((s) => curve(view, s, name)).filter((c) => c !== null);
  if (curves.length === 0) return null;
  return {
    title: `Hyperparameter ${name}`,
    xTitle: X_AXES[view.xAxis].title,
    yTitle: name,
    xLog: logs.x,
    yLog: logs.y,
    curves,
    marks: view.chartMarks().map((mark) => ({ ...mark, text: "" })), // there is no room for labels
    levels: [],
    remarks: remarks(view, shown, name),
  };
}
