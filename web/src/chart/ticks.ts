import { significant, superscript } from "../text/number_format";

export interface Ticks {
  at: number[];
  text: string[]; // "" for a tick without a number
}

function niceStep(rough: number): number {
  const unit = 10 ** Math.floor(Math.log10(rough));
  for (const m of [1, 2, 2.5, 5]) if (m * unit >= rough * (1 - 1e-9)) return m * unit;
  return 10 * unit;
}

function withDecimals(value: number, step: number): string {
  const decimals = Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const more = Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6 ? 1 : 0;
  const [whole, part] = Math.abs(value)
    .toFixed(decimals + more)
    .split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return (value < 0 ? "−" : "") + (part ? `${grouped}.${part}` : grouped);
}

export function linearTicks(min: number, max: number, maxTicks: number): Ticks {
  if (!(max > min)) return { at: [min], text: [significant(min, 4)] };
  const step = niceStep((max - min) / Math.max(1, maxTicks));
  const at: number[] = [];
  for (let k = Math.ceil(min / step - 1e-9); k <= Math.floor(max / step + 1e-9); k++) at.push(k === 0 ? 0 : k * step);
  const size = Math.max(Math.abs(min), Math.abs(max));
  const scientific = size >= 1e7 || size < 1e-3;
  return { at, text: at.map((v) => (scientific ? significant(v, 4) : withDecimals(v, step))) };
}

const powerText = (k: number): string =>
  k >= 0 && k <= 4 ? withDecimals(10 ** k, 1) : k < 0 && k >= -2 ? String(10 ** k) : `10${superscript(k)}`;

// Whole decades; with few of them also 2 and 5 times each; within one decade as on a linear axis.
export function logTicks(min: number, max: number, maxTicks: number): Ticks {
  const first = Math.ceil(Math.log10(min) - 1e-9);
  const last = Math.floor(Math.log10(max) + 1e-9);
  const decades = Math.log10(max / min);
  if (last < first || decades < 0.9) {
    const fine = linearTicks(min, max, maxTicks);
    const keep = fine.at.map((v) => v > 0);
    return { at: fine.at.filter((_, i) => keep[i]), text: fine.text.filter((_, i) => keep[i]) };
  }
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(2, maxTicks)));
  const ticks: Ticks = { at: [], text: [] };
  for (let k = first - 1; k <= last; k++) {
    for (const m of [1, 2, 5]) {
      const v = m * 10 ** k;
      if (v < min * (1 - 1e-9) || v > max * (1 + 1e-9) || (m > 1 && decades > 3)) continue;
      ticks.at.push(v);
      const named = m === 1 ? (((k - last) % every) + every) % every === 0 : decades <= 2 && maxTicks >= 5;
      ticks.text.push(!named ? "" : m === 1 ? powerText(k) : significant(v, 2));
    }
  }
  return ticks;
}
