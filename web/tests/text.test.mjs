// Numbers, ticks and escaping as texts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CATALOGUE } from "./generate.mjs";
import { sources } from "./sources.mjs";

const page = await sources();

test("numbers have few digits and real minus signs", () => {
  const cases = [
    [0, "0"],
    [1234567, "1,234,567"],
    [12345.678, "12,346"],
    [0.012345, "0.01235"],
    [-2.5, "−2.5"],
    [1e-5, "1e−5"],
    [123456789, "1.235e8"],
    [NaN, "–"],
    [Infinity, "∞"],
    [100, "100"],
    [0.1, "0.1"],
    [999.96, "1,000"],
    [20, "20"],
  ];
  for (const [value, text] of cases) assert.equal(page.significant(value, 4), text);
  assert.equal(page.meanAndSd(1.23456, 0.0345, 5), "1.235 ± 0.035");
  assert.equal(page.meanAndSd(1.5, 0, 1), "1.5");
});

test("durations read as one would say them", () => {
  const cases = [
    [0.0123, "12 ms"],
    [5, "5 s"],
    [61, "1 min 01 s"],
    [3725, "1 h 02 min"],
    [59.99, "60 s"],
  ];
  for (const [value, text] of cases) assert.equal(page.duration(value), text);
});

test("linear ticks are round, inside and not too many", () => {
  assert.deepEqual(page.linearTicks(0, 10, 5), { at: [0, 2, 4, 6, 8, 10], text: ["0", "2", "4", "6", "8", "10"] });
  for (const [min, max] of [
    [-3.2, 7.7],
    [1e-9, 3e-9],
    [12345, 12399],
    [-1e9, 1e9],
    [0.97, 0.98],
  ]) {
    const { at, text } = page.linearTicks(min, max, 6);
    assert.ok(at.length >= 2 && at.length <= 7, `${at}`);
    assert.ok(at.every((v) => v >= min - 1e-9 * Math.abs(min) && v <= max + 1e-9 * Math.abs(max)));
    assert.equal(new Set(text).size, text.length, text.join());
  }
});

test("logarithmic ticks are decades, and their numbers thin out", () => {
  const wide = page.logTicks(1e-12, 1e12, 6);
  assert.ok(wide.text.filter((t) => t !== "").length <= 7);
  assert.ok(wide.at.every((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9));
  const few = page.logTicks(1, 1000, 6);
  assert.deepEqual(few.at, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]);
  assert.ok(page.logTicks(2, 3, 5).at.length >= 2);
});

test("CSV quotes, and a text that would be a formula gets an apostrophe", () => {
  assert.equal(page.csvRow(["a", 'say "x"', "1,2", "two\nlines", -3, NaN]), 'a,"say ""x""","1,2","two\nlines",-3,\r\n');
  for (const evil of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1"]) assert.match(page.csvField(evil), /^"?'/);
});

test("Markdown and LaTeX escape what they would act upon", () => {
  assert.equal(page.markdownField("a|b<img>_x_\n[y](z)&"), "a\\|b&lt;img&gt;\\_x\\_ \\[y\\]\\(z\\)&amp;");
  assert.equal(
    page.latexField("50% of $x_1$ & \\input{a}^~#"),
    "50\\% of \\$x\\_1\\$ \\& \\textbackslash{}input\\{a\\}\\textasciicircum{}\\textasciitilde{}\\#",
  );
  assert.equal(page.latexNumber("1,234 ± 2e−5"), "$1{,}234 \\pm 2 \\cdot 10^{-5}$");
  assert.equal(page.latexNumber("diverged (1 of 5)"), "diverged (1 of 5)");
  assert.equal(page.latexNumber("–"), "--");
});

test("tables have the shape their formats ask for", () => {
  const table = { title: "a\nb", header: ["name", "n"], numeric: [false, true], rows: [["x", "1 ± 2"]] };
  assert.equal(page.markdownTable(table), "| name | n |\n|---|---:|\n| x | 1 ± 2 |\n");
  assert.equal(
    page.latexTable(table),
    "% a b\n% needs \\usepackage{booktabs}\n\\begin{tabular}{lr}\n  \\toprule\n  name & n \\\\\n  \\midrule\n" +
      "  x & $1 \\pm 2$ \\\\\n  \\bottomrule\n\\end{tabular}\n",
  );
});

test("XML text has no character that XML forbids", () => {
  assert.equal(page.xmlText("a\u0000<b>&\"'\ud800"), "a\ufffd&lt;b&gt;&amp;&quot;&#39;\ufffd");
});

// WCAG 2's relative luminance.
function luminance(hex) {
  const [r, g, b] = [1, 3, 5]
    .map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

test("every line stands out from the page by 3 : 1, texts by 4.5 : 1", () => {
  const contrast = (a, b) =>
    (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
  for (const ink of Object.values(page.INKS)) {
    for (const line of ink.lines)
      assert.ok(contrast(line, ink.page) >= 3, `${line} on ${ink.page}: ${contrast(line, ink.page)}`);
    for (const text of [ink.text, ink.faint]) assert.ok(contrast(text, ink.page) >= 4.5);
  }
});

test("56 series have 56 different lines, and the first seven differ without colour", () => {
  const looks = Array.from({ length: 56 }, (_, i) => JSON.stringify(page.lineStyle(i)));
  assert.equal(new Set(looks).size, 56);
  assert.equal(new Set(Array.from({ length: 7 }, (_, i) => page.lineStyle(i).dash.join())).size, 7);
});

test("a damaged report is refused with a sentence", () => {
  const good = { format: 1, title: "", made: {}, sources: [{ name: "a", streams: [] }], runs: [] };
  assert.throws(() => page.checkReport({ ...good, format: 2 }), /format 1/);
  assert.throws(() => page.checkReport({ ...good, runs: [{ source: 0, columns: {} }] }), /no column t/);
  assert.throws(() => page.checkReport({ ...good, runs: [{ source: 3, columns: { t: [] } }] }), /names no source/);
  assert.throws(
    () => page.checkReport({ ...good, runs: [{ source: 0, columns: { t: [1, 2], f: [1] } }] }),
    /has 1 rows, not 2/,
  );
  assert.equal(page.checkReport(good).runs.length, 0);
});

test("a panel of runs without a regret is not called one", () => {
  const titles = (columns) => {
    const series = [{ runs: [{ columns: { t: [1, 2], ...columns }, evaluation: {} }] }];
    return page.panelsOf(series, CATALOGUE).map((p) => p.title);
  };
  assert.deepEqual(titles({ own_mapping: [1, 2] }), ["|G|² of the method's own direction"]);
  assert.deepEqual(titles({ own_mapping: [1, 2], regret: [1, 3] }), ["Regret"]);
});

test("panels follow the report's catalogue, and a column without a panel has one of its own", () => {
  const series = [{ runs: [{ columns: { t: [1], f: [2], residual_y: [1], hypergradient_error: [1], new_metric: [3] }, evaluation: {} }] }];
  const described = { name: "new_metric", label: "a new metric", meaning: "", panel: "", scale: "log" };
  const of = (catalogue) => page.panelsOf(series, catalogue).map((p) => [p.title, p.more, p.log, p.quantities[0].name]);
  assert.deepEqual(of([...CATALOGUE, described]), [
    ["Losses", false, false, "outer loss f"],
    ["Residuals and errors", false, true, "residual of y"],
    ["a new metric", true, true, "a new metric"],
  ]);
  assert.deepEqual(of([...CATALOGUE, { ...described, panel: "losses" }])[0], ["Losses", false, false, "outer loss f"]);
  // A report without a catalogue still shows its columns, each by its own name.
  assert.deepEqual(of([]).map(([title]) => title), ["f", "residual y", "hypergradient error", "new metric"]);
  assert.deepEqual(page.checkReport({ format: 1, runs: [], sources: [] }).catalogue, []);
});
