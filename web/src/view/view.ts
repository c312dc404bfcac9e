import { Mark, Report } from "../data/contract";
import { ChartMark, Range } from "../chart/chart_model";
import { lineStyle, LineStyle } from "../chart/palette";
import { bestSetting } from "../data/ranking";
import { groupRuns, label, Series, streamNames } from "../data/series";
import { axisAvailable, positions, XAxis } from "./x_axis";

export interface Shown {
  series: Series;
  label: string;
  style: LineStyle;
}

export type SettingChoice = { kind: "best" } | { kind: "all" } | { kind: "one"; setting: string };

// What the reader looks at: the report, and every choice made in the page's controls.
export class View {
  report: Report;
  series: Series[] = [];
  streams: string[] = [];
  stream = "";
  xAxis: XAxis = "rounds";
  zoom: Range | null = null;
  hidden = new Set<string>(); // labels, so that a hidden method stays hidden when the stream changes
  settings = new Map<string, SettingChoice>();
  private shownCache: Shown[] | null = null;

  constructor(report: Report) {
    this.report = report;
    this.regroup();
  }

  // After runs were added or replaced.
  regroup(): void {
    this.series = groupRuns(this.report);
    this.streams = streamNames(this.series);
    if (!this.streams.includes(this.stream)) this.stream = this.streams[0] ?? "";
    if (!axisAvailable(this.xAxis, this.series)) this.xAxis = "rounds";
    this.forget();
  }

  forget(): void {
    this.shownCache = null;
  }

  optimisers(): string[] {
    return [...new Set(this.series.map((s) => s.optimiser))];
  }

  settingsOf(optimiser: string): string[] {
    return [...new Set(this.series.filter((s) => s.optimiser === optimiser).map((s) => s.setting))];
  }

  ranked(): boolean {
    return this.report.sources.some((source) => source.ranking !== undefined);
  }

  choice(optimiser: string): SettingChoice {
    return this.settings.get(optimiser) ?? (this.ranked() ? { kind: "best" } : { kind: "all" });
  }

  // Each (optimiser, source) is ranked by itself: sources may rank by different measures.
  private chosen(optimiser: string, stream: string): Series[] {
    const here = this.series.filter((s) => s.stream === stream && s.optimiser === optimiser);
    const choice = this.choice(optimiser);
    if (choice.kind === "all") return here;
    if (choice.kind === "one") return here.filter((s) => s.setting === choice.setting);
    const bySource = new Map<string, Series[]>();
    for (const s of here) {
      const key = s.origin || String(s.runs[0].source);
      bySource.set(key, [...(bySource.get(key) ?? []), s]);
    }
    return [...bySource.values()].flatMap((group) => {
      const best = bestSetting(this.report, group);
      return best ? [best] : group;
    });
  }

  seriesOn(stream: string): Series[] {
    return this.optimisers().flatMap((optimiser) => this.chosen(optimiser, stream));
  }

  // An optimiser's first series has the optimiser's own style on every stream; its further settings follow after all.
  shown(): Shown[] {
    if (this.shownCache) return this.shownCache;
    const optimisers = this.optimisers();
    let extra = optimisers.length;
    this.shownCache = optimisers.flatMap((optimiser, i) =>
      this.chosen(optimiser, this.stream).map((series, k) => ({
        series,
        label: label(series),
        style: lineStyle(k === 0 ? i : extra++),
      })),
    );
    return this.shownCache;
  }

  visible(): Shown[] {
    return this.shown().filter((s) => !this.hidden.has(s.label));
  }

  toggle(name: string): void {
    if (!this.hidden.delete(name)) this.hidden.add(name);
  }

  // Shows one alone; asked again, all.
  only(name: string): void {
    const others = this.shown()
      .map((s) => s.label)
      .filter((l) => l !== name);
    const alone = !this.hidden.has(name) && others.every((l) => this.hidden.has(l));
    for (const l of others) alone ? this.hidden.delete(l) : this.hidden.add(l);
    this.hidden.delete(name);
  }

  // Where the stream changes, and where detectors of the series shown say that it does.
  chartMarks(): ChartMark[] {
    const changes = this.xAxis === "rounds" ? this.allMarks().map(({ t, text }) => ({ x: t, text })) : [];
    return [...changes, ...this.alarms()].sort((a, b) => a.x - b.x);
  }

  // Of several series each in its colour.
  alarms(): ChartMark[] {
    const some = this.visible().filter((s) => s.series.runs.some((run) => run.alarms?.length));
    return some.flatMap(({ series, style }) => {
      const alarms = series.runs.flatMap((run) => run.alarms ?? []).sort((a, b) => a.t - b.t);
      const x = positions(series, this.xAxis, Float64Array.from(alarms, ({ t }) => t));
      const colour = some.length > 1 ? style : undefined;
      return alarms.map(({ text }, i) => ({ x: x[i], text, dashed: true, style: colour }));
    });
  }

  allMarks(): Mark[] {
    const found = new Map<string, Mark>();
    for (const source of this.report.sources) {
      for (const stream of source.streams) {
        if (stream.name !== this.stream) continue;
        for (const mark of stream.marks)
          found.set(`${mark.t} ${mark.text}`, { t: Number(mark.t), text: String(mark.text ?? "") });
      }
    }
    return [...found.values()].sort((a, b) => a.t - b.t);
  }
}
