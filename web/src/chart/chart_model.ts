import { LineStyle } from "./palette";

// What a chart shows, without pixels: the canvas, exported figures, tables and the spoken label all read it.
export interface Curve {
  id: string;
  label: string;
  style: LineStyle;
  width: number; // 0: the band alone
  x: Float64Array; // does not decrease
  y: Float64Array;
  band?: { lo: Float64Array; hi: Float64Array; opacity: number };
  note?: string; // "slope 0.48"
  sd?: Float64Array;
  quiet?: boolean; // left out of tooltips and legends
  points?: number; // a dot of this radius at every point, with a bar of one sd
  texts?: string[]; // beside the dots
}

export interface NumbersTable {
  header: string[];
  rows: string[][];
}

export interface ChartModel {
  title: string;
  xTitle: string;
  yTitle: string;
  xLog: boolean;
  yLog: boolean;
  curves: Curve[];
  marks: ChartMark[]; // from left to right
  levels: { y: number; text: string; style: LineStyle }[]; // horizontal
  cut?: string[]; // series whose seeds end at different rounds
  zeroBased?: boolean; // bars stand on the axis
  table?: NumbersTable; // instead of the curves' own numbers
  remarks?: string[]; // sentences below the chart
}

// A vertical line.
export interface ChartMark {
  x: number;
  text: string;
  dashed?: boolean;
  style?: LineStyle; // of a series; else grey
}

export interface Range {
  min: number;
  max: number;
}

// First index with x[i] >= value.
export function lowerBound(x: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function nearestIndex(x: ArrayLike<number>, value: number): number {
  const i = lowerBound(x, value);
  if (i === 0 || i === x.length) return Math.min(i, x.length - 1);
  return x[i] - value < value - x[i - 1] ? i : i - 1;
}

function widen(min: number, max: number, log: boolean): Range {
  if (log) return min < max ? { min, max } : { min: min / 2, max: max * 2 };
  if (min < max) return { min, max };
  const by = Math.abs(min) * 0.1 || 1;
  return { min: min - by, max: max + by };
}

export function xRange(model: ChartModel): Range {
  let min = Infinity;
  let max = -Infinity;
  for (const { x } of model.curves) {
    const first = model.xLog ? lowerBound(x, Number.MIN_VALUE) : 0;
    if (first >= x.length || Number.isNaN(x[first])) continue;
    min = Math.min(min, x[first]);
    max = Math.max(max, x[x.length - 1]);
  }
  return min <= max ? widen(min, max, model.xLog) : { min: model.xLog ? 1 : 0, max: 10 };
}

function valueRange(model: ChartModel, visible: Range): Range {
  let min = Infinity;
  let max = -Infinity;
  const see = (v: number) => {
    if (!Number.isFinite(v) || (model.yLog && v <= 0)) return;
    if (v < min) min = v;
    if (v > max) max = v;
  };
  for (const { x, y, band } of model.curves) {
    const from = Math.max(0, lowerBound(x, visible.min) - 1);
    const to = Math.min(x.length, lowerBound(x, visible.max) + 1);
    for (let i = from; i < to; i++) {
      see(y[i]);
      // A band that reaches 0 must not stretch a logarithmic axis without end.
      if (band && (!model.yLog || band.lo[i] > y[i] / 10)) see(band.lo[i]);
      if (band) see(band.hi[i]);
    }
  }
  for (const level of model.levels) see(level.y);
  return { min, max };
}

export function yRange(model: ChartModel, visible: Range): Range {
  const found = valueRange(model, visible);
  if (!(found.min <= found.max)) return model.yLog ? { min: 0.1, max: 10 } : { min: 0, max: 1 };
  const { min, max } = widen(found.min, found.max, model.yLog);
  if (model.yLog) {
    const pad = (max / min) ** 0.04;
    return { min: min / pad, max: max * pad };
  }
  const pad = (max - min) * 0.05;
  return { min: model.zeroBased ? Math.min(0, min) : min - pad, max: max + pad };
}

// How many values a logarithmic axis cannot show.
export function unloggable(model: ChartModel): number {
  if (!model.yLog) return 0;
  return model.curves.reduce((n, { y, width }) => n + (width > 0 ? y.filter((v) => v <= 0).length : 0), 0);
}
