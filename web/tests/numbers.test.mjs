// Aggregation, slopes and histograms against computations written another way.
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, run, source, report } from "./generate.mjs";
import { sources } from "./sources.mjs";

const page = await sources();
const close = (a, b, tolerance = 1e-12) =>
  assert.ok(Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(b)), `${a} is not ${b}`);
const floats = (list) => Float64Array.from(list);

test("mean and deviation are those of the two-pass formulas", () => {
  const rng = random(3);
  const lists = Array.from({ length: 5 }, () => Array.from({ length: 50 }, () => 1000 + rng()));
  const t = floats(Array.from({ length: 50 }, (_, i) => i + 1));
  const got = page.aggregateLists(
    lists.map(() => t),
    lists.map(floats),
  );
  for (let i = 0; i < 50; i++) {
    const column = lists.map((l) => l[i]);
    const mean = column.reduce((a, b) => a + b) / 5;
    const sd = Math.sqrt(column.reduce((a, v) => a + (v - mean) ** 2, 0) / 4);
    close(got.mean[i], mean);
    // The squares of deviations from 1000 ± 1 keep about 1e-13 · 1000 of absolute error.
    close(got.sd[i], sd, 1e-9);
    assert.equal(got.count[i], 5);
  }
});

test("a round counts where every run has it", () => {
  const got = page.aggregateLists(
    [floats([1, 2, 3, 4]), floats([1, 3]), floats([1, 3, 4])],
    [floats([1, 10, 100, 8]), floats([3, 300]), floats([5, 500, 4])],
  );
  assert.deepEqual([...got.t], [1, 3]);
  assert.deepEqual([...got.mean], [3, 300]);
  assert.deepEqual([...got.count], [3, 3]);
  close(got.sd[0], 2);
});

test("what was not measured leaves no point", () => {
  const got = page.aggregateLists([floats([1, 2, 3])], [floats([NaN, 5, NaN])]);
  assert.deepEqual([[...got.t], [...got.mean], [...got.sd]], [[2], [5], [0]]);
});

test("a sum of columns counts products twice and values half", () => {
  const r = run({ rows: 3 });
  r.columns = {
    t: [1, 2, 3],
    grad_f: [1, 2, 3],
    grad_g: [10, 20, 30],
    hvp: [1, 1, 2],
    cross: [0, 1, 1],
    values: [4, 4, null],
  };
  const got = [...page.valuesOf(r, page.COST)];
  assert.deepEqual(got.slice(0, 2), [1 + 10 + 2 + 2, 2 + 20 + 4 + 2]);
  assert.ok(Number.isNaN(got[2]));
});

test("the slope of c·t^p is p, fitted over the last decade, each seed with its own level", () => {
  const t = Array.from({ length: 400 }, (_, i) => 10 ** ((4 * i) / 399));
  const slope = (...runs) => page.logLogSlope(runs.map((values) => ({ t, values })));
  close(slope(t.map((v) => 3 * v ** 0.48)), 0.48, 1e-10);
  close(slope(t.map((v) => (v < 999 ? 7 * v : v ** 0.5))), 0.5, 1e-10);
  close(
    slope(
      t.map((v) => 3 * v ** 0.7),
      t.map((v) => 5000 * v ** 0.7),
    ),
    0.7,
    1e-10,
  );
  // Against the normal equations with two levels written out, on noise.
  const rng = random(9);
  const noisy = [0, 1].map((level) => t.map((v) => 10 ** level * v ** 0.6 * (1 + 0.3 * rng())));
  const centred = noisy.map((values) => {
    const pairs = t.map((v, i) => [Math.log(v), Math.log(values[i])]).filter(([x]) => x >= Math.log(1000) - 1e-9);
    const mean = (k) => pairs.reduce((a, p) => a + p[k], 0) / pairs.length;
    return pairs.map(([x, y]) => [x - mean(0), y - mean(1)]);
  });
  const all = centred.flat();
  close(slope(...noisy), all.reduce((a, [x, y]) => a + x * y, 0) / all.reduce((a, [x]) => a + x * x, 0), 1e-9);
  assert.ok(Number.isNaN(page.logLogSlope([{ t: [1, 2], values: [1, 2] }])));
  assert.ok(Number.isNaN(page.logLogSlope([{ t: [1, 2, 3, 4], values: [0, -1, 0, -2] }])));
});

test("comparisons are never averaged with each other", () => {
  const sources_ = [source({ kind: "comparison", name: "a" }), source({ kind: "comparison", name: "b" })];
  const both = report({ sources: sources_, runs: [run({ source: 0, seed: 1 }), run({ source: 1, seed: 2 })] });
  assert.equal(page.groupRuns(both).length, 2);
});

test("the program's own choice of a setting is shown", () => {
  const runs = ["gamma=1", "gamma=2"].map((setting) => run({ setting }));
  const chosen = source({ kind: "comparison", ranking: { by: "", rank: "least" } });
  const { stream, optimiser } = runs[0];
  for (const { setting } of runs) {
    const r = report({ sources: [{ ...chosen, best: [{ stream, optimiser, setting }] }], runs });
    assert.equal(page.bestSetting(r, page.groupRuns(r)).setting, setting);
  }
});

test("rebinned histograms keep their total", () => {
  const h = { size: 100, least: 0, most: 10, counts: [10, 20, 30, 40] };
  const got = page.rebin(h, -5, 15, 40);
  close(
    got.reduce((a, b) => a + b),
    100,
  );
  close(
    got.slice(10, 15).reduce((a, b) => a + b),
    10,
  );
  const one = page.meanHistogram([{ size: 3, least: 2, most: 2, counts: [3] }]);
  close(
    one.share.reduce((a, b) => a + b),
    1,
  );
});

test("runs that differ by seed are one series, from two folders too", () => {
  const two = report({
    sources: [source({ name: "a" }), source({ name: "b" })],
    runs: [run({ seed: 1 }), run({ seed: 2, source: 1 })],
  });
  const series = page.groupRuns(two);
  assert.equal(series.length, 1);
  assert.equal(series[0].runs.length, 2);
  assert.equal(page.label(series[0]), "f2obo");
});

test("the folder's name joins the label where two folders hold the same run", () => {
  const two = report({
    sources: [source({ name: "a" }), source({ name: "b" })],
    runs: [run({ seed: 1 }), run({ seed: 1, source: 1 })],
  });
  assert.deepEqual(page.groupRuns(two).map(page.label), ["f2obo · [a]", "f2obo · [b]"]);
});

test("the best setting is the least or the most, and a diverged seed loses", () => {
  const of = (setting, last, more = {}) =>
    run({ setting, rows: 2, columns: { t: [1, 2], regret: [0, last] }, evaluation: { acc: [null, last] }, ...more });
  const make = (ranking) => {
    const r = report({
      sources: [source({ kind: "comparison", ranking })],
      runs: [of("a", 3), of("b", 1, { status: "diverged" }), of("c", 2)],
    });
    return page.bestSetting(r, page.groupRuns(r)).setting;
  };
  assert.equal(make({ by: "", rank: "least" }), "c");
  assert.equal(make({ by: "acc", rank: "most" }), "a");
});

test("a row is appended once, and new columns are empty before it", () => {
  const r = run({ rows: 2, columns: { t: [1, 2], f: [5, 6] }, evaluation: {} });
  assert.equal(page.appendRow(r, { t: 2, f: 9 }), false);
  assert.equal(page.appendRow(r, { t: 3, g: 7, evaluation: { acc: 0.5 }, x_values: [1, 2] }), true);
  assert.deepEqual(r.columns, { t: [1, 2, 3], f: [5, 6, null], g: [null, null, 7] });
  assert.deepEqual(r.evaluation, { acc: [null, null, 0.5] });
  assert.deepEqual(r.x, { size: 2, t: [3], values: [[1], [2]] });
});

test("a decimated line keeps every extreme to the pixel", () => {
  const rng = random(5);
  const n = 20000;
  const x = floats(Array.from({ length: n }, (_, i) => i));
  const y = floats(Array.from({ length: n }, () => rng()));
  y[12345] = 50;
  y[777] = -40;
  const frame = {
    left: 10,
    top: 0,
    width: 300,
    height: 200,
    x: { min: 0, max: n - 1 },
    y: { min: -50, max: 60 },
    xLog: false,
    yLog: false,
  };
  const points = page.traceLine({ x, y }, frame);
  assert.ok(points.length / 2 <= 4 * 303, `${points.length / 2} points`);
  const ys = points.filter((_, i) => i % 2 === 1);
  close(Math.min(...ys), page.pixelY(frame, 50));
  close(Math.max(...ys), page.pixelY(frame, -40));
});

test("zooming in and out by keys meets the same place, and never leaves the data", () => {
  const full = { min: 1, max: 10000 };
  for (const log of [false, true]) {
    const near = page.movedZoom(full, full, log, "in");
    assert.equal(page.movedZoom(near, full, log, "out"), null);
    const right = page.movedZoom(near, full, log, "right");
    const back = page.movedZoom(right, full, log, "left");
    close(back.min, near.min, 1e-9);
    close(back.max, near.max, 1e-9);
    let at = near;
    for (let i = 0; i < 30; i++) at = page.movedZoom(at, full, log, "right");
    close(at.max, full.max, 1e-9);
  }
});
