import { PanelSpec, panelsOf } from "../data/catalogue";
import { Range } from "../chart/chart_model";
import {
  anyCalibration,
  anyFinal,
  anyPairs,
  anyPath,
  calibrationContent,
  ChosenSeries,
  finalContent,
  hyperparameterContent,
  pairsContent,
  pathContent,
  quantityContent,
} from "../panel/contents";
import { Report } from "../data/contract";
import { Controls } from "./controls";
import { el } from "../dom/dom";
import { headline } from "./headline";
import { LastRows } from "./last_rows";
import { Legend } from "./legend";
import { Panel, PanelContent, PanelHost } from "../panel/panel";
import { sourcesSection, tablesSection } from "./sources_section";
import { SummaryTable } from "./summary_table";
import { watchTheme } from "../chart/theme";
import { allNames } from "../view/hyperparameters";
import { View } from "../view/view";

type Place = "main" | "small" | "last" | "more";

interface Kept {
  key: string;
  panel: Panel;
  place: Place;
}

// The whole page. `refresh` after any choice; `dataChanged` after the report itself changed.
export class Page implements PanelHost {
  private readonly view: View;
  private readonly controls: Controls;
  private readonly legend: Legend;
  private readonly summary: SummaryTable;
  private readonly chosen: ChosenSeries;
  private readonly title = el("h1", {});
  private readonly sentence = el("p", { class: "sentence" });
  private readonly grid = el("div", { class: "grid" });
  private readonly small = el("div", { class: "grid small" });
  private readonly smallBox = el("section", {}, el("h2", {}, "Hyperparameters"), this.small);
  private readonly last: LastRows;
  private readonly more = el("div", { class: "grid" });
  private readonly moreBox = el("details", { class: "more" }, el("summary", {}, "More measures"), this.more);
  private readonly rest = el("div", {});
  private panels = new Map<string, Kept>();
  private drawnSources = "";

  constructor(report: Report, root: HTMLElement, top: HTMLElement | null) {
    this.view = new View(report);
    this.controls = new Controls(this.view, () => this.refresh());
    this.legend = new Legend(this.view, () => this.refresh());
    this.summary = new SummaryTable(this.view);
    this.chosen = new ChosenSeries(this.view);
    this.last = new LastRows(this.view, this.chosen, () => this.refresh());
    const header = el(
      "header",
      {},
      el("p", { class: "mark" }, "Obolus"),
      this.title,
      this.sentence,
      top,
      this.controls.node,
    );
    const main = el(
      "main",
      { id: "content", tabindex: -1 },
      el("h2", { class: "unseen" }, "Charts"),
      this.grid,
      this.smallBox,
      this.last.node,
      this.moreBox,
      this.summary.node,
      this.rest,
    );
    root.replaceChildren(
      header,
      el("nav", { class: "bar", "aria-label": "Series in the charts" }, this.legend.node),
      main,
      this.footer(),
    );
    watchTheme(() => this.each((panel) => panel.recolour()));
    this.dataChanged();
  }

  get report(): Report {
    return this.view.report;
  }

  replace(report: Report): void {
    this.view.report = report;
    this.view.zoom = null;
    this.view.regroup();
    this.dataChanged();
  }

  regroup(): void {
    this.view.regroup();
  }

  // Drops what was computed from one run's series.
  touched(run: Report["runs"][number]): void {
    this.view.series.find((s) => s.runs.includes(run))?.cache.clear();
  }

  dataChanged(): void {
    this.view.forget();
    this.title.textContent = this.view.report.title || "Report";
    document.title = `${this.view.report.title || "Report"} – Obolus`;
    this.sentence.textContent = headline(this.view);
    this.buildPanels();
    this.drawSources();
    this.refresh();
  }

  refresh(): void {
    this.controls.update();
    this.legend.update();
    this.each((panel) => {
      panel.rebuildControls();
      panel.update();
    });
    this.last.update();
    this.summary.update();
  }

  zoom(): Range | null {
    return this.view.zoom;
  }

  zoomTo(range: Range | null): void {
    this.view.zoom = range;
    this.each((panel) => panel.content.sharedX && panel.zoomChanged());
  }

  cursorAt(x: number | null, from: Panel): void {
    this.each((panel) => panel !== from && panel.content.sharedX && panel.follow(x));
  }

  private each(act: (panel: Panel) => void): void {
    for (const { panel } of this.panels.values()) act(panel);
  }

  private keep(old: Map<string, Kept>, key: string, place: Place, make: () => PanelContent): void {
    const known = old.get(key);
    this.panels.set(key, known ?? { key, place, panel: new Panel(make(), this) });
  }

  // A panel whose quantities are the same stays, with its choices.
  private buildPanels(): void {
    const old = this.panels;
    this.panels = new Map();
    const one = (id: string) => {
      for (const { panel } of this.panels.values()) {
        if (panel.content.id !== id) continue;
        panel.rebuildControls();
        panel.update();
      }
    };
    const both = () => {
      one("paths");
      one("final");
    };
    const add = (spec: PanelSpec) =>
      this.keep(
        old,
        JSON.stringify([spec.id, spec.quantities.map((q) => q.key)]),
        spec.more ? "more" : "main",
        () => quantityContent(this.view, spec, one),
      );
    const specs = panelsOf(this.view.series, this.view.report.catalogue);
    specs.filter((s) => !s.more).forEach(add);
    const { view, chosen } = this;
    if (anyPath(view)) this.keep(old, "paths", "main", () => pathContent(view, chosen, both));
    if (anyFinal(view)) this.keep(old, "final", "main", () => finalContent(chosen, both));
    for (const name of allNames(view)) this.keep(old, `x ${name}`, "small", () => hyperparameterContent(view, name));
    if (anyCalibration(view)) this.keep(old, "calibration", "last", () => calibrationContent(view, chosen));
    if (anyPairs(view)) this.keep(old, "pairs", "last", () => pairsContent(view, chosen));
    specs.filter((s) => s.more).forEach(add);
    if ([...old.keys()].join() === [...this.panels.keys()].join() && old.size > 0) return;
    const nodes = (place: Place) =>
      [...this.panels.values()].filter((k) => k.place === place).map((k) => k.panel.node);
    this.grid.replaceChildren(...nodes("main"));
    this.small.replaceChildren(...nodes("small"));
    this.last.setCharts(nodes("last"));
    this.more.replaceChildren(...nodes("more"));
    this.smallBox.hidden = nodes("small").length === 0;
    this.moreBox.hidden = nodes("more").length === 0;
  }

  private drawSources(): void {
    const { report } = this.view;
    const key = JSON.stringify([
      report.sources,
      report.runs.map((run) => [run.status, run.notes, run.seed, run.summary]),
    ]);
    if (key === this.drawnSources) return;
    this.drawnSources = key;
    const tables = tablesSection(report);
    const open = [...this.rest.querySelectorAll("details")].map((d) => d.open);
    this.rest.replaceChildren(...(tables ? [tables] : []), sourcesSection(report));
    this.rest.querySelectorAll("details").forEach((d, i) => (d.open = open[i] ?? false));
  }

  private footer(): HTMLElement {
    const { made } = this.view.report;
    const parts = [made.obolus && `Obolus ${made.obolus}`, made.date, made.command].filter(Boolean);
    return el("footer", {}, el("p", {}, parts.length > 0 ? `Made by ${parts.join(" · ")}` : ""));
  }
}
