import { ChartModel } from "./chart_model";
import { el } from "./dom";
import { shorten } from "./plot";
import { swatch } from "./swatch";

// What stands below a chart: slopes in the log–log view, and what the chart leaves out.
export function notes(model: ChartModel, unshown: number): HTMLElement[] {
  const out: HTMLElement[] = [];
  const sloped = model.curves.filter((c) => c.note);
  if (sloped.length > 0) {
    const items = sloped.map((c) => el("li", {}, swatch(c.style, 20), ` ${shorten(c.label, 60)}, ${c.note}`));
    out.push(el("ul", { class: "slopes", "aria-label": "Fitted slopes" }, ...items));
    out.push(el("p", { class: "note" }, "Slope: least squares of log regret on log t over the last decade of rounds, each seed with a level of its own."));
  }
  if (model.levels.length > 0) {
    const names = model.levels.map((l) => `${shorten(l.text, 80)}: ${l.y.toPrecision(4)}`).join("; ");
    out.push(el("p", { class: "note" }, `Dashed across: the theorem's bound at the horizon (${names}).`));
  }
  if (model.curves.length === 0) out.push(el("p", { class: "note" }, "No series that is shown has this quantity here."));
  if (model.cut?.length) out.push(el("p", { class: "note" }, `Seeds end at different rounds; shown are the rounds that all of them have: ${shorten(model.cut.join(", "), 200)}.`));
  if (unshown > 0) out.push(el("p", { class: "note" }, `${unshown.toLocaleString("en")} values at or below 0 have no place on a logarithmic axis.`));
  return out;
}
