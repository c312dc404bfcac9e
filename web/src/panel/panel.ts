import { Chart } from "../chart/chart";
import { numbersTable, spoken } from "../chart/chart_text";
import { ChartModel, Range, unloggable, xRange } from "../chart/chart_model";
import { Logs } from "../view/curves";
import { announce, button, el } from "../dom/dom";
import { plainTable } from "../dom/plain_table";
import { notes } from "./panel_notes";
import { Pictured, SAVERS } from "./save_chart";
import { isPrinting } from "../chart/theme";
import { nearestX, readings, Tooltip } from "./tooltip";
import { movedZoom, moveOfKey, ZoomMove } from "../chart/zoom_keys";

export interface PanelContent {
  id: string;
  title: string;
  wide: boolean;
  small?: boolean; // one of many alike: its controls are folded away with its numbers
  log: boolean;
  canLogX: boolean;
  sharedX: boolean; // its x axis is the page's: zoom and cursor go together
  model(logs: Logs): ChartModel | null;
  controls(): HTMLElement[];
  views?: { text: string; logs: Logs }[];
  plain?: boolean; // its axes are never logarithmic
}

export interface PanelHost {
  zoom(): Range | null;
  zoomTo(range: Range | null): void;
  cursorAt(x: number | null, from: Panel): void;
}

const MAX_ROWS = 50;
// Before printing the page still has the screen's layout; page.css gives the stage this size on paper.
const PAPER = { width: 660, height: 250 };

export class Panel {
  readonly node: HTMLElement;
  private readonly stage = el("div", { class: "stage" });
  private readonly area: HTMLElement;
  private readonly controls = el("div", { class: "panel-controls" });
  // The axis's title has its line from the start: a chart drawn when it comes into sight must not push the page down.
  private readonly foot = el("div", { class: "panel-foot" }, el("p", { class: "x-title" }, "\u00a0"));
  private readonly table = el("div", {});
  private readonly numbers = el("details", { class: "numbers" }, el("summary", {}, "Numbers"));
  private readonly tooltip = new Tooltip();
  private readonly chart: Chart;
  private readonly logs: Logs;
  private ownZoom: Range | null = null;
  private keyCursor: number | null = null;
  private read: { x: number; axis: string } | null = null; // what the tooltip shows
  private controlsLook = "";
  private stale = true;
  private seen = false;

  constructor(
    readonly content: PanelContent,
    private readonly host: PanelHost,
  ) {
    this.logs = { x: false, y: content.log };
    const heading = el("h3", { id: `title-${content.id}` }, content.title);
    const keys = "Keys: plus and minus zoom, arrows move, zero resets, shift and arrows read values.";
    this.area = el(
      "div",
      { class: "chart", tabindex: 0, role: "group", "aria-label": `${content.title}, chart. ${keys}` },
      this.stage,
      this.tooltip.node,
    );
    this.node = el("section", {
      class: `panel${content.wide ? " wide" : content.small ? " small" : ""}`,
      "aria-labelledby": heading.id,
      "data-panel": content.id,
    });
    const tools = this.tools();
    if (content.small) this.numbers.append(this.controls, tools);
    this.numbers.append(this.table);
    this.node.append(
      el("div", { class: "panel-head" }, heading, !content.small && this.controls),
      this.area,
      this.foot,
      ...(content.small ? [] : [tools]),
      this.numbers,
    );
    this.chart = new Chart(this.stage, {
      zoom: (range) => this.zoomTo(range),
      cursor: (x) => this.cursorMoved(x),
    });
    this.area.addEventListener("keydown", (event) => this.key(event));
    this.numbers.addEventListener("toggle", () => this.fillNumbers());
    new IntersectionObserver((entries) => this.sight(entries[entries.length - 1].isIntersecting), {
      rootMargin: "150px",
    }).observe(this.node);
    new ResizeObserver(() => this.resize()).observe(this.stage);
    this.fillControls();
  }

  // The data or a choice changed.
  update(): void {
    this.stale = true;
    // A panel that is hidden because it has no data never comes into sight, so it must check for data itself.
    if (this.seen || this.node.hidden || isPrinting()) this.draw();
  }

  rebuildControls(): void {
    this.fillControls();
  }

  zoomChanged(): void {
    if (!this.seen) this.stale = true;
    else this.chart.setZoom(this.zoomNow());
    this.fillNumbers();
  }

  // New ink on the same lines.
  recolour(): void {
    if (isPrinting()) this.draw();
    this.resize();
    this.chart.redraw();
  }

  follow(x: number | null): void {
    this.chart.setCursor(x);
  }

  private sight(visible: boolean): void {
    this.seen = visible;
    if (visible && this.stale) this.draw();
  }

  private zoomNow(): Range | null {
    return this.content.sharedX ? this.host.zoom() : this.ownZoom;
  }

  private zoomTo(range: Range | null): void {
    if (this.content.sharedX) return this.host.zoomTo(range);
    this.ownZoom = range;
    this.zoomChanged();
  }

  private draw(): void {
    const model = this.content.model(this.logs);
    this.stale = false;
    this.node.hidden = model === null;
    if (!model) return;
    this.chart.show(model, this.zoomNow());
    this.resize();
    const canvas = this.chart.canvas;
    canvas?.setAttribute("role", "img");
    canvas?.setAttribute("aria-label", spoken(model));
    // New rows of a live run must not take the tooltip from under the reader's pointer.
    if (this.read?.axis === model.xTitle) this.tell(this.read.x);
    else this.untell();
    this.foot.replaceChildren(el("p", { class: "x-title" }, model.xTitle), ...notes(model, unloggable(model)));
    this.fillNumbers();
    if (performance.getEntriesByName("obolus-first-chart").length === 0) performance.mark("obolus-first-chart");
  }

  private resize(): void {
    if (isPrinting()) return this.chart.setSize(PAPER.width, PAPER.height);
    if (this.stage.clientWidth > 0) this.chart.setSize(this.stage.clientWidth, this.stage.clientHeight);
  }

  private setLogs(logs: Partial<Logs>): void {
    Object.assign(this.logs, logs);
    this.fillControls();
    this.update();
  }

  private logButton(axis: "x" | "y"): HTMLElement {
    return button(`log ${axis}`, { "aria-pressed": String(this.logs[axis]), "data-log": axis }, () =>
      this.setLogs({ [axis]: !this.logs[axis] }),
    );
  }

  // Rebuilt only when they differ, so that a list stays open while live rows come in; the control that had the focus
  // gets it back.
  private fillControls(): void {
    const { content, logs } = this;
    const at = [...this.controls.querySelectorAll<HTMLElement>("button, select")].indexOf(
      document.activeElement as HTMLElement,
    );
    const views = (content.views ?? []).map((v) =>
      button(v.text, { "aria-pressed": String(v.logs.x === logs.x && v.logs.y === logs.y) }, () =>
        this.setLogs(v.logs),
      ),
    );
    const axes = [...(content.canLogX ? [this.logButton("x")] : []), this.logButton("y")];
    const logarithmic = el("div", { class: "segments", role: "group", "aria-label": "Logarithmic axes" }, ...axes);
    const next = [
      ...content.controls(),
      ...(views.length > 0 ? [el("div", { class: "segments", role: "group", "aria-label": "View" }, ...views)] : []),
      ...(content.plain ? [] : [logarithmic]),
    ];
    const look = next.map((node) => node.outerHTML + ((node as HTMLSelectElement).value ?? "")).join();
    if (look === this.controlsLook) return;
    this.controlsLook = look;
    this.controls.replaceChildren(...next);
    if (at >= 0) this.controls.querySelectorAll<HTMLElement>("button, select")[at]?.focus();
  }

  private tools(): HTMLElement {
    const { title } = this.content;
    const zoom = (text: string, name: string, move: ZoomMove) =>
      button(text, { "aria-label": `${name}: ${title}`, "data-move": move }, () => this.move(move));
    const save = (text: string, go: () => void) =>
      button(text, { "aria-label": `Save ${title} as ${text}`, "data-save": text }, go);
    return el(
      "div",
      { class: "panel-tools" },
      el(
        "div",
        { class: "segments", role: "group", "aria-label": "Zoom" },
        zoom("+", "Zoom in", "in"),
        zoom("−", "Zoom out", "out"),
        zoom("←", "Move left", "left"),
        zoom("→", "Move right", "right"),
        button("reset", { "aria-label": `Reset zoom: ${title}`, "data-move": "reset" }, () => this.zoomTo(null)),
      ),
      el(
        "div",
        { class: "segments", role: "group", "aria-label": "Save" },
        ...SAVERS.map(([text, go]) => save(text, () => go(this.ready()))),
      ),
    );
  }

  private move(move: ZoomMove): void {
    const { model } = this.chart;
    if (model) this.zoomTo(movedZoom(this.chart.ranges(this.zoomNow()).x, xRange(model), model.xLog, move));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target !== this.area) return;
    if (event.shiftKey && event.key.startsWith("Arrow")) {
      event.preventDefault();
      return this.readBy(event.key === "ArrowLeft" ? -1 : 1);
    }
    const move = moveOfKey(event.key);
    if (!move) return;
    event.preventDefault();
    if (move !== "reset") return this.move(move);
    this.untell();
    this.zoomTo(null);
  }

  // Steps of a fiftieth of the axis, or one row where rows are rarer.
  private readBy(direction: number): void {
    const { model } = this.chart;
    if (!model || model.curves.length === 0) return;
    const { x } = this.chart.ranges(this.zoomNow());
    const full = { min: x.min, max: x.max };
    const now = this.keyCursor ?? (direction > 0 ? x.min : x.max);
    const xs = model.curves[0].x;
    let next = nearestX(model, now + (direction * (full.max - full.min)) / 50);
    if (next === now) next = xs[Math.min(xs.length - 1, Math.max(0, [...xs].indexOf(now) + direction))] ?? now;
    this.keyCursor = Math.min(full.max, Math.max(full.min, next));
    this.chart.setCursor(this.keyCursor);
    this.cursorMoved(this.keyCursor);
    const said = readings(model, this.keyCursor)
      .slice(0, 6)
      .map((r) => `${r.label} ${r.text}`);
    announce(`${model.xTitle.replace(/ \(.*/, "")} ${this.keyCursor}: ${said.join(", ")}`);
  }

  private cursorMoved(x: number | null): void {
    const { model } = this.chart;
    if (this.content.sharedX) this.host.cursorAt(x, this);
    if (x === null || !model) return this.untell();
    this.read = { x, axis: model.xTitle };
    this.tell(x);
  }

  private tell(x: number): void {
    this.tooltip.show(this.chart.model!, x, this.chart.leftOf(x), this.chart.width);
  }

  private untell(): void {
    this.read = null;
    this.tooltip.hide();
  }

  private fillNumbers(): void {
    const { model } = this.chart;
    if (!this.numbers.open || !model) return;
    const { header, rows } = numbersTable(model, this.chart.ranges(this.zoomNow()).x, MAX_ROWS);
    this.table.replaceChildren(
      plainTable({ caption: model.title, header, rows, numeric: header.map(() => true) }),
    );
  }

  private ready(): Pictured {
    if (this.stale || !this.chart.model) this.draw();
    return { model: this.chart.model!, ...this.chart.ranges(this.zoomNow()) };
  }
}
