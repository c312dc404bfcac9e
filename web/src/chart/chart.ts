import uPlot from "uplot";
import { CanvasSurface } from "./canvas_surface";
import { ChartModel, Range, xRange, yRange } from "./chart_model";
import { drawPlot } from "./plot";
import { FONT } from "./surface";
import { ink } from "./theme";
import { linearTicks, logTicks, Ticks } from "./ticks";
import { Frame } from "./trace";

export interface ChartEvents {
  zoom(range: Range | null): void;
  cursor(x: number | null, top: number): void;
}

// uPlot gives frame, axes, cursor and selection. The lines are drawn here, because each series has x values of its own
// once the axis counts gradients or seconds, and uPlot would join them all into one list.
export class Chart {
  private plot: uPlot | null = null;
  private logs = "";
  private silent = false;
  model: ChartModel | null = null;

  constructor(
    private readonly host: HTMLElement,
    private readonly events: ChartEvents,
  ) {}

  show(model: ChartModel, zoom: Range | null): void {
    const logs = `${model.xLog} ${model.yLog}`;
    this.model = model;
    if (!this.plot || logs !== this.logs) {
      this.destroy();
      this.logs = logs;
      this.create(model);
    }
    this.setZoom(zoom);
  }

  // The axes' limits for a zoom; a zoom beyond the data or below a logarithm's reach is cut to it.
  ranges(zoom: Range | null): { x: Range; y: Range } {
    const model = this.model!;
    const full = xRange(model);
    let x = full;
    if (zoom) {
      const cut = { min: Math.max(zoom.min, full.min), max: Math.min(zoom.max, full.max) };
      if (cut.max > cut.min) x = cut;
    }
    return { x, y: yRange(model, x) };
  }

  setZoom(zoom: Range | null): void {
    if (!this.plot || !this.model) return;
    const { x, y } = this.ranges(zoom);
    this.plot.batch(() => {
      this.plot!.setScale("x", x);
      this.plot!.setScale("y", y);
      this.plot!.redraw(false, true);
    });
  }

  redraw(): void {
    this.plot?.redraw(false, true);
  }

  setSize(width: number, height: number): void {
    if (this.plot && (this.plot.width !== width || this.plot.height !== height)) this.plot.setSize({ width, height });
  }

  setCursor(x: number | null): void {
    if (!this.plot) return;
    const left = x === null ? -10 : this.plot.valToPos(x, "x");
    this.silent = true;
    this.plot.setCursor({ left, top: x === null ? -10 : 10 }, false);
    this.silent = false;
  }

  // The pixel of a value, from the host's left edge.
  leftOf(x: number): number {
    return this.plot ? this.plot.over.offsetLeft + this.plot.valToPos(x, "x") : 0;
  }

  get canvas(): HTMLCanvasElement | null {
    return this.plot?.ctx.canvas ?? null;
  }

  get width(): number {
    return this.plot?.width ?? 0;
  }

  destroy(): void {
    this.plot?.destroy();
    this.plot = null;
  }

  private frame(u: uPlot): Frame {
    const { left, top, width, height } = u.bbox;
    const range = (key: string): Range => ({ min: u.scales[key].min ?? 0, max: u.scales[key].max ?? 1 });
    return { left, top, width, height, x: range("x"), y: range("y"), xLog: this.model!.xLog, yLog: this.model!.yLog };
  }

  private draw(u: uPlot): void {
    if (!this.model || u.scales.x.min == null || u.scales.y.min == null) return;
    drawPlot(new CanvasSurface(u.ctx), this.model, this.frame(u), ink(), uPlot.pxRatio);
  }

  private unzoom(): null {
    this.events.zoom(null);
    return null;
  }

  private selected(u: uPlot): void {
    const { left, width } = u.select;
    if (width < 3) return;
    const range = { min: u.posToVal(left, "x"), max: u.posToVal(left + width, "x") };
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.events.zoom(range);
  }

  private moved(u: uPlot): void {
    if (this.silent) return;
    const { left, top } = u.cursor;
    if (left === undefined || left < 0) this.events.cursor(null, 0);
    else this.events.cursor(u.posToVal(left, "x"), top ?? 0);
  }

  private create(model: ChartModel): void {
    const { x, y } = this.ranges(null);
    const options: uPlot.Options = {
      width: Math.max(200, this.host.clientWidth),
      height: Math.max(120, this.host.clientHeight),
      padding: [10, 24, 0, 0],
      legend: { show: false },
      series: [{}, { paths: () => null, points: { show: false } }],
      scales: { x: scale(model.xLog, x), y: scale(model.yLog, y) },
      axes: [axis(model.xLog, 80, false), axis(model.yLog, 38, true)],
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => this.unzoom() },
      },
      hooks: {
        draw: [(u) => this.draw(u)],
        setSelect: [(u) => this.selected(u)],
        setCursor: [(u) => this.moved(u)],
      },
    };
    this.plot = new uPlot(
      options,
      [
        [x.min, x.max],
        [null, null],
      ],
      this.host,
    );
  }
}

function scale(log: boolean, { min, max }: Range): uPlot.Scale {
  return {
    time: false,
    auto: false,
    distr: log ? 3 : 1,
    min,
    max,
    range: (_u, low, high) => [low ?? min, high ?? max],
  };
}

// The same ticks as in exported figures.
function axis(log: boolean, space: number, vertical: boolean): uPlot.Axis {
  let ticks: Ticks = { at: [], text: [] };
  const keep = (_u: uPlot, splits: number[]) => splits;
  return {
    font: `12px ${FONT}`,
    stroke: () => ink().faint,
    grid: { stroke: () => ink().grid, width: 1, filter: keep },
    ticks: { show: false, filter: keep },
    filter: keep,
    gap: 6,
    size: vertical ? (_u, values) => 16 + 7 * Math.max(3, ...(values ?? []).map((v) => String(v ?? "").length)) : 30,
    splits: (u, _axis, min, max) => {
      const close = u.height < 200 ? 0.55 : 1; // small charts
      const maxTicks = Math.max(2, Math.floor((vertical ? u.height - 40 : u.width - 60) / (space * close)));
      ticks = log ? logTicks(min, max, maxTicks) : linearTicks(min, max, maxTicks);
      return ticks.at;
    },
    values: () => ticks.text,
  };
}
