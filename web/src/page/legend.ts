import { button, el } from "../dom/dom";
import { shorten } from "../text/shorten";
import { swatch } from "../chart/swatch";
import { View } from "../view/view";

// One entry per series. Click or Enter shows and hides; double click or shift with Enter shows one alone.
export class Legend {
  readonly node = el("div", { class: "legend", role: "group", "aria-label": "Series" });
  private drawn = "";

  constructor(
    private readonly view: View,
    private readonly changed: () => void,
  ) {}

  update(): void {
    const shown = this.view.shown();
    const key = JSON.stringify(shown.map((s) => [s.label, s.style, s.series.runs.length]));
    if (key !== this.drawn) {
      this.drawn = key;
      this.node.replaceChildren(...shown.map((s) => this.entry(s.label, s.style, s.series.runs.length)));
      if (shown.length > 1)
        this.node.append(button("show all", { class: "quiet", "data-all": true }, () => this.showAll()));
    }
    for (const entry of this.node.querySelectorAll<HTMLElement>("[data-series]")) {
      entry.setAttribute("aria-pressed", String(!this.view.hidden.has(entry.dataset.series!)));
    }
  }

  private entry(label: string, style: Parameters<typeof swatch>[0], seeds: number): HTMLElement {
    const hint = "Click to show or hide, double click or shift and Enter to show it alone";
    const node = button("", { class: "entry", "data-series": label, title: `${label}\n${hint}` }, (event) => {
      // A double click is two clicks first: they undo each other. Shift with Enter arrives as a click with shift.
      if (event.shiftKey) this.view.only(label);
      else this.view.toggle(label);
      this.changed();
    });
    node.append(
      swatch(style),
      el("span", {}, shorten(label, 48)),
      el("span", { class: "seeds" }, seeds > 1 ? `${seeds} seeds` : ""),
    );
    node.addEventListener("dblclick", () => {
      this.view.only(label);
      this.changed();
    });
    return node;
  }

  private showAll(): void {
    for (const s of this.view.shown()) this.view.hidden.delete(s.label);
    this.changed();
  }
}
