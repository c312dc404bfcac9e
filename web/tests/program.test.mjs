// The program's own reports and its live view, in the browser. Needs OBOLUS, the program's path.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { faults, launch, newPage } from "./browser.mjs";

const program = process.env.OBOLUS;
const options = { skip: program ? false : "OBOLUS is not set" };
const ALGORITHMS = [
  "f2obo",
  "f2obo_sl",
  "af2obo",
  "sf2obo",
  "f2sa",
  "f3sa",
  "bome",
  "pbgd",
  "sobow",
  "obbo",
  "fsobo",
  "aobo",
];
const COMPARISON = `[compare]
seeds = 5
horizons = [1250, 2500, 5000]
[problem]
name = "quadratic"
drift = "abrupt"
period = 1000
[domain]
set = "box"
lower = -2.0
upper = 2.0
[metrics]
gamma = 0.05
[shared]
alpha = 0.1
gamma = 0.05
${ALGORITHMS.map((name) => `[[optimiser]]\nname = "${name}"\n`).join("")}`;
const RUN = `[problem]
name = "quadratic"
rounds = 400000
[optimiser]
name = "f2obo"
gamma = 0.05
[metrics]
gamma = 0.05
variation = false
`;
let browser, folder;
const obolus = (...args) =>
  execFileSync(program, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "obolus-"));
  browser = await launch();
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

test("twelve algorithms with five seeds make a report of less than 3 MB that shows them all", options, async (t) => {
  writeFileSync(join(folder, "compare.toml"), COMPARISON);
  obolus("compare", "compare.toml", "--out", "twelve", "-q");
  const file = obolus("report", "twelve").trim();
  const size = statSync(file).size;
  t.diagnostic(`${ALGORITHMS.length} algorithms × 5 seeds: ${(size / 1e6).toFixed(2)} MB`);
  assert.ok(size < 3e6, `${size} bytes`);
  const { page, context, seen } = await newPage(browser);
  const url = pathToFileURL(file).href;
  await page.goto(url);
  await page.waitForSelector("canvas[aria-label]");
  assert.equal(await page.locator(".legend .entry").count(), ALGORITHMS.length);
  assert.equal(await page.locator("h1").textContent(), "twelve");
  const panels = await page.locator("h3").allTextContents();
  for (const wanted of ["Regret", "Losses", "Inner steps", "Oracle calls", "Wall time", "Paths of the hyperparameters"])
    assert.ok(
      panels.some((p) => p.includes(wanted)),
      `${wanted} is not among ${panels.join(", ")}`,
    );
  const rows = await page.locator(".summary tbody tr").allTextContents();
  for (const name of ALGORITHMS)
    assert.ok(
      rows.some((r) => r.includes(name)),
      `${name} is not in the summary`,
    );
  const sources = await page.locator(".sources").textContent();
  assert.ok(sources.includes("compare compare.toml --out twelve -q"), sources);
  assert.deepEqual(faults(seen, url), []);
  await context.close();
});

// A program that shows itself, where it does, and its exit code.
async function live(...args) {
  const child = spawn(program, [...args, "--live"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((r) => child.on("exit", r));
  const address = await new Promise((resolve, reject) => {
    let said = "";
    child.stderr.on("data", (part) => {
      said += part;
      const found = /^Live: (\S+)$/m.exec(said);
      if (found) resolve(found[1]);
    });
    child.on("exit", (code) => reject(new Error(`ended with ${code}: ${said}`)));
  });
  return { child, ended, address };
}

test("a fit's report and its live view show its window and what it has learnt", options, async () => {
  const generated = ["fit", "--generate", "sea,drift_rows=3000", "--rows"];
  obolus(...generated, "6000", "--out", "fit", "-q");
  const file = obolus("report", "fit").trim();
  const { page, context, seen } = await newPage(browser);
  const url = pathToFileURL(file).href;
  const shows = async () => {
    await page.waitForSelector('[data-panel="losses"] canvas[aria-label]');
    const spoken = await page.locator('[data-panel="losses"] canvas').getAttribute("aria-label");
    assert.match(spoken, /^Losses: window log loss, .* first-order 0\./);
    assert.deepEqual(await page.locator(".panel.small h3").allTextContents(), [
      "rate",
      "l2",
      "replay",
      "recent",
      "temperature",
    ]);
    for (const id of ["calibration", "confusion", "weights"])
      assert.ok(await page.locator(`[data-panel="${id}"]`).isVisible(), id);
  };
  await page.goto(url);
  await shows();
  assert.equal(await page.locator("#last-title").textContent(), "The last 1,000 of 6,000 rows");
  assert.match(await page.locator(".sources").textContent(), /rounds\d+, each of 8 rows/);
  assert.deepEqual(faults(seen, url), []);
  const { child, ended, address } = await live(...generated, "100000000", "--out", "live-fit");
  await page.goto(address);
  await page.waitForFunction(() => /The last 1,000 of/.test(document.querySelector("#last-title")?.textContent ?? ""));
  await shows();
  child.kill("SIGINT");
  await page.waitForFunction(() => /stopped/.test(document.querySelector(".live-status")?.textContent ?? ""));
  assert.equal(await ended, 130);
  assert.deepEqual([...seen.errors, ...seen.dialogs], []);
  await context.close();
});

test("a run is shown while it runs, and to its end", options, async () => {
  writeFileSync(join(folder, "run.toml"), RUN);
  const { child, ended, address } = await live("run", "run.toml", "--out", "live");
  const { page, context, seen } = await newPage(browser);
  await page.goto(address);
  await page.waitForSelector("canvas[aria-label]");
  await page.waitForFunction(() => /rounds/.test(document.querySelector(".live-text")?.textContent ?? ""));
  const panels = await page.locator("h3").allTextContents();
  assert.ok(
    panels.some((p) => p.includes("Regret")),
    panels.join(),
  );
  child.kill("SIGINT");
  await page.waitForFunction(() => /stopped/.test(document.querySelector(".live-status")?.textContent ?? ""));
  assert.equal(await ended, 130);
  assert.deepEqual([...seen.errors, ...seen.dialogs], []);
  assert.ok(
    seen.requests.every((r) => r.startsWith(new URL(address).origin)),
    seen.requests.join(),
  );
  await context.close();
});
