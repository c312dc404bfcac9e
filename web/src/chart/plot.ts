import { shorten } from "../text/shorten";
import { ChartModel, Curve } from "./chart_model";
import { Ink } from "./palette";
import { Surface } from "./surface";
import { Frame, pixelX, pixelY, penLength, traceBand, traceEnvelope, traceLine } from "./trace";

const MAX_LABELLED_MARKS = 12;
const NOISE = 8; // widths of the plot

// Labels that would touch the one before or the edge are left out; with many marks all are.
function drawMarks(surface: Surface, model: ChartModel, f: Frame, ink: Ink, scale: number): void {
  const inside = model.marks.filter((m) => m.x >= f.x.min && m.x <= f.x.max && (!f.xLog || m.x > 0));
  const labelled = inside.length <= MAX_LABELLED_MARKS;
  let free = -Infinity;
  for (const mark of inside) {
    const x = Math.round(pixelX(f, mark.x)) + 0.5;
    const colour = mark.style ? ink.lines[mark.style.colour] : ink.mark;
    const dash = mark.dashed ? [3 * scale, 3 * scale] : [];
    surface.line([x, f.top, x, f.top + f.height], { colour, width: scale, dash });
    const text = shorten(mark.text, 24);
    const end = x + (6 + text.length * 5.6) * scale;
    if (!labelled || text === "" || x < free || end > f.left + f.width) continue;
    surface.text(x + 3 * scale, f.top + 10 * scale, text, { colour: ink.faint, size: 10 * scale });
    free = end;
  }
}

function drawLevels(surface: Surface, model: ChartModel, f: Frame, ink: Ink, scale: number): void {
  for (const level of model.levels) {
    const y = Math.round(pixelY(f, level.y)) + 0.5;
    const colour = ink.lines[level.style.colour];
    surface.line([f.left, y, f.left + f.width, y], { colour, width: scale, dash: [6 * scale, 5 * scale] });
    const text = shorten(level.text, 40);
    // At the left, where regrets are still small and leave room.
    surface.text(f.left + 4 * scale, y - 4 * scale, text, { colour, size: 10 * scale });
  }
}

// A line that goes up and down many times per pixel has no visible dashes; stroking it took nine tenths of a frame.
function drawLine(surface: Surface, curve: Curve, f: Frame, colour: string, scale: number): void {
  const points = traceLine(curve, f);
  const width = curve.width * scale;
  if (penLength(points) > NOISE * f.width) surface.area(traceEnvelope(curve, f, width), colour, 1);
  else surface.line(points, { colour, width, dash: curve.style.dash.map((d) => d * scale) });
}

const CORNERS = 12;

// A dot as a polygon: surfaces have no circles.
function dot(x: number, y: number, radius: number): number[] {
  return Array.from({ length: 2 * CORNERS }, (_, i) => {
    const angle = (Math.PI * (i - (i % 2))) / CORNERS;
    return i % 2 === 0 ? x + radius * Math.cos(angle) : y + radius * Math.sin(angle);
  });
}

function drawPoints(surface: Surface, curve: Curve, f: Frame, ink: Ink, scale: number): void {
  const colour = ink.lines[curve.style.colour];
  const radius = (curve.points ?? 0) * scale;
  for (let i = 0; i < curve.x.length; i++) {
    const [x, y] = [pixelX(f, curve.x[i]), pixelY(f, curve.y[i])];
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    const sd = curve.sd?.[i] ?? 0;
    const bar = [x, pixelY(f, curve.y[i] - sd), x, pixelY(f, curve.y[i] + sd)];
    if (sd > 0) surface.line(bar, { colour, width: scale });
    surface.area(dot(x, y, radius), colour, 1);
    const text = curve.texts?.[i];
    if (!text) continue;
    // To the right, and near the right edge to the left.
    const right = x < f.left + 0.85 * f.width;
    surface.text(x + (right ? 1 : -1) * (radius + 3 * scale), y + 11 * scale, text, {
      colour: ink.faint,
      size: 10 * scale,
      anchor: right ? "start" : "end",
    });
  }
}

// Everything inside the axes. `scale`: pixels per CSS pixel.
export function drawPlot(surface: Surface, model: ChartModel, f: Frame, ink: Ink, scale: number): void {
  surface.clipped(f, () => {
    drawMarks(surface, model, f, ink, scale);
    for (const curve of model.curves) {
      if (curve.band) surface.area(traceBand(curve, f), ink.lines[curve.style.colour], curve.band.opacity);
    }
    for (const curve of model.curves) {
      if (curve.width > 0) drawLine(surface, curve, f, ink.lines[curve.style.colour], scale);
    }
    for (const curve of model.curves) if (curve.points) drawPoints(surface, curve, f, ink, scale);
    drawLevels(surface, model, f, ink, scale);
  });
}
