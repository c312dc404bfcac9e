import { ColumnInfo, Columns, Mark, Report, Run, Source } from "./contract";
import { isObject, list, Loose, number, text } from "./loose";

// An error whose message is shown to the reader as it is.
export class Unreadable extends Error {}

function need(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Unreadable(`The report's data is damaged: ${what}.`);
}

function checkColumns(value: unknown, rows: number, where: string): Columns {
  if (value === undefined) return {};
  need(isObject(value), `${where} is not a set of columns`);
  for (const [name, column] of Object.entries(value)) {
    need(Array.isArray(column), `the column ${name} of ${where} is not a list`);
    need(column.length === rows, `the column ${name} of ${where} has ${column.length} rows, not ${rows}`);
  }
  return value as Columns;
}

function checkMarks(value: unknown): Mark[] {
  const marks = list(value)
    .filter(isObject)
    .map((mark) => ({ t: Number(mark.t), text: text(mark.text) }));
  return marks.filter((mark) => Number.isFinite(mark.t));
}

export function checkRun(value: unknown, sources: number): Run {
  need(isObject(value), "a run is not an object");
  const run = value as Loose;
  const where = `the run ${text(run.optimiser)}, seed ${text(run.seed)}`;
  need(isObject(run.columns) && Array.isArray((run.columns as Loose).t), `${where} has no column t`);
  const rows = ((run.columns as Loose).t as unknown[]).length;
  need(
    Number.isInteger(run.source) && number(run.source) >= 0 && number(run.source) < sources,
    `${where} names no source`,
  );
  return {
    ...(run as unknown as Run),
    stream: text(run.stream),
    optimiser: text(run.optimiser),
    setting: text(run.setting),
    seed: number(run.seed),
    notes: list(run.notes).map(text),
    rounds: number(run.rounds),
    horizon: number(run.horizon),
    columns: checkColumns(run.columns, rows, where),
    evaluation: checkColumns(run.evaluation, rows, where),
    alarms: checkMarks(run.alarms),
    summary: isObject(run.summary) ? run.summary : undefined,
  };
}

function checkSource(value: unknown): Source {
  need(isObject(value), "a source is not an object");
  const source = value as Loose;
  return {
    ...(source as unknown as Source),
    name: text(source.name),
    kind: source.kind === "comparison" ? "comparison" : "run",
    config: text(source.config),
    summary: isObject(source.summary) ? source.summary : null,
    about: list(source.about).filter(isObject) as unknown as Source["about"],
    streams: list(source.streams)
      .filter(isObject)
      .map((s) => ({ name: text(s.name), problem: text(s.problem), marks: checkMarks(s.marks) })),
    best: list(source.best).filter(isObject) as unknown as Source["best"],
    tables: list(source.tables).filter(isObject) as unknown as Source["tables"],
  };
}

function checkColumnInfo(value: Loose): ColumnInfo {
  return {
    name: text(value.name),
    label: text(value.label),
    meaning: text(value.meaning),
    panel: text(value.panel),
    scale: value.scale === "log" ? "log" : "linear",
  };
}

export function checkReport(value: unknown): Report {
  need(isObject(value), "it is not a report");
  if (value.format !== 1)
    throw new Unreadable(
      `This page reads reports of format 1; the data is of format ${text(value.format) || "unknown"}.`,
    );
  const sources = list(value.sources).map(checkSource);
  const made = isObject(value.made) ? value.made : {};
  return {
    format: 1,
    title: text(value.title),
    made: { obolus: text(made.obolus), date: text(made.date), command: text(made.command) },
    catalogue: list(value.catalogue).filter(isObject).map(checkColumnInfo),
    sources,
    runs: list(value.runs).map((run) => checkRun(run, sources.length)),
  };
}
