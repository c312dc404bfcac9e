// The report of a fit: windowed metrics with alarms, hyperparameters one by one, the last rows, weights, options.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { faults, launch, open, OUT } from "./browser.mjs";
import * as make from "./generate.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

// Opens a report, scrolls through it, and checks at the end that nothing went wrong.
async function shown(name, report, act, options) {
  const { page, context, seen, url } = await open(browser, name, report, options);
  for (const panel of await page.locator("main .panel").all())
    if (await panel.isVisible()) await panel.scrollIntoViewIfNeeded();
  await page.evaluate(() => scrollTo(0, 0));
  await act(page);
  assert.deepEqual(faults(seen, url), []);
  await context.close();
}
async function spoken(page, id) {
  await page.locator(`[data-panel="${id}"]`).scrollIntoViewIfNeeded();
  await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
  return page.locator(`[data-panel="${id}"] canvas`).getAttribute("aria-label");
}
const cells = (page, id) =>
  page
    .locator(`[data-panel="${id}"] tbody tr`)
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((c) => c.textContent)));

test("a fit of classes leads with its windowed metrics, and marks its alarms", async () => {
  await shown("fit", make.fitReport([make.fit()]), async (page) => {
    assert.deepEqual(await page.locator("main > .grid h3").allTextContents(), ["Losses", "Accuracy"]);
    assert.match(await spoken(page, "losses"), /^Losses: window log loss, .* first-order 0\.2/);
    assert.match(await spoken(page, "accuracy"), /^Accuracy: window accuracy/);
    const choices = await page.locator('[data-panel="losses"] select option').allTextContents();
    assert.deepEqual(choices, ["window log loss", "log loss", "outer loss f"]);
    const foot = await page.locator('[data-panel="losses"] .panel-foot').textContent();
    assert.match(foot, /drift alarms, 2 by adwin, 1 by page-hinkley/);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.locator('[data-panel="losses"] [data-save="SVG"]').click(),
    ]);
    const svg = readFileSync(await download.path(), "utf8");
    assert.equal(svg.match(/stroke-dasharray="3 3"/g).length, 3);
    assert.equal(svg.match(/>adwin</g).length, 2);
    // On the axis of rows an alarm of round 180 stands at row 1,440 of 8 to 3,200.
    const marks = (text) => [...text.matchAll(/d="M([\d.]+) [^"]*"[^>]*dasharray="3 3"/g)].map((m) => Number(m[1]));
    assert.equal(marks(svg).length, 3);
    await page.getByRole("button", { name: "rows", exact: true }).click();
    assert.match(await spoken(page, "losses"), /, against rows/);
    const [again] = await Promise.all([
      page.waitForEvent("download"),
      page.locator('[data-panel="losses"] [data-save="SVG"]').click(),
    ]);
    assert.deepEqual(marks(readFileSync(await again.path(), "utf8")), marks(svg));
    await page.screenshot({ path: join(OUT, "fit.png"), fullPage: true });
  });
});

test("every hyperparameter has a small chart on a logarithmic axis; a shift has a linear one", async () => {
  await shown("fit", make.fitReport([make.fit()]), async (page) => {
    assert.deepEqual(await page.locator(".panel.small h3").allTextContents(), [
      "rate",
      "l2",
      "temperature",
      "shift of yes",
    ]);
    assert.equal(await page.locator('[data-panel="paths"]').count(), 0);
    const pressed = (name) =>
      page.locator(".panel.small", { hasText: name }).locator('[data-log="y"]').getAttribute("aria-pressed");
    assert.equal(await pressed("rate"), "true");
    assert.equal(await pressed("shift of yes"), "false");
    assert.match(await spoken(page, "hyperparameter-rate"), /^Hyperparameter rate, .* first-order 0\.1\./);
    assert.match(await page.locator('[data-panel="hyperparameter-rate"]').textContent(), /bound in 13 % of the rounds/);
    const small = page.locator('[data-panel="hyperparameter-l2"]');
    await small.locator("summary").click();
    await small.locator("tbody tr").first().waitFor(); // filled after the click, by an event
    assert.ok((await small.locator("tbody tr").count()) > 10);
    assert.ok(await small.locator('[data-save="CSV"]').isVisible());
  });
});

test("calibration, confusion and weights are those of the summary", async () => {
  await shown("fit", make.fitReport([make.fit()]), async (page) => {
    assert.equal(await page.locator("#last-title").textContent(), "The last 1,000 of 3,200 rows");
    const calibration = page.locator('[data-panel="calibration"]');
    assert.match(await calibration.textContent(), /mean probability of class yes/);
    await calibration.locator("summary").click();
    await calibration.locator("tbody tr").first().waitFor();
    const bins = await cells(page, "calibration");
    assert.equal(bins.length, 9); // the empty one is left out
    assert.deepEqual(bins[0].slice(0, 4), ["0 to 0.1", "10", "0.05", "0.02"]);
    assert.deepEqual(await cells(page, "confusion"), [
      ["no", "90", "1"],
      ["yes", "1", "91"],
    ]);
    const title = await page.locator('[data-panel="confusion"] td').first().getAttribute("title");
    assert.equal(title, "98.9 % of the row");
    assert.deepEqual(await cells(page, "weights"), [
      ["width", "yes", "−1.25"],
      ["#00ff", "no", "0.5"],
    ]);
    assert.equal(await page.locator('[data-panel="shadow"]').count(), 0);
  });
});

test("many classes are folded, and predictions of no class have a column", async () => {
  const names = Array.from({ length: 19 }, (_, i) => `class ${i}`);
  const run = make.fit({ names });
  const { confusion } = run.summary.last_window;
  confusion.folded = 7;
  confusion.weights = Array.from({ length: 20 }, (_, i) => Array.from({ length: 20 }, (_, j) => (i === j ? 5 : 0)));
  confusion.unpredicted = Array.from({ length: 20 }, (_, i) => (i === 0 ? 1 : 0));
  await shown("folded", make.fitReport([run]), async (page) => {
    const rows = await cells(page, "confusion");
    assert.equal(rows.length, 20);
    assert.deepEqual([rows[0].at(-1), rows[1].at(-1), rows[19][0]], ["1", "", "7 rarer"]);
    assert.match(await page.locator('[data-panel="confusion"] thead').textContent(), /none$/);
    assert.match(await page.locator('[data-panel="confusion"] .note').textContent(), /rarer classes together/);
  });
});

test("a fit of numbers has its errors and its predictions against the truth", async () => {
  await shown("numbers", make.fitReport([make.fit({ task: "numbers" })]), async (page) => {
    assert.deepEqual(await page.locator("main > .grid h3").allTextContents(), ["Squared error", "Absolute error"]);
    assert.deepEqual(await page.locator(".more h3").allTextContents(), ["Losses", "Wall time", "rows"]);
    assert.match(await spoken(page, "squared"), /^Squared error: window squared error/);
    assert.match(await spoken(page, "pairs"), /^Predictions of first-order, against true/);
    assert.equal(await page.locator('[data-panel="calibration"], [data-panel="confusion"]').count(), 0);
    await page.screenshot({ path: join(OUT, "fit-numbers.png"), fullPage: true });
  });
});

test("sources tell the rows of a round, the options and the bounds reached", async () => {
  const plain = make.fit({ summary: { batch: 1, settings: {}, at_bound: {} }, setting: "batch=1" });
  await shown("facts", make.fitReport([make.fit(), plain]), async (page) => {
    const facts = await page.locator(".source").evaluateAll((all) => all.map((s) => s.textContent));
    assert.match(facts[0], /rounds400, each of 8 rows/);
    assert.match(facts[0], /window = 500; the others at their defaults/);
    assert.match(facts[0], /at a boundrate \(13 % of the rounds\)/);
    assert.match(facts[1], /each of 1 row(?!s).*all at their defaults/);
    assert.doesNotMatch(facts[1], /at a bound/);
    const columns = await page.locator(".summary thead th").allTextContents();
    assert.ok(columns.includes("window accuracy") && !columns.includes("final f"), columns.join());
  });
});

test("of several fits one is looked at closely, and alarms have the colours of their series", async () => {
  const other = make.fit({ setting: "batch=1", names: ["a", "b"], summary: { largest_weights: [] } });
  await shown("two", make.fitReport([make.fit(), other]), async (page) => {
    assert.equal((await cells(page, "confusion"))[0][0], "no");
    await page.getByLabel("Series: the last rows").selectOption("first-order · batch=1");
    assert.equal((await cells(page, "confusion"))[0][0], "a");
    assert.equal(await page.locator('[data-panel="weights"]').count(), 0);
    assert.match(await spoken(page, "calibration"), /^Calibration of first-order · batch=1/);
    assert.match(await spoken(page, "hyperparameter-rate"), /first-order 0\.1, first-order · batch=1 0\.1/);
  });
});

test("what fixed settings would have given is a table beside the run's own numbers", async () => {
  const shadow = [
    { name: "rate 0.2, l2 0", log_loss: 0.4, accuracy: 0.85, window: 0.35 },
    { name: "<b>rate 1</b>", log_loss: 0.5, accuracy: null, window: 0.45 },
  ];
  await shown("shadow", make.fitReport([make.fit({ summary: { shadow } })]), async (page) => {
    assert.deepEqual(await page.locator('[data-panel="shadow"] thead th').allTextContents(), [
      "settings",
      "log loss",
      "accuracy",
      "window",
    ]);
    assert.deepEqual(await cells(page, "shadow"), [
      ["this run", "0.31", "0.89", "0.27"],
      ["rate 0.2, l2 0", "0.4", "0.85", "0.35"],
      ["<b>rate 1</b>", "0.5", "–", "0.45"],
    ]);
  });
});

test("of a shadow with all metrics the main ones are shown, of one that diverged none", async () => {
  const window = { log_loss: 0.25, accuracy: 0.9, kappa: 0.5 };
  const shadow = [
    { name: "rate 1", log_loss: 0.4, accuracy: 0.85, kappa: 0.6, window },
    { name: "rate 10", window: {} },
  ];
  await shown("shadow", make.fitReport([make.fit({ summary: { shadow } })]), async (page) => {
    assert.deepEqual(await page.locator('[data-panel="shadow"] thead th').allTextContents(), [
      "settings",
      "log loss",
      "accuracy",
      "window log loss",
      "window accuracy",
    ]);
    assert.deepEqual(await cells(page, "shadow"), [
      ["this run", "0.31", "0.89", "0.27", "0.91"],
      ["rate 1", "0.4", "0.85", "0.25", "0.9"],
      ["rate 10", "–", "–", "–", "–"],
    ]);
  });
});

test("older folders, without alarms, the last rows and weights, still show", async () => {
  const { alarms, summary, ...run } = make.fit();
  const old = { rows: 3200, rounds: 400, tuned: summary.tuned, window: summary.window };
  await shown("old", make.fitReport([{ ...run, summary: old }]), async (page) => {
    assert.ok(await page.locator(".last").isHidden());
    assert.equal(await page.locator(".panel.small").count(), 4);
    assert.doesNotMatch(await page.locator(".sources").textContent(), /options/);
  });
  // Killed before its first checkpoint: nothing says what its numbers are called.
  await shown("nameless", make.fitReport([{ ...run, summary: null }]), async (page) => {
    assert.equal(await page.locator(".panel.small").count(), 0);
    assert.match(await spoken(page, "paths"), /x\[3\]/);
  });
});

test("a stranger's summary is shown as text or left out, whatever is in it", async () => {
  const evil = `</script><script>window.hacked=1</script><img src=x onerror="window.hacked=2">`;
  const run = make.fit({ names: [evil, "__proto__"], alarms: [{ t: 9, text: evil }, { t: "x" }, 5, null] });
  Object.assign(run.summary, {
    settings: { [evil]: { a: evil } },
    at_bound: { [evil]: 0.5, rate: "often" },
    largest_weights: [{ feature: evil, for: evil, weight: "heavy" }, 3, null],
    shadow: [{ name: evil, [evil]: 1 }, "x"],
  });
  run.summary.last_window.confusion.unpredicted = [0, "?"];
  await shown("evil-fit", make.fitReport([run]), async (page) => {
    const text = await page.locator("body").textContent();
    assert.ok(text.includes("<img src=x onerror="));
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.deepEqual((await cells(page, "weights"))[0], [evil, evil, "0"]);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1280);
  });
  for (const summary of [
    { tuned: 3 },
    { tuned: [], last_window: { confusion: { classes: ["a", "b"], weights: [[1], [2, 3]] }, pairs: [[1], ["a", 3]] } },
    { tuned: ["rate"], last_window: [], largest_weights: { a: 1 }, shadow: "x", settings: [1] },
  ])
    await shown("odd-fit", make.fitReport([{ ...make.fit(), summary }]), async (page) => {
      assert.equal(await page.locator('[data-panel="confusion"], [data-panel="pairs"]').count(), 0);
    });
});

for (const [look, options] of Object.entries({
  dark: { colorScheme: "dark" },
  phone: { viewport: { width: 320, height: 640 }, deviceScaleFactor: 2, hasTouch: true },
}))
  test(`the ${look} report of a fit is clean by axe, and no wider than its screen`, async () => {
    const shadow = [{ name: "rate 0.2", log_loss: 0.4 }];
    await shown(
      `fit-${look}`,
      make.fitReport([make.fit({ summary: { shadow } })]),
      async (page) => {
        await page.screenshot({ path: join(OUT, `fit-${look}.png`), fullPage: true });
        await page.locator(".small .numbers, .last .numbers").evaluateAll((all) => all.forEach((d) => (d.open = true)));
        await page.evaluate(axe);
        const found = await page.evaluate(() =>
          axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }),
        );
        assert.deepEqual(
          found.violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 160)}`),
          [],
        );
        const width = options.viewport?.width ?? 1280;
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
      },
      options,
    );
  });
