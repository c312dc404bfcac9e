import { ChartModel, Curve } from "../chart/chart_model";
import { FitSummary } from "../data/fit_summary";
import { significant } from "../text/number_format";
import { Shown } from "./view";

const DIAGONAL = { colour: 6, dash: [3, 4] };

function diagonal(min: number, max: number): Curve {
  const ends = Float64Array.of(min, max);
  return { id: "diagonal", label: "predicted = true", style: DIAGONAL, width: 1, x: ends, y: ends, quiet: true };
}

// Of the rows given a probability near p, the share that came true, with the standard error of a share of so many rows.
export function calibrationModel(shown: Shown, { calibration }: FitSummary): ChartModel | null {
  if (!calibration) return null;
  const bins = calibration.bins.map((bin, i) => ({ ...bin, i })).filter((bin) => bin.rows > 0);
  const error = bins.map((b) => Math.sqrt((b.frequency * (1 - b.frequency)) / b.rows));
  const share = (v: number) => significant(v, 3);
  const size = calibration.bins.length;
  return {
    title: `Calibration of ${shown.label}`,
    xTitle: `mean probability of ${calibration.of}`,
    yTitle: "frequency",
    xLog: false,
    yLog: false,
    curves: [
      diagonal(0, 1),
      {
        id: "calibration",
        label: "frequency",
        style: { ...shown.style, dash: [] },
        width: 1.4,
        x: Float64Array.from(bins, (b) => b.probability),
        y: Float64Array.from(bins, (b) => b.frequency),
        sd: Float64Array.from(error),
        points: 3.5,
        texts: bins.map((b) => b.rows.toLocaleString("en")),
      },
    ],
    marks: [],
    levels: [],
    table: {
      header: ["probability", "rows", "mean probability", "frequency", "standard error"],
      rows: bins.map((b, k) => [
        `${share(b.i / size)} to ${share((b.i + 1) / size)}`,
        b.rows.toLocaleString("en"),
        share(b.probability),
        share(b.frequency),
        share(error[k]),
      ]),
    },
    remarks: ["The numbers are rows; bars are one standard error. Honest probabilities lie on the dashed line."],
  };
}

export function pairsModel(shown: Shown, { pairs }: FitSummary): ChartModel | null {
  if (pairs.length === 0) return null;
  const sorted = [...pairs].sort((a, b) => a.truth - b.truth);
  const x = Float64Array.from(sorted, (p) => p.truth);
  const margin = 0.02 * (x[x.length - 1] - x[0]);
  return {
    title: `Predictions of ${shown.label}`,
    xTitle: "true",
    yTitle: "predicted",
    xLog: false,
    yLog: false,
    curves: [
      diagonal(x[0] - margin, x[x.length - 1] + margin),
      {
        id: "pairs",
        label: "predicted",
        style: shown.style,
        width: 0,
        x,
        y: Float64Array.from(sorted, (p) => p.predicted),
        points: 1.8,
      },
    ],
    marks: [],
    levels: [],
    remarks: [`${pairs.length.toLocaleString("en")} rows. Exact predictions lie on the dashed line.`],
  };
}
