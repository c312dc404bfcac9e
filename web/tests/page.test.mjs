// Every control of the page, on a comparison of 12 optimisers, two streams and five seeds.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { faults, launch, newPage, open, writePage } from "./browser.mjs";
import * as make from "./generate.mjs";

let browser, url, context, page, seen;
const report = make.comparison();
before(async () => {
  browser = await launch();
  url = writePage("comparison", report);
});
after(() => browser.close());
beforeEach(async () => {
  ({ context, page, seen } = await newPage(browser));
  await page.goto(url);
  await page.waitForSelector("canvas[aria-label]");
});
afterEach(async () => {
  assert.deepEqual(faults(seen, url), []);
  await context.close();
});

const panel = (id) => page.locator(`[data-panel="${id}"]`);
const spoken = (id) => panel(id).locator("canvas").getAttribute("aria-label");
const settled = () => page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
async function saved(press) {
  const [download] = await Promise.all([page.waitForEvent("download"), press()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}
// The numbers table covers what is seen, so it tells how far the zoom reaches.
async function seenRounds(id) {
  const details = panel(id).locator("details.numbers");
  if (!(await details.getAttribute("open").then((v) => v !== null))) await details.locator("summary").click();
  await details.locator("tbody th").first().waitFor();
  const cells = await details.locator("tbody th").allTextContents();
  return [cells[0], cells.at(-1)].map((c) => Number(c.replaceAll(",", "")));
}

test("the page says what it holds", async () => {
  assert.equal(await page.locator("h1").textContent(), "runs/compare");
  assert.match(
    await page.locator(".sentence").textContent(),
    /12 optimisers on 2 streams, 5 seeds, up to 10,000 rounds: 200 runs \(198 finished, 2 diverged\)/,
  );
  assert.equal(await page.title(), "runs/compare – Obolus");
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
});

test("panels without data are absent, others are named", async () => {
  const names = await page.locator("main > .grid h3").allTextContents();
  assert.deepEqual(names, [
    "Regret",
    "Losses",
    "Accuracy",
    "Penalty λ",
    "Inner steps",
    "Residuals and errors",
    "Oracle calls",
    "Wall time",
  ]);
  assert.deepEqual(await page.locator(".more h3").allTextContents(), ["scale least"]);
});

test("the stream selector changes every chart and the table", async () => {
  assert.match(await spoken("regret"), /interior/);
  await page.getByLabel("Stream", { exact: true }).selectOption("noisy");
  await settled();
  assert.match(await spoken("regret"), /noisy/);
  assert.equal(await page.locator(".summary tbody tr").first().locator("td").first().textContent(), "noisy");
});

test("the best setting is the default; one, or all, can be chosen", async () => {
  const labels = () => page.locator(".legend .entry").evaluateAll((all) => all.map((n) => n.dataset.series));
  assert.equal((await labels()).length, 12);
  assert.ok((await labels()).includes("f2obo · gamma=0.05"));
  await page.locator(".settings summary").click();
  const setting = page.getByLabel("Setting of f2obo", { exact: true });
  assert.equal(await setting.locator("option:checked").textContent(), "best: least regret");
  await setting.focus();
  await setting.selectOption("all settings");
  assert.equal((await labels()).length, 14);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Setting of f2obo");
  await setting.selectOption("gamma=0.2");
  assert.deepEqual(
    (await labels()).filter((l) => l.startsWith("f2obo ·")),
    ["f2obo · gamma=0.2"],
  );
});

test("the axis switches between rounds, gradient evaluations and seconds", async () => {
  const axis = page.getByRole("group", { name: "Horizontal axis" });
  await axis.getByRole("button", { name: "gradient evaluations" }).click();
  await settled();
  assert.match(await panel("regret").locator(".x-title").textContent(), /2 · products \+ ½ · values/);
  const [, last] = await seenRounds("regret");
  // 10,000 rounds of 2 + 9 gradients, and for products 2 · (3 + 1), and half a value.
  assert.equal(last, 10000 * (2 + 9 + 8 + 0.5));
  await axis.getByRole("button", { name: "seconds" }).click();
  await settled();
  assert.match(await spoken("regret"), /seconds spent in updates/);
  assert.match(await page.locator(".controls").textContent(), /Drift marks are rounds/);
});

test("the log–log view has slopes and the bound", async () => {
  await panel("regret").getByRole("button", { name: "log–log" }).click();
  await settled();
  const slopes = await panel("regret").locator(".slopes li").allTextContents();
  assert.equal(slopes.length, 12);
  // Generated as t^(0.3 + 0.05 o); noise of half a per cent over two decades moves a slope by less than 0.01.
  slopes.forEach((text, o) =>
    assert.ok(Math.abs(Number(text.match(/slope (\S+)/)[1]) - (0.3 + 0.05 * o)) < 0.0151, text),
  );
  assert.match(
    await panel("regret").locator(".panel-foot").textContent(),
    /bound of f2obo · gamma=0.05, f2obo single: 500/,
  );
  assert.equal(await panel("regret").getByRole("button", { name: "log x" }).getAttribute("aria-pressed"), "true");
  await panel("regret").getByRole("button", { name: "linear" }).click();
  assert.equal(await panel("regret").locator(".slopes").count(), 0);
});

test("each chart has its own logarithmic axes and quantities", async () => {
  const log = panel("losses").getByRole("button", { name: "log y" });
  await log.click();
  assert.equal(await log.getAttribute("aria-pressed"), "true");
  assert.equal(await panel("accuracy").getByRole("button", { name: "log y" }).getAttribute("aria-pressed"), "false");
  await panel("losses").getByLabel("Quantity: Losses").selectOption("test loss");
  await settled();
  assert.match(await spoken("losses"), /^Losses: test loss/);
});

test("the legend hides, shows and isolates by mouse and keyboard", async () => {
  const entry = page.locator('.legend [data-series="sogd"]');
  const pressed = () => page.locator('.legend .entry[aria-pressed="true"]').count();
  await entry.click();
  assert.equal(await entry.getAttribute("aria-pressed"), "false");
  assert.doesNotMatch(await spoken("regret"), /sogd/);
  assert.equal(await page.locator(".summary tbody tr").count(), 11);
  await entry.focus();
  await page.keyboard.press("Enter");
  assert.equal(await pressed(), 12);
  await page.keyboard.press("Shift+Enter");
  assert.equal(await pressed(), 1);
  assert.match(await spoken("regret"), /Last values: sogd 1,\d+ ± \d+\.$/);
  await page.getByRole("button", { name: "show all" }).click();
  assert.equal(await pressed(), 12);
  await entry.dblclick();
  assert.equal(await pressed(), 1);
  await entry.dblclick();
  assert.equal(await pressed(), 12);
});

test("hovering shows values, and the cursor moves in every chart in sight", async () => {
  const box = await panel("regret").locator(".u-over").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  await settled();
  const text = await panel("regret").locator(".tooltip").textContent();
  assert.match(text, /round t 5,0\d\d/);
  assert.match(text, /sogd[\d,.]+ ± /);
  const cursor = await panel("losses")
    .locator(".u-cursor-x")
    .evaluate((n) => new DOMMatrix(getComputedStyle(n).transform).m41);
  const width = await panel("losses")
    .locator(".u-over")
    .evaluate((n) => n.clientWidth);
  assert.ok(Math.abs(cursor / width - 0.5) < 0.01, `${cursor} of ${width}`);
  await page.mouse.move(5, 5);
  await settled();
  assert.ok(await panel("regret").locator(".tooltip").isHidden());
});

test("dragging zooms all charts, a double click resets them", async () => {
  const over = panel("regret").locator(".u-over");
  const box = await over.boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await settled();
  for (const id of ["regret", "losses"]) {
    const [from, to] = await seenRounds(id);
    assert.ok(Math.abs(from - 2500) < 150 && Math.abs(to - 5000) < 150, `${id}: ${from} to ${to}`);
  }
  await over.scrollIntoViewIfNeeded();
  await over.dblclick({ position: { x: 200, y: 50 } });
  await settled();
  assert.deepEqual(await seenRounds("losses"), [50, 10000]);
});

test("keys and buttons zoom, move and reset the focused chart", async () => {
  await panel("regret").locator(".chart").focus();
  await page.keyboard.press("+");
  await settled();
  let [from, to] = await seenRounds("regret");
  assert.ok(Math.abs(to - from - 4975) < 100, `${from} to ${to}`);
  await panel("regret").locator(".chart").focus();
  await page.keyboard.press("ArrowRight");
  await settled();
  const [moved] = await seenRounds("regret");
  assert.ok(moved > from + 1000);
  await panel("regret").locator(".chart").focus();
  await page.keyboard.press("0");
  await settled();
  assert.deepEqual(await seenRounds("regret"), [50, 10000]);
  for (const move of ["in", "in", "right", "left", "out"])
    await panel("regret").locator(`[data-move="${move}"]`).click();
  [from, to] = await seenRounds("regret");
  assert.ok(to - from < 6000);
  await panel("losses").locator('[data-move="reset"]').click();
  assert.deepEqual(await seenRounds("regret"), [50, 10000]);
});

test("shift and arrows read values aloud", async () => {
  await panel("regret").locator(".chart").focus();
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  assert.ok(await panel("regret").locator(".tooltip").isVisible());
  assert.match(await page.locator("body > .unseen[role=status]").textContent(), /^round t \d+: x = 1 /);
});

test("the numbers are a table of at most fifty rows, built when opened", async () => {
  const details = panel("regret").locator("details.numbers");
  assert.equal(await details.locator("table").count(), 0);
  await details.locator("summary").click();
  await details.locator("table").waitFor();
  assert.equal(await details.locator("tbody tr").count(), 50);
  assert.equal(await details.locator("thead th").count(), 13);
});

test("the table sorts by click and by keyboard, and says so", async () => {
  const header = page.locator(".summary th", { hasText: "final regret" });
  const first = () => page.locator(".summary tbody tr").first().locator("td").nth(1).textContent();
  await header.getByRole("button").click();
  assert.equal(await header.getAttribute("aria-sort"), "ascending");
  assert.equal(await first(), "f2obo");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.column), "final regret");
  await page.keyboard.press("Enter");
  assert.equal(await header.getAttribute("aria-sort"), "descending");
  assert.equal(await first(), "x = 1");
  await page.getByLabel("Rows of the table").selectOption("everything");
  assert.equal(await page.locator(".summary tbody tr").count(), 40);
  // Diverged ones stand last either way.
  assert.match(await page.locator(".summary tbody tr").last().textContent(), /diverged \(1 of 5\)/);
});

function expectedCells() {
  const runs = report.runs.filter((r) => r.stream === "interior" && r.optimiser === "sogd");
  const last = runs.map((r) => r.columns.regret.at(-1));
  const mean = last.reduce((a, b) => a + b) / 5;
  return { mean, sd: Math.sqrt(last.reduce((a, v) => a + (v - mean) ** 2, 0) / 4) };
}

test("the table is copied as CSV, Markdown and LaTeX, number for number", async () => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = async (format) => {
    await page.getByRole("button", { name: `Copy the table as ${format}` }).click();
    await page.waitForFunction(
      (f) => document.querySelector("body > .unseen")?.textContent === `Table as ${f} copied.`,
      format,
    );
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const csv = (await copied("CSV")).split(/\r?\n/);
  assert.match(
    csv[0],
    /^stream,optimiser,setting,seeds,finished,diverged,final regret mean,final regret sd,final f mean/,
  );
  const cells = csv.find((l) => l.startsWith("interior,sogd,")).split(",");
  const { mean, sd } = expectedCells();
  assert.ok(Math.abs(Number(cells[6]) / mean - 1) < 1e-12 && Math.abs(Number(cells[7]) / sd - 1) < 1e-9);
  const markdown = (await copied("Markdown")).split("\n");
  assert.match(markdown[0], /^\| stream \| optimiser \| setting \|/);
  assert.equal(markdown.length, 2 + 12 + 1);
  assert.match(markdown[1], /^\|---\|---\|---\|---:/);
  const latex = await copied("LaTeX");
  assert.match(latex, /\\begin\{tabular\}\{lllrrr/);
  assert.match(latex, /interior & sogd &  & \$5\$ & \$5\$ & \$0\$ & \$[\d{},]+ \\pm \d+\$/);
});

test("without a clipboard the text is offered selected", async () => {
  await page.evaluate(() =>
    Object.defineProperty(navigator, "clipboard", { value: { writeText: () => Promise.reject(new Error("closed")) } }),
  );
  await page.getByRole("button", { name: "Copy the table as Markdown" }).click();
  const area = page.locator("dialog textarea");
  assert.match(await area.inputValue(), /^\| stream/);
  assert.ok(await area.evaluate((n) => n.selectionEnd > 100));
  await page.getByRole("button", { name: "Close" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
});

test("the table and the charts are saved as files", async () => {
  const table = await saved(() => page.getByRole("button", { name: "Save the table as CSV" }).click());
  assert.equal(table.name, "obolus-summary.csv");
  assert.match(table.bytes.toString(), /^stream,optimiser/);
  const png = await saved(() => panel("regret").locator('[data-save="PNG"]').click());
  assert.equal(png.bytes.toString("latin1", 1, 4), "PNG");
  assert.equal(png.bytes.readUInt32BE(16), 1520);
  const csv = await saved(() => panel("regret").locator('[data-save="CSV"]').click());
  assert.match(csv.name, /^regret-cumulative-regret-interior\.csv$/);
  assert.equal(csv.bytes.toString().trim().split("\r\n").length, 1 + 12 * 200);
});

test("the saved SVG is a vector drawing with text, lines, dashes and bands", async () => {
  await panel("regret").getByRole("button", { name: "log–log" }).click();
  const { name, bytes } = await saved(() => panel("regret").locator('[data-save="SVG"]').click());
  assert.match(name, /\.svg$/);
  const found = await page.evaluate((text) => {
    const doc = new DOMParser().parseFromString(text, "image/svg+xml");
    const count = (selector) => doc.querySelectorAll(selector).length;
    return {
      error: count("parsererror"),
      images: count("image, foreignObject, script"),
      lines: count("path[stroke]"),
      dashed: count("path[stroke-dasharray]"),
      bands: count("path[fill-opacity]"),
      texts: [...doc.querySelectorAll("text")].map((t) => t.textContent),
    };
  }, bytes.toString());
  assert.equal(found.error, 0);
  assert.equal(found.images, 0);
  assert.ok(found.bands >= 12 && found.dashed >= 12 && found.lines >= 24, JSON.stringify(found));
  assert.ok(found.texts.includes("sogd, slope 0.70"), found.texts.join("; "));
  assert.ok(found.texts.includes("drift 1") && found.texts.includes("1,000"));
});

test("colours can be chosen: automatic, light, dark", async () => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const colours = page.getByRole("group", { name: "Colours" });
  const light = await background();
  await colours.getByRole("button", { name: "dark" }).click();
  assert.notEqual(await background(), light);
  await colours.getByRole("button", { name: "auto" }).click();
  assert.equal(await background(), light);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForSelector("html[data-theme=dark]");
  assert.notEqual(await background(), light);
  await colours.getByRole("button", { name: "light" }).click();
  assert.equal(await background(), light);
});

test("tables, sources, diverged runs and notes are there", async () => {
  await page.locator(".tables summary").click();
  assert.equal(await page.locator(".tables td.right").first().textContent(), "1.2 ± 0.1");
  const text = await page.locator(".sources").textContent();
  for (const part of [
    "obolus run one.toml",
    "Test processor, 2 cores",
    "seed 2: after round 2,000: y",
    "12 rounds at the cap",
  ])
    assert.ok(text.includes(part), part);
  await page.locator(".sources summary").click();
  assert.ok(await page.locator(".sources pre").isVisible());
});

test("more measures open on demand", async () => {
  await page.locator(".more > summary").click();
  await panel("more-e:scale_least").scrollIntoViewIfNeeded();
  await page.waitForSelector('[data-panel="more-e:scale_least"] canvas[aria-label]');
});

test("the skip link and every control are reached by the keyboard", async () => {
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "content");
  const unreachable = await page
    .locator("button, select, summary, [tabindex]")
    .evaluateAll((all) => all.filter((n) => n.checkVisibility() && n.tabIndex < 0 && n.id !== "content").length);
  assert.equal(unreachable, 0);
});

test("32 coordinates are 32 lines, of one chosen series", async () => {
  const runs = ["a", "b"].flatMap((optimiser) =>
    [1, 2, 3].map((seed) => make.withValues(make.run({ seed, optimiser }), 32)),
  );
  const { page: other, context: own, seen: log, url: address } = await open(browser, "values", make.report({ runs }));
  const paths = other.locator('[data-panel="paths"]');
  await paths.scrollIntoViewIfNeeded();
  await paths.locator("canvas[aria-label]").waitFor();
  assert.match(
    await paths.locator("canvas").getAttribute("aria-label"),
    /^Hyperparameters of a, .* x\[0\] .* and 16 more/,
  );
  await paths.getByLabel("Series: Paths of the hyperparameters").selectOption("b");
  await paths.locator("details.numbers summary").click();
  await paths.locator("table").waitFor();
  assert.equal(await paths.locator("thead th").count(), 33);
  assert.match(await paths.locator("canvas").getAttribute("aria-label"), /^Hyperparameters of b/);
  const final = other.locator('[data-panel="final"]');
  await final.scrollIntoViewIfNeeded();
  await final.locator("canvas[aria-label]").waitFor();
  assert.match(await final.locator("canvas").getAttribute("aria-label"), /^Last hyperparameters of b/);
  assert.deepEqual(faults(log, address), []);
  await own.close();
});

test("130,000 coordinates are nested bands and a median", async () => {
  const {
    page: other,
    context: own,
    seen: log,
    url: address,
  } = await open(browser, "quantiles", make.report({ runs: [make.withQuantiles(make.run({}))] }));
  const paths = other.locator('[data-panel="paths"]');
  await paths.scrollIntoViewIfNeeded();
  await paths.locator("canvas[aria-label]").waitFor();
  const text = await paths.locator("canvas").getAttribute("aria-label");
  for (const part of ["0 to 1 quantiles", "0.05 to 0.95 quantiles", "0.25 to 0.75 quantiles", "median"])
    assert.ok(text.includes(part), text);
  assert.match(await other.locator('[data-panel="final"]').textContent(), /Last hyperparameters/);
  assert.deepEqual(faults(log, address), []);
  await own.close();
});
