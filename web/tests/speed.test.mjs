// 20 runs of 10,000 rounds. OBOLUS_SLOW_MACHINE multiplies the budgets on a machine that is slow or busy.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { faults, launch, newPage, SLOWNESS, writePage } from "./browser.mjs";
import { heavy } from "./generate.mjs";

let browser, url, megabytes;
before(async () => {
  const report = heavy();
  megabytes = JSON.stringify(report).length / 1e6;
  url = writePage("heavy", report);
  browser = await launch();
  // The first page of a browser pays for the browser's own start.
  const warm = await newPage(browser);
  await warm.page.goto("about:blank");
  await warm.context.close();
});
after(() => browser.close());

test("the first chart stands within two seconds, and zooming keeps up", async (t) => {
  const { page, context, seen } = await newPage(browser);
  await page.goto(url);
  await page.waitForFunction(() => performance.getEntriesByName("obolus-first-chart").length > 0);
  const first = await page.evaluate(() => performance.getEntriesByName("obolus-first-chart")[0].startTime);
  t.diagnostic(`first chart after ${first.toFixed(0)} ms (${megabytes.toFixed(1)} MB of JSON)`);
  assert.ok(first < 2000 * SLOWNESS, `${first} ms`);
  await page.waitForFunction(() => document.querySelectorAll("canvas[aria-label]").length >= 3);
  const frames = await page.evaluate(async () => {
    const area = document.querySelector(".chart");
    const frame = () => new Promise((r) => requestAnimationFrame(r));
    const keys = ["+", "+", "+", "ArrowRight", "ArrowRight", "ArrowLeft", "-", "-", "-", "-"];
    const times = [];
    await frame();
    let last = performance.now();
    for (let i = 0; i < 60; i++) {
      area.dispatchEvent(new KeyboardEvent("keydown", { key: keys[i % keys.length] }));
      await frame();
      times.push(performance.now() - last);
      last = performance.now();
    }
    return times.sort((a, b) => a - b);
  });
  t.diagnostic(`zoom frames: median ${frames[30].toFixed(1)} ms, longest ${frames[59].toFixed(1)} ms`);
  assert.ok(frames[30] < 50 * SLOWNESS, `${frames[30]} ms`);
  assert.deepEqual(faults(seen, url), []);
  await context.close();
});
