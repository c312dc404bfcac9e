import { announce, button, el, note, select } from "../dom/dom";
import { copy, download } from "../dom/handover";
import { scrollBox, wrapped } from "../dom/plain_table";
import { label, Series } from "../data/series";
import { compareCells, SummaryCell, SummaryColumn, summaryColumns } from "./summary_rows";
import { csvRow, latexTable, markdownTable, TextTable } from "../text/table_text";
import { View } from "../view/view";

type Format = "CSV" | "Markdown" | "LaTeX";
const SUFFIX = { CSV: "csv", Markdown: "md", LaTeX: "tex" };

export class SummaryTable {
  readonly node: HTMLElement;
  private readonly box = el("div", {});
  private rows: "shown" | "stream" | "all" = "shown";
  private sorted: { column: string; direction: 1 | -1 } | null = null;
  private columns: SummaryColumn[] = [];
  private lines: { series: Series; cells: SummaryCell[] }[] = [];

  constructor(private readonly view: View) {
    const choices = [
      { value: "shown", text: "series in the charts" },
      { value: "stream", text: "same settings, every stream" },
      { value: "all", text: "everything" },
    ];
    const rows = select("Rows of the table", choices, this.rows, (value) => {
      this.rows = value as typeof this.rows;
      this.update();
    });
    const act = (verb: string, format: Format, go: () => void) =>
      button(format, { "aria-label": `${verb} the table as ${format}`, "data-table": `${verb} ${format}` }, go);
    const formats: Format[] = ["CSV", "Markdown", "LaTeX"];
    const copies = formats.map((f) => act("Copy", f, () => void copy(this.text(f), `Table as ${f}`)));
    const files = formats.map((f) =>
      act("Save", f, () => download(`obolus-summary.${SUFFIX[f]}`, this.text(f), "text/plain")),
    );
    const tools = el(
      "div",
      { class: "table-tools" },
      el("label", { class: "field" }, el("span", {}, "Rows"), rows),
      el("div", { class: "field" }, el("span", {}, "Copy"), el("div", { class: "segments" }, ...copies)),
      el("div", { class: "field" }, el("span", {}, "Save"), el("div", { class: "segments" }, ...files)),
    );
    const legend = note(
      "Last values: mean ± sample standard deviation over seeds. A series with a diverged seed has none. " +
        "Evaluations: gradients + 2 · products + ½ · values.",
    );
    this.node = el(
      "section",
      { class: "summary", "aria-labelledby": "summary-title" },
      el("h2", { id: "summary-title" }, "Summary"),
      tools,
      this.box,
      legend,
    );
  }

  update(): void {
    const series = this.chosen();
    this.columns = summaryColumns(series);
    this.lines = series.map((s) => ({ series: s, cells: this.columns.map((c) => c.cell(s)) }));
    const at = this.sorted ? this.columns.findIndex((c) => c.title === this.sorted!.column) : -1;
    // Array.prototype.sort is stable: equal rows keep the report's order.
    if (at >= 0) this.lines.sort((a, b) => compareCells(a.cells[at], b.cells[at], this.sorted!.direction));
    this.draw();
  }

  private chosen(): Series[] {
    const { view } = this;
    if (this.rows === "all") return view.series;
    if (this.rows === "stream") return view.streams.flatMap((stream) => view.seriesOn(stream));
    return view.visible().map((s) => s.series);
  }

  private sortBy(title: string): void {
    const again = this.sorted?.column === title;
    this.sorted = { column: title, direction: again && this.sorted!.direction === 1 ? -1 : 1 };
    this.update();
    announce(`Sorted by ${title}, ${this.sorted.direction === 1 ? "ascending" : "descending"}.`);
  }

  private draw(): void {
    const head = this.columns.map((c) => {
      const now = this.sorted?.column === c.title ? this.sorted.direction : 0;
      const arrow = el("span", { class: "arrow", "aria-hidden": "true" }, now === 1 ? "▲" : now === -1 ? "▼" : "");
      const sort = button(c.title, { class: "sort", "data-column": c.title }, () => this.sortBy(c.title));
      sort.append(arrow);
      return el(
        "th",
        {
          scope: "col",
          class: c.numeric ? "right" : undefined,
          "aria-sort": now === 1 ? "ascending" : now === -1 ? "descending" : "none",
        },
        sort,
      );
    });
    const body = this.lines.map(({ series, cells }) =>
      el(
        "tr",
        { "data-series": label(series) },
        ...cells.map((cell, i) =>
          el("td", { class: this.columns[i].numeric ? "right" : undefined }, wrapped(cell.text)),
        ),
      ),
    );
    const table = el(
      "table",
      {},
      el("caption", { class: "unseen" }, "Summary of the series"),
      el("thead", {}, el("tr", {}, ...head)),
      el("tbody", {}, ...body),
    );
    const old = this.box.firstElementChild;
    const focus = old?.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).dataset.column
      : undefined;
    const next = scrollBox("Summary of the series", table);
    const place = { left: old?.scrollLeft ?? 0, top: old?.scrollTop ?? 0 };
    this.box.replaceChildren(next);
    next.scrollTo(place);
    if (focus !== undefined)
      [...next.querySelectorAll<HTMLElement>("th button")]
        .find((b) => b.dataset.column === focus)
        ?.focus({ preventScroll: true });
  }

  text(format: Format): string {
    if (format === "CSV") {
      const rows = this.lines.map((line) => csvRow(line.cells.flatMap((c) => c.csv)));
      return csvRow(this.columns.flatMap((c) => c.csv)) + rows.join("");
    }
    const table: TextTable = {
      title: this.view.report.title,
      header: this.columns.map((c) => c.title),
      numeric: this.columns.map((c) => c.numeric),
      rows: this.lines.map((line) => line.cells.map((c) => c.text)),
    };
    return format === "LaTeX" ? latexTable(table) : markdownTable(table);
  }
}
