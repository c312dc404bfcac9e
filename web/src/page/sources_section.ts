import { Report, Run, Source, Table } from "../data/contract";
import { fitOf } from "../data/fit_summary";
import { text } from "../data/loose";
import { el } from "../dom/dom";
import { plainTable } from "../dom/plain_table";
import { percent } from "../text/number_format";

const MAX_LISTED = 200;

function factsList(facts: [string, string][]): HTMLElement {
  const said = facts.filter(([, value]) => value !== "");
  return el("dl", { class: "about" }, ...said.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

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
    return factsList(facts);
  });
}

const count = (n: number): string => n.toLocaleString("en");

// What a fit did, and with which options.
function fitFacts(report: Report, run: Run): HTMLElement | null {
  const fit = fitOf(report, run);
  if (!fit) return null;
  const stride = fit.batch > 0 ? `, each of ${count(fit.batch)} row${fit.batch === 1 ? "" : "s"}` : "";
  const options = fit.settings.map(([key, value]) => `${key} = ${value}`).join(", ");
  const facts: [string, string][] = [
    ["rows", count(fit.rows)],
    ["rounds", count(fit.rounds) + stride],
    ["options", fit.batch === 0 ? "" : options ? `${options}; the others at their defaults` : "all at their defaults"],
    ["at a bound", fit.atBound.map((b) => `${b.name} (${percent(b.share)} of the rounds)`).join(", ")],
  ];
  return factsList(facts);
}

const nameOf = (run: Run): string =>
  [run.stream, run.optimiser, run.setting, `seed ${run.seed}`].filter((p) => p !== "").join(" · ");

function listed(title: string, items: string[]): HTMLElement | null {
  if (items.length === 0) return null;
  const shown = items.slice(0, MAX_LISTED).map((item) => el("li", {}, item));
  if (items.length > MAX_LISTED) shown.push(el("li", {}, `and ${items.length - MAX_LISTED} more`));
  return el("div", {}, el("h4", {}, title), el("ul", { class: "listed" }, ...shown));
}

function section(report: Report, source: Source, runs: Run[]): HTMLElement {
  const diverged = runs
    .filter((run) => run.status === "diverged")
    .map(
      (run) =>
        `${nameOf(run)}: after round ${run.rounds.toLocaleString("en")}: ${run.quantity || "a number is not finite"}`,
    );
  const notes = runs.flatMap((run) => run.notes.map((note) => `${nameOf(run)}: ${note}`));
  const states = new Map<string, number>();
  for (const run of runs) states.set(run.status, (states.get(run.status) ?? 0) + 1);
  const status = [...states].map(([state, n]) => `${n} ${state}`).join(", ");
  return el(
    "section",
    { class: "source" },
    el("h3", {}, source.name),
    el("p", {}, `${source.kind === "comparison" ? "A comparison" : "A run"}${status ? `: ${status}` : ""}.`),
    ...about(source),
    ...(source.kind === "run" ? runs.map((run) => fitFacts(report, run)) : []),
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
      report,
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
