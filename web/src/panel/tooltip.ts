import { ChartModel, nearestIndex } from "../chart/chart_model";
import { el } from "../dom/dom";
import { meanAndSd, significant } from "../text/number_format";
import { shorten } from "../text/shorten";
import { swatch } from "../chart/swatch";

const MAX_ROWS = 14;

export interface Reading {
  label: string;
  text: string;
  value: number;
  curve: ChartModel["curves"][number];
}

// The values at the rounds nearest to x, greatest first: the order of the lines on the screen.
export function readings(model: ChartModel, x: number): Reading[] {
  const all: Reading[] = [];
  for (const curve of model.curves) {
    if (curve.quiet || curve.x.length === 0) continue;
    // A line that has ended says nothing here.
    if (x > curve.x[curve.x.length - 1] * (1 + 1e-9) + 1e-12 && curve.x.length > 1) {
      const step = curve.x[curve.x.length - 1] - curve.x[curve.x.length - 2];
      if (x > curve.x[curve.x.length - 1] + step) continue;
    }
    const i = nearestIndex(curve.x, x);
    const text =
      curve.width === 0 && curve.band
        ? `${significant(curve.band.lo[i], 4)} … ${significant(curve.band.hi[i], 4)}`
        : meanAndSd(curve.y[i], curve.sd?.[i] ?? 0, curve.sd ? 2 : 1);
    all.push({ label: curve.label, text, value: curve.y[i], curve });
  }
  return all.sort((a, b) => b.value - a.value);
}

export function nearestX(model: ChartModel, x: number): number {
  let best = NaN;
  for (const curve of model.curves) {
    if (curve.x.length === 0) continue;
    const at = curve.x[nearestIndex(curve.x, x)];
    if (!(Math.abs(at - x) >= Math.abs(best - x))) best = at;
  }
  return best;
}

export class Tooltip {
  readonly node = el("div", { class: "tooltip", "aria-hidden": "true", hidden: true });

  hide(): void {
    this.node.hidden = true;
  }

  show(model: ChartModel, x: number, left: number, width: number): void {
    const rows = readings(model, x);
    if (rows.length === 0) return this.hide();
    const shown = rows
      .slice(0, MAX_ROWS)
      .map(({ curve, label, text }) =>
        el(
          "div",
          { class: "tooltip-row" },
          swatch(curve.style, 20),
          el("span", { class: "name" }, shorten(label, 40)),
          el("span", { class: "number" }, text),
        ),
      );
    const rest = rows.length - shown.length;
    const axis = shorten(model.xTitle.replace(/ \(.*/, ""), 30);
    this.node.replaceChildren(
      el("div", { class: "tooltip-head" }, `${axis} ${significant(nearestX(model, x), 6)}`),
      ...shown,
      ...(rest > 0 ? [el("div", { class: "tooltip-head" }, `and ${rest} more`)] : []),
    );
    this.node.hidden = false;
    // On the side with more room, so that it never covers the cursor.
    const right = left < width / 2;
    this.node.style.left = right ? `${left + 12}px` : "auto";
    this.node.style.right = right ? "auto" : `${width - left + 12}px`;
    this.node.style.maxWidth = `${Math.max(140, (right ? width - left : left) - 16)}px`;
  }
}
