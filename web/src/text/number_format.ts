// Numbers as a reader wants them: few digits, thousands grouped, a real minus sign.

const group = (digits: string): string => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");

function plain(text: string): string {
  const [whole, part] = text.split(".");
  return part === undefined ? group(whole) : `${group(whole)}.${part}`;
}

export function significant(value: number, digits: number): string {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size >= 1e7 || size < 1e-4) return sign + power(size, digits);
  const rounded = Number(size.toPrecision(digits));
  if (rounded >= 10 ** (digits - 1)) return sign + group(String(Math.round(size)));
  return sign + plain(rounded.toPrecision(digits).replace(/\.?0+$/, ""));
}

function power(size: number, digits: number): string {
  const [mantissa, exponent] = size.toExponential(digits - 1).split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return `${short}e${exponent.replace("+", "").replace("-", "−")}`;
}

// Four digits of a mean and two of its deviation, as in the program's tables.
export function meanAndSd(mean: number, sd: number, n: number): string {
  if (Number.isNaN(mean)) return "–";
  return n > 1 ? `${significant(mean, 4)} ± ${significant(sd, 2)}` : significant(mean, 4);
}

export function percent(share: number): string {
  return share > 0 && share < 0.01 ? "under 1 %" : `${(100 * share).toFixed(0)} %`;
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

export function superscript(n: number): string {
  const digits = String(Math.abs(n)).replace(/\d/g, (d) => SUPERSCRIPTS[Number(d)]);
  return n < 0 ? `⁻${digits}` : digits;
}

export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${significant(seconds, 3)} s`;
  const whole = Math.round(seconds);
  const pad = (n: number) => String(n).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`;
}
