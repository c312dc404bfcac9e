import { chosenFit, ChosenSeries, fitChooser } from "../panel/contents";
import { el } from "../dom/dom";
import { View } from "../view/view";
import { fitTables } from "./fit_tables";

const count = (n: number): string => n.toLocaleString("en");

// One fit more closely: how it did on its last rows, and what it has learnt.
export class LastRows {
  private readonly title = el("h2", { id: "last-title" });
  private readonly tools = el("div", { class: "table-tools" });
  private readonly charts = el("div", { class: "grid" });
  private readonly tables = el("div", { class: "grid" });
  readonly node = el(
    "section",
    { class: "last", "aria-labelledby": "last-title" },
    this.title,
    this.tools,
    this.charts,
  );
  private drawn: unknown = null;
  private choices = "";

  constructor(
    private readonly view: View,
    private readonly chosen: ChosenSeries,
    private readonly changed: () => void,
  ) {}

  setCharts(nodes: HTMLElement[]): void {
    this.charts.replaceChildren(...nodes, this.tables);
  }

  update(): void {
    const fit = chosenFit(this.view, this.chosen);
    const tables = fit ? fitTables(fit.summary) : [];
    const calibrated = !!fit && (fit.summary.calibration !== null || fit.summary.pairs.length > 0);
    this.node.hidden = tables.length === 0 && !calibrated;
    if (!fit || this.node.hidden) return;
    const { summary, shown } = fit;
    this.fillTools();
    if (summary === this.drawn) return;
    this.drawn = summary;
    const { runs } = shown.series;
    const seed = runs.length > 1 ? `, seed ${runs[0].seed}` : "";
    const rows = `The last ${count(summary.lastRows)} of ${count(summary.rows)} rows`;
    this.title.textContent = summary.lastRows > 0 ? rows + seed : `The model${seed}`;
    this.tables.replaceChildren(...tables);
  }

  private fillTools(): void {
    const next = fitChooser(this.view, this.chosen, this.changed);
    const look = next.map((node) => node.outerHTML + (node as HTMLSelectElement).value).join();
    if (look !== this.choices) this.tools.replaceChildren(...next);
    this.choices = look;
    this.tools.hidden = next.length === 0;
  }
}
