import { CanvasSurface } from "./canvas_surface";
import { ChartModel, Curve, Range } from "./chart_model";
import { drawPlot } from "./plot";
import { shorten } from "../text/shorten";
import { Ink, INKS } from "./palette";
import { Surface } from "./surface";
import { SvgSurface } from "./svg_surface";
import { linearTicks, logTicks, Ticks } from "./ticks";
import { Frame, pixelX, pixelY } from "./trace";

// A chart as a figure of its own, for a paper or a slide: light ink, title, axes and a legend below.
const WIDTH = 760;
const PLOT_HEIGHT = 380;
const LEGEND_ROW = 20;
const ENTRY = 360;

const entries = (model: ChartModel): Curve[] => model.curves.filter((c) => !c.quiet);
const ticksOf = (range: Range, log: boolean, maxTicks: number): Ticks =>
  (log ? logTicks : linearTicks)(range.min, range.max, maxTicks);

export function figureHeight(model: ChartModel): number {
  return 40 + PLOT_HEIGHT + 52 + LEGEND_ROW * Math.ceil(entries(model).length / 2) + 10;
}

function drawAxes(surface: Surface, model: ChartModel, f: Frame, ink: Ink, xTicks: Ticks, yTicks: Ticks): void {
  const bottom = f.top + f.height;
  const right = f.left + f.width;
  const small = { colour: ink.faint, size: 12 };
  xTicks.at.forEach((v, i) => {
    const x = pixelX(f, v);
    surface.line([x, f.top, x, bottom + 4], { colour: ink.grid, width: 1 });
    surface.text(x, bottom + 18, xTicks.text[i], { ...small, anchor: "middle" });
  });
  yTicks.at.forEach((v, i) => {
    const y = pixelY(f, v);
    surface.line([f.left - 4, y, right, y], { colour: ink.grid, width: 1 });
    surface.text(f.left - 8, y + 4, yTicks.text[i], { ...small, anchor: "end" });
  });
  surface.line([f.left, f.top, f.left, bottom, right, bottom], { colour: ink.faint, width: 1 });
  surface.text(f.left + f.width / 2, bottom + 40, shorten(model.xTitle, 110), {
    colour: ink.text,
    size: 13,
    anchor: "middle",
  });
  surface.text(18, f.top + f.height / 2, shorten(model.yTitle, 60), {
    colour: ink.text,
    size: 13,
    anchor: "middle",
    turned: true,
  });
}

function drawLegend(surface: Surface, model: ChartModel, left: number, top: number, ink: Ink): void {
  entries(model).forEach((curve, i) => {
    const x = left + (i % 2) * ENTRY;
    const y = top + Math.floor(i / 2) * LEGEND_ROW;
    const colour = ink.lines[curve.style.colour];
    surface.line([x, y - 4, x + 36, y - 4], { colour, width: 2, dash: curve.style.dash });
    const note = curve.note ? `, ${curve.note}` : "";
    surface.text(x + 44, y, shorten(curve.label, 44 - note.length) + note, { colour: ink.text, size: 12 });
  });
}

export function drawFigure(surface: Surface, model: ChartModel, x: Range, y: Range): void {
  const ink = INKS.light;
  const yTicks = ticksOf(y, model.yLog, 8);
  const maxLength = Math.max(...yTicks.text.map((t) => t.length), 1);
  const left = 42 + Math.min(90, maxLength * 7);
  const f: Frame = {
    left,
    top: 40,
    width: WIDTH - left - 20,
    height: PLOT_HEIGHT,
    x,
    y,
    xLog: model.xLog,
    yLog: model.yLog,
  };
  surface.area([0, 0, WIDTH, 0, WIDTH, figureHeight(model), 0, figureHeight(model)], ink.page, 1);
  surface.text(left, 24, shorten(model.title, 90), { colour: ink.text, size: 15, bold: true });
  drawAxes(surface, model, f, ink, ticksOf(x, model.xLog, 8), yTicks);
  drawPlot(surface, model, f, ink, 1);
  drawLegend(surface, model, 20, f.top + f.height + 68, ink);
}

export function svgFigure(model: ChartModel, x: Range, y: Range): string {
  const surface = new SvgSurface(WIDTH, figureHeight(model), model.title);
  drawFigure(surface, model, x, y);
  return surface.toString();
}

export function pngFigure(model: ChartModel, x: Range, y: Range): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH * 2;
  canvas.height = figureHeight(model) * 2;
  const ctx = canvas.getContext("2d")!;
  ctx.scale(2, 2);
  drawFigure(new CanvasSurface(ctx), model, x, y);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the canvas gave no picture"))), "image/png");
  });
}
