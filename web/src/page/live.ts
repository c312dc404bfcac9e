import { appendRow } from "../data/append_row";
import { checkReport, checkRun } from "../data/check_report";
import { Progress, Row, Run, RunName } from "../data/contract";
import { el } from "../dom/dom";
import { duration } from "../text/number_format";
import { Page } from "./page";

const REDRAW_EVERY = 250; // ms: at most four times per second

const sameRun = (a: RunName, b: RunName): boolean =>
  a.stream === b.stream && a.optimiser === b.optimiser && a.setting === b.setting && a.seed === b.seed;

export function progressText(p: Progress): string {
  const parts = [
    `${p.done.toLocaleString("en")} of ${p.of.toLocaleString("en")} ${p.unit}`,
    `${duration(p.seconds)} so far`,
  ];
  if (p.remaining !== null && p.remaining !== undefined) parts.push(`about ${duration(p.remaining)} left`);
  return (p.paused ? "Paused: " : "") + parts.join(", ");
}

// Follows a program that is running.
export class Live {
  private page: Page | null = null;
  private events: EventSource | null = null;
  private timer = 0;
  private regroup = false;
  private lastDraw = 0;
  private readonly status = el("span", { class: "live-status", role: "status" }, "connecting …");
  private readonly bar = el("progress", { max: 1, value: 0, "aria-label": "Progress", hidden: true });
  private readonly text = el("span", { class: "live-text" });
  private readonly line = el("p", { class: "live" }, this.status, this.bar, this.text);

  constructor(private readonly root: HTMLElement) {
    root.replaceChildren(
      el(
        "main",
        { id: "content" },
        el("h1", {}, "Obolus"),
        this.line,
        el("p", { class: "waiting" }, "Waiting for the first numbers …"),
      ),
    );
  }

  start(): void {
    const events = new EventSource("events" + location.search);
    this.events = events;
    events.onopen = () => this.say("live");
    events.onerror = () =>
      this.say(
        events.readyState === EventSource.CLOSED
          ? "the server ended the connection; reload the page to try again"
          : "connection lost, trying again",
      );
    this.on("reset", (data) => this.reset(data));
    this.on("run", (data) => this.run(data));
    this.on("row", (data) => this.row(data as Row));
    this.on("progress", (data) => this.progress(data as Progress));
    this.on("end", (data) => this.end(data as { status: string }));
  }

  private say(text: string): void {
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  private on(name: string, act: (data: unknown) => void): void {
    this.events!.addEventListener(name, (event) => {
      try {
        act(JSON.parse((event as MessageEvent<string>).data));
      } catch (error) {
        this.say(`could not read a message from the server: ${error instanceof Error ? error.message : "unknown"}`);
      }
    });
  }

  private reset(data: unknown): void {
    const report = checkReport(data);
    if (this.page) this.page.replace(report);
    else this.page = new Page(report, this.root, this.line);
    this.lastDraw = performance.now();
  }

  private run(data: unknown): void {
    if (!this.page) return;
    const { runs, sources } = this.page.report;
    const run: Run = checkRun(data, sources.length);
    const at = runs.findIndex((r) => r.source === run.source && sameRun(r, run));
    if (at >= 0) runs[at] = run;
    else runs.push(run);
    this.regroup = true;
    this.schedule();
  }

  private row({ run: name, row }: Row): void {
    // The last of several: a new source's run comes after an older one's.
    const run = this.page?.report.runs.findLast((r) => sameRun(r, name));
    if (!run || !appendRow(run, row)) return;
    this.page!.touched(run);
    this.schedule();
  }

  private progress(p: Progress): void {
    this.bar.hidden = false;
    this.bar.max = Math.max(1, p.of);
    this.bar.value = p.done;
    this.text.textContent = progressText(p);
  }

  private end({ status }: { status: string }): void {
    this.events?.close();
    this.say(status);
    this.draw();
  }

  private schedule(): void {
    if (this.timer) return;
    this.timer = window.setTimeout(() => this.draw(), Math.max(0, REDRAW_EVERY - (performance.now() - this.lastDraw)));
  }

  private draw(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.regroup) this.page?.regroup();
    this.regroup = false;
    this.page?.dataChanged();
    // Counted from the end, so that even slow drawing leaves time for clicks.
    this.lastDraw = performance.now();
  }
}
