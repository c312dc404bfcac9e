import { ChartModel } from "../chart/chart_model";
import { el, note } from "../dom/dom";
import { shorten } from "../text/shorten";
import { swatch } from "../chart/swatch";

// What stands below a chart: slopes in the log–log view, and what the chart leaves out.
export function notes(model: ChartModel, unshown: number): HTMLElement[] {
  const out: HTMLElement[] = [];
  const sloped = model.curves.filter((c) => c.note);
  if (sloped.length > 0) {
    const items = sloped.map((c) => el("li", {}, swatch(c.style, 20), ` ${shorten(c.label, 60)}, ${c.note}`));
    out.push(el("ul", { class: "slopes", "aria-label": "Fitted slopes" }, ...items));
    out.push(
      note("Slope: least squares of log regret on log t over the last decade of rounds, with one level per seed."),
    );
  }
  if (model.levels.length > 0) {
    const names = model.levels.map((l) => `${shorten(l.text, 80)}: ${l.y.toPrecision(4)}`).join("; ");
    out.push(note(`Dashed line: the theorem's bound at the horizon (${names}).`));
  }
  for (const remark of model.remarks ?? []) out.push(note(remark));
  if (model.curves.length === 0) out.push(note("None of the series shown has this quantity here."));
  if (model.cut?.length)
    out.push(
      note(
        "Seeds end at different rounds; the chart shows the rounds that all of them have: " +
          `${shorten(model.cut.join(", "), 200)}.`,
      ),
    );
  if (unshown > 0)
    out.push(note(`${unshown.toLocaleString("en")} values at or below 0 cannot be shown on a logarithmic axis.`));
  return out;
}
