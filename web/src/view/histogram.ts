import { spread } from "../data/aggregate";
import { ChartModel } from "../chart/chart_model";
import { Histogram } from "../data/contract";
import { Logs } from "./curves";
import { Series } from "../data/series";
import { Shown } from "./view";

const MAX_BINS = 60;

const usable = (h: Histogram | undefined): h is Histogram =>
  !!h && Number.isFinite(h.least) && Number.isFinite(h.most) && h.counts.length > 0 && h.counts.some((c) => c > 0);

export const histogramsOf = (series: Series): Histogram[] => series.runs.map((run) => run.final).filter(usable);

// Counts in other bins: of the values if they are known; otherwise a bin's count is spread evenly over it.
export function rebin(h: Histogram, min: number, max: number, bins: number): Float64Array {
  const out = new Float64Array(bins);
  const width = (max - min) / bins;
  const binOf = (v: number) => Math.min(bins - 1, Math.max(0, Math.floor((v - min) / width)));
  if (h.values) {
    for (const v of h.values) if (Number.isFinite(v)) out[binOf(v)]++;
    return out;
  }
  const own = (h.most - h.least) / h.counts.length;
  h.counts.forEach((count, i) => {
    const from = h.least + i * own;
    const to = from + own;
    if (own === 0) {
      out[binOf(h.least)] += count;
      return;
    }
    for (let b = binOf(from); b <= binOf(to); b++) {
      const overlap = Math.min(to, min + (b + 1) * width) - Math.max(from, min + b * width);
      if (overlap > 0) out[b] += (count * overlap) / own;
    }
  });
  return out;
}

// Shares of the coordinates, mean over seeds on common edges.
export function meanHistogram(histograms: Histogram[]): { edges: Float64Array; share: Float64Array; sd: Float64Array } {
  let min = Math.min(...histograms.map((h) => h.least));
  let max = Math.max(...histograms.map((h) => h.most));
  if (min === max) {
    const by = Math.abs(min) * 0.05 || 0.5;
    min -= by;
    max += by;
  }
  const bins = Math.min(MAX_BINS, Math.max(...histograms.map((h) => h.counts.length)));
  const shares = histograms.map((h) => {
    const counts = rebin(h, min, max, bins);
    const total = counts.reduce((a, b) => a + b, 0) || 1;
    return counts.map((c) => c / total);
  });
  const spreads = Array.from({ length: bins }, (_, b) => spread(shares.map((s) => s[b])));
  return {
    edges: Float64Array.from({ length: bins + 1 }, (_, b) => min + ((max - min) * b) / bins),
    share: Float64Array.from(spreads, (s) => s.mean),
    sd: Float64Array.from(spreads, (s) => s.sd),
  };
}

export function histogramModel(shown: Shown, logs: Logs): ChartModel {
  const { edges, share, sd } = meanHistogram(histogramsOf(shown.series));
  const size = histogramsOf(shown.series)[0].size;
  const x = new Float64Array(2 * share.length);
  const y = new Float64Array(2 * share.length);
  const deviation = new Float64Array(2 * share.length);
  share.forEach((s, b) => {
    x[2 * b] = edges[b];
    x[2 * b + 1] = edges[b + 1];
    y[2 * b] = y[2 * b + 1] = s;
    deviation[2 * b] = deviation[2 * b + 1] = sd[b];
  });
  const band = { lo: new Float64Array(x.length), hi: y, opacity: 0.25 };
  const style = { ...shown.style, dash: [] };
  const several = shown.series.runs.length > 1;
  return {
    title: `Last hyperparameters of ${shown.label}`,
    xTitle: "value of a coordinate of x",
    yTitle: `share of the ${size.toLocaleString("en")} coordinates`,
    xLog: false,
    yLog: logs.y,
    curves: [
      {
        id: "share",
        label: "share of coordinates",
        style,
        width: 1.2,
        x,
        y,
        band,
        sd: several ? deviation : undefined,
      },
    ],
    marks: [],
    levels: [],
    zeroBased: true,
  };
}
