// Tables as text for other programs. Names may come from untrusted folders: each format is escaped.

export interface TextTable {
  title: string;
  header: string[];
  numeric: boolean[];
  rows: string[][];
}

const oneLine = (text: string): string => text.replace(/[\r\n\t\u2028\u2029]+/g, " ");

// RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe in front; numbers are left alone.
export function csvField(value: string | number): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const safe = /^\s*[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replace(/"/g, '""')}"` : safe;
}

export const csvRow = (values: (string | number)[]): string => values.map(csvField).join(",") + "\r\n";

// Markdown passes HTML on, so angle brackets and ampersands are escaped too.
export function markdownField(text: string): string {
  return oneLine(text)
    .replace(/[\\`*_{}[\]()#!|~$]/g, (c) => `\\${c}`)
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;");
}

export function markdownTable({ header, numeric, rows }: TextTable): string {
  const line = (cells: string[]) => `| ${cells.map(markdownField).join(" | ")} |\n`;
  return line(header) + `|${numeric.map((n) => (n ? "---:" : "---")).join("|")}|\n` + rows.map(line).join("");
}

const LATEX: { [c: string]: string } = {
  "\\": "\\textbackslash{}",
  "{": "\\{",
  "}": "\\}",
  $: "\\$",
  "&": "\\&",
  "#": "\\#",
  "%": "\\%",
  _: "\\_",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "<": "\\textless{}",
  ">": "\\textgreater{}",
  "|": "\\textbar{}",
  '"': "\\textquotedbl{}",
  "`": "\\textasciigrave{}",
  "±": "$\\pm$",
  "−": "$-$",
  "–": "--",
  "∞": "$\\infty$",
  λ: "$\\lambda$",
  "·": "\\textperiodcentered{}",
};

export function latexField(text: string): string {
  return oneLine(text).replace(/[\\{}$&#%_~^<>|"`±−–∞λ·]/g, (c) => LATEX[c]);
}

// Numbers are set as mathematics: 1.2 ± 0.1 becomes $1.2 \pm 0.1$, 3e−5 becomes $3 \cdot 10^{-5}$, and 12,000 keeps
// its comma tight.
export function latexNumber(text: string): string {
  if (!/^[−\d.,e± ∞]+$/.test(text) || !/\d|∞/.test(text)) return latexField(text);
  const inside = text
    .replace(/(\d),(?=\d)/g, "$1{,}")
    .replace(/e(−?)(\d+)/g, (_, sign: string, power: string) => ` \\cdot 10^{${sign ? "-" : ""}${power}}`)
    .replace(/−/g, "-")
    .replace(/±/g, "\\pm")
    .replace(/∞/g, "\\infty");
  return `$${inside}$`;
}

export function latexTable({ title, header, numeric, rows }: TextTable): string {
  const line = (cells: string[], body: boolean) =>
    `  ${cells.map((c, i) => (body && numeric[i] ? latexNumber(c) : latexField(c))).join(" & ")} \\\\\n`;
  return [
    `% ${oneLine(title)}\n`,
    `% needs \\usepackage{booktabs}\n`,
    `\\begin{tabular}{${numeric.map((n) => (n ? "r" : "l")).join("")}}\n  \\toprule\n`,
    line(header, false),
    "  \\midrule\n",
    ...rows.map((row) => line(row, true)),
    "  \\bottomrule\n\\end{tabular}\n",
  ].join("");
}
