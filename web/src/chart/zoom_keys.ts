import { Range } from "./chart_model";
import { share, valueAt } from "./trace";

export type ZoomMove = "in" | "out" | "left" | "right";

// Steps are shares of the visible range, so that they feel alike on linear and logarithmic axes.
export function movedZoom(now: Range, full: Range, log: boolean, move: ZoomMove): Range | null {
  const from = share(now.min, full, log);
  const to = share(now.max, full, log);
  const width = to - from;
  let [a, b] = [from, to];
  if (move === "in") [a, b] = [from + width / 4, to - width / 4];
  if (move === "out") [a, b] = [from - width / 2, to + width / 2];
  if (move === "left" || move === "right") {
    const by = move === "left" ? -Math.min(width / 4, from) : Math.min(width / 4, 1 - to);
    [a, b] = [from + by, to + by];
  }
  if (b - a < 1e-5) return now;
  a = Math.max(0, a);
  b = Math.min(1, b);
  if (a < 1e-9 && b > 1 - 1e-9) return null;
  return { min: valueAt(a, full, log), max: valueAt(b, full, log) };
}

export function moveOfKey(key: string): ZoomMove | "reset" | null {
  if (key === "+" || key === "=") return "in";
  if (key === "-" || key === "−" || key === "_") return "out";
  if (key === "ArrowLeft") return "left";
  if (key === "ArrowRight") return "right";
  if (key === "0" || key === "Escape") return "reset";
  return null;
}
