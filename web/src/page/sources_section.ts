import { text } from "../data/check_report";
import { Report, Run, Source, Table } from "../data/contract";
import { el } from "../dom/dom";
import { plainTable } from "../dom/plain_table";

const MAX_LISTED = 200;

function about(source: Source): HTMLElement[] {
  return source.about.map((session) => {
    const machine = session.machine ?? {};
    const hardware = [
      machine.processor,
      machine.cores && `${machine.cores} cores`,
      machine.memory_gb && `${machine.memory_gb} GB`,
      machine.system,
      machine.compiler,
    ];
    const facts: [string, string][] = [
      ["command", text(session.command)],
      ["obolus", text(session.obolus)],
      ["started", text(session.started)],
      ["machine", hardware.filter(Boolean).map(text).join(", ")],
    ];
    return el(
      "dl",
      { class: "about" },
      ...facts.filter(([, v]) => v !== "").flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]),
    );
  });
}

const nameOf = (run: Run): string =>
  [run.stream, run.optimiser, run.setting, `seed ${run.seed}`].filter((p) => p !== "").join(" · ");

function listed(title: string, items: string[]): HTMLElement | null {
  if (items.length === 0) return null;
  const shown = items.slice(0, MAX_LISTED).map((item) => el("li", {}, item));
  if (items.length > MAX_LISTED) shown.push(el("li", {}, `and ${items.length - MAX_LISTED} more`));
  return el("div", {}, el("h4", {}, title), el("ul", { class: "listed" }, ...shown));
}

function section(source: Source, runs: Run[]): HTMLElement {
  const diverged = runs
    .filter((run) => run.status === "diverged")
    .map(
      (run) =>
        `${nameOf(run)}: after round ${run.rounds.toLocaleString("en")}: ${run.quantity || "a number is not finite"}`,
    );
  const notes = runs.flatMap((run) => run.notes.map((note) => `${nameOf(run)}: ${note}`));
  const states = new Map<string, number>();
  for (const run of runs) states.set(run.status, (states.get(run.status) ?? 0) + 1);
  const count = [...states].map(([state, n]) => `${n} ${state}`).join(", ");
  return el(
    "section",
    { class: "source" },
    el("h3", {}, source.name),
    el("p", {}, `${source.kind === "comparison" ? "A comparison" : "A run"}${count ? `: ${count}` : ""}.`),
    ...about(source),
    listed("Diverged", diverged),
    listed("Notes", notes),
    source.config &&
      el(
        "details",
        {},
        el("summary", {}, "Configuration"),
        el("pre", { tabindex: 0, "aria-label": `Configuration of ${source.name}` }, source.config),
      ),
  );
}

export function sourcesSection(report: Report): HTMLElement {
  const parts = report.sources.map((source, i) =>
    section(
      source,
      report.runs.filter((run) => run.source === i),
    ),
  );
  return el(
    "section",
    { class: "sources", "aria-labelledby": "sources-title" },
    el("h2", { id: "sources-title" }, "Sources"),
    ...parts,
  );
}

// "l" or "r" per column, as the program writes it; anything else counts as left.
function reportTable(table: Table): HTMLElement {
  const header = (table.header ?? []).map(text);
  const align = text(table.align);
  const rows = (table.rows ?? []).map((row) => row.map(text));
  return plainTable({ caption: text(table.title), header, rows, numeric: header.map((_, i) => align[i] === "r") });
}

export function tablesSection(report: Report): HTMLElement | null {
  const tables = report.sources.flatMap((source) => source.tables ?? []);
  if (tables.length === 0) return null;
  const details = el("details", { class: "tables" }, el("summary", {}, `Tables of the comparison (${tables.length})`));
  details.addEventListener("toggle", () => details.append(...tables.map(reportTable)), { once: true });
  return details;
}
