import { Curve, lowerBound, Range } from "./chart_model";

// A plot's rectangle in pixels and the numbers at its edges.
export interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
  x: Range;
  y: Range;
  xLog: boolean;
  yLog: boolean;
}

export function share(value: number, { min, max }: Range, log: boolean): number {
  return log ? Math.log(value / min) / Math.log(max / min) : (value - min) / (max - min);
}

export function valueAt(part: number, { min, max }: Range, log: boolean): number {
  return log ? min * (max / min) ** part : min + part * (max - min);
}

export const pixelX = (f: Frame, v: number): number => f.left + f.width * share(v, f.x, f.xLog);

// Values a logarithm cannot take, and values far outside, stay near the frame: canvases lose precision beyond.
export function pixelY(f: Frame, v: number): number {
  if (f.yLog && v <= 0) return f.top + f.height + 2;
  const part = Math.min(20, Math.max(-20, share(v, f.y, f.yLog)));
  return f.top + f.height * (1 - part);
}

interface Visible {
  from: number;
  to: number;
}

// One point more on each side, so that lines run to the frame's edge.
function visible(curve: Curve, f: Frame): Visible {
  const floor = f.xLog ? lowerBound(curve.x, Number.MIN_VALUE) : 0;
  return {
    from: Math.max(floor, lowerBound(curve.x, f.x.min) - 1),
    to: Math.min(curve.x.length, lowerBound(curve.x, f.x.max) + 2),
  };
}

type Visit = (from: number, to: number, x: number) => void;

// Calls back once per column of pixels with the range of indices in it; takes one logarithm per column, not per point.
function eachColumn(curve: Curve, f: Frame, { from, to }: Visible, wide: number, visit: Visit): void {
  let i = from;
  for (let column = Math.floor(f.left) - wide; i < to; column += wide) {
    const last = column > f.left + f.width;
    const edge = valueAt((column + wide - f.left) / f.width, f.x, f.xLog);
    const start = i;
    while (i < to && (last || curve.x[i] < edge)) i++;
    if (i > start) visit(start, i, column + wide / 2);
  }
}

// Measured with 10 series of 10,000 noisy rounds: filling outlines with one corner per pixel took most of a frame.
const OUTLINE_COLUMN = 2;

const dense = (v: Visible, f: Frame): boolean => v.to - v.from > 2 * f.width;

// The line as x, y, x, y … in pixels. NaN, NaN is a break. With many points per pixel: first, lowest, highest and last
// of each column, or only its last if they are within a pixel.
export function traceLine(curve: Curve, f: Frame): number[] {
  const range = visible(curve, f);
  const out: number[] = [];
  const put = (x: number, y: number) => {
    if (Number.isFinite(y) && (!f.yLog || y > 0)) out.push(x, pixelY(f, y));
    else if (out.length > 0 && !Number.isNaN(out[out.length - 1])) out.push(NaN, NaN);
  };
  if (!dense(range, f)) {
    for (let i = range.from; i < range.to; i++) put(pixelX(f, curve.x[i]), curve.y[i]);
    return out;
  }
  eachColumn(curve, f, range, 1, (from, to, x) => {
    let low = from;
    let high = from;
    for (let i = from; i < to; i++) {
      if (curve.y[i] < curve.y[low]) low = i;
      if (curve.y[i] > curve.y[high]) high = i;
    }
    if (Math.abs(pixelY(f, curve.y[low]) - pixelY(f, curve.y[high])) < 1) return put(x, curve.y[to - 1]);
    put(x, curve.y[from]);
    if (low !== from) put(x, curve.y[Math.min(low, high)]);
    if (high !== from && high !== low) put(x, curve.y[Math.max(low, high)]);
    if (to - 1 > from) put(x, curve.y[to - 1]);
  });
  return out;
}

// A noisy line as the area that its zigzag would blacken, half a pen's width more on each side.
export const traceEnvelope = (curve: Curve, f: Frame, pen: number): number[] =>
  outline(curve, curve.y, curve.y, f, pen / 2, true);

export function traceBand(curve: Curve, f: Frame): number[] {
  return curve.band ? outline(curve, curve.band.lo, curve.band.hi, f, 0, false) : [];
}

// Along the upper edge and back along the lower one.
function outline(
  curve: Curve,
  lo: Float64Array,
  hi: Float64Array,
  f: Frame,
  margin: number,
  byColumn: boolean,
): number[] {
  const range = visible(curve, f);
  const upper: number[] = [];
  const lower: number[] = [];
  const put = (x: number, low: number, high: number) => {
    if (!Number.isFinite(low) || !Number.isFinite(high)) return;
    upper.push(x, pixelY(f, high) - margin);
    lower.push(pixelY(f, low) + margin, x); // reversed below
  };
  if (!byColumn && !dense(range, f)) {
    for (let i = range.from; i < range.to; i++) put(pixelX(f, curve.x[i]), lo[i], hi[i]);
  } else {
    eachColumn(curve, f, range, OUTLINE_COLUMN, (from, to, x) => {
      let low = Infinity;
      let high = -Infinity;
      for (let i = from; i < to; i++) {
        if (lo[i] < low) low = lo[i];
        if (hi[i] > high) high = hi[i];
      }
      put(x, low, high);
    });
  }
  return upper.concat(lower.reverse());
}

// How far a pen travels along a line.
export function penLength(points: number[]): number {
  let length = 0;
  for (let i = 2; i < points.length; i += 2) {
    const step = Math.abs(points[i] - points[i - 2]) + Math.abs(points[i + 1] - points[i - 1]);
    if (step > 0) length += step;
  }
  return length;
}
