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

test("a run is shown while it runs, and to its end", options, async () => {
  writeFileSync(join(folder, "run.toml"), RUN);
  const child = spawn(program, ["run", "run.toml", "--out", "live", "--live"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
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
