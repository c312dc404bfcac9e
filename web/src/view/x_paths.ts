import { aggregateLists, Aggregate } from "../data/aggregate";
import { ChartModel, Curve } from "../chart/chart_model";
import { Cell, XPath } from "../data/contract";
import { Logs } from "./curves";
import { lineStyle } from "../chart/palette";
import { cached, Series } from "../data/series";
import { Shown, View } from "./view";
import { positions, X_AXES } from "./x_axis";

type Kind = "values" | "quantiles";

const numbers = (cells: Cell[]): Float64Array => Float64Array.from(cells, (c) => (typeof c === "number" ? c : NaN));

export const pathKind = (series: Series): Kind | null => {
  const some = series.runs.find((run) => run.x && run.x.t.length > 0)?.x;
  if (!some) return null;
  return some.values ? "values" : some.quantiles ? "quantiles" : null;
};

// Line k of every run (a coordinate or a level), mean over seeds.
export function meanLine(series: Series, kind: Kind, k: number): Aggregate {
  return cached(series, `path:${kind}:${k}`, () => {
    const paths = series.runs.map((run) => run.x).filter((x): x is XPath => !!x && !!x[kind]?.[k]);
    const rounds = paths.map((x) => numbers(x.t).subarray(0, x[kind]![k].length));
    return aggregateLists(
      rounds,
      paths.map((x) => numbers(x[kind]![k])),
    );
  });
}

function valueCurves(series: Series, view: View): Curve[] {
  const size = Math.max(...series.runs.map((run) => run.x?.values?.length ?? 0));
  return Array.from({ length: size }, (_, k) => {
    const line = meanLine(series, "values", k);
    return {
      id: `x${k}`,
      label: size === 1 ? "x" : `x[${k}]`,
      style: lineStyle(k),
      width: 1.4,
      x: positions(series, view.xAxis, line.t),
      y: line.mean,
      sd: series.runs.length > 1 ? line.sd : undefined,
    };
  }).filter((curve) => curve.x.length > 0);
}

// Levels come in pairs around the median: 0 and 1, .05 and .95, .25 and .75. Nested bands, darker towards the middle.
function quantileCurves(series: Series, view: View, style: Shown["style"]): Curve[] {
  const levels = series.runs.find((run) => run.x?.levels)?.x?.levels ?? [];
  const lines = levels.map((_, k) => meanLine(series, "quantiles", k));
  const curves: Curve[] = [];
  for (let k = 0; k < Math.floor(levels.length / 2); k++) {
    const lower = lines[k];
    const upper = lines[levels.length - 1 - k];
    const label = `${levels[k]} to ${levels[levels.length - 1 - k]} quantiles`;
    const x = positions(series, view.xAxis, lower.t);
    const band = { lo: lower.mean, hi: upper.mean, opacity: 0.12 + 0.06 * k };
    curves.push({ id: `band${k}`, label, style: { ...style, dash: [] }, width: 0, x, y: upper.mean, band });
  }
  if (levels.length % 2 === 1) {
    const middle = lines[(levels.length - 1) / 2];
    curves.push({
      id: "median",
      label: "median",
      style: { ...style, dash: [] },
      width: 1.8,
      x: positions(series, view.xAxis, middle.t),
      y: middle.mean,
    });
  }
  return curves.filter((curve) => curve.x.length > 0);
}

export function pathModel(view: View, shown: Shown, logs: Logs): ChartModel {
  const kind = pathKind(shown.series);
  const size = shown.series.runs.find((run) => run.x)?.x?.size ?? 0;
  return {
    title: `Hyperparameters of ${shown.label}`,
    xTitle: X_AXES[view.xAxis].title,
    yTitle:
      kind === "quantiles" ? `quantiles of the ${size.toLocaleString("en")} coordinates of x` : "coordinates of x",
    xLog: logs.x,
    yLog: logs.y,
    curves: kind === "values" ? valueCurves(shown.series, view) : quantileCurves(shown.series, view, shown.style),
    marks: view.chartMarks(),
    levels: [],
  };
}
