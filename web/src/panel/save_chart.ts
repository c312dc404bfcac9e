import { ChartModel, Range } from "../chart/chart_model";
import { chartCsv } from "../chart/chart_text";
import { pngFigure, svgFigure } from "../chart/figure";
import { download, fileName } from "../dom/handover";

// A chart as it is seen: what it shows, and how far it is zoomed.
export interface Pictured {
  model: ChartModel;
  x: Range;
  y: Range;
}

export const SAVERS: [string, (seen: Pictured) => void][] = [
  ["SVG", ({ model, x, y }) => download(`${fileName(model.title)}.svg`, svgFigure(model, x, y), "image/svg+xml")],
  [
    "PNG",
    ({ model, x, y }) =>
      void pngFigure(model, x, y).then((picture) => download(`${fileName(model.title)}.png`, picture, "image/png")),
  ],
  ["CSV", ({ model }) => download(`${fileName(model.title)}.csv`, chartCsv(model), "text/csv")],
];
