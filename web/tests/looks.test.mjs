// Accessibility rules in every look, and pictures of each in tests/out for eyes.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { faults, launch, newPage, OUT, writePage } from "./browser.mjs";
import * as make from "./generate.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser, url;
before(async () => {
  browser = await launch();
  const report = make.comparison();
  report.runs = report.runs.map((r) => (r.optimiser === "f2obo" ? make.withValues(r, 12) : r));
  url = writePage("looks", report);
});
after(() => browser.close());

const settled = (page) =>
  page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));

// Every panel drawn, as a reader who scrolled has it.
async function scrolled(page) {
  for (const panel of await page.locator("main > .grid .panel").all()) {
    await panel.scrollIntoViewIfNeeded();
    await panel.locator("canvas[aria-label]").waitFor();
  }
  await page.evaluate(() => scrollTo(0, 0));
  await settled(page);
}

async function violations(page) {
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate(() =>
    axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }),
  );
  return found.map(
    (v) =>
      `${v.id}: ${v.nodes
        .slice(0, 3)
        .map((n) => n.html.slice(0, 160))
        .join(" | ")}`,
  );
}

const LOOKS = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  phone: { viewport: { width: 320, height: 640 }, deviceScaleFactor: 2, hasTouch: true },
};

for (const [name, options] of Object.entries(LOOKS)) {
  test(`the ${name} page is clean by axe with everything opened, and no wider than its screen`, async () => {
    const { page, context, seen } = await newPage(browser, options);
    await page.goto(url);
    await page.waitForSelector("canvas[aria-label]");
    await scrolled(page);
    await page.screenshot({ path: join(OUT, `${name}.png`), fullPage: true });
    // One table of numbers: axe looks at every cell, and the others are built alike.
    await page.locator("details:not(.numbers)").evaluateAll((all) => all.forEach((d) => (d.open = true)));
    await page
      .locator(".numbers")
      .first()
      .evaluate((d) => (d.open = true));
    await page.locator(".tables table").waitFor();
    await page.locator(".numbers table").first().waitFor();
    assert.deepEqual(await violations(page), []);
    const { width } = options.viewport ?? { width: 1280 };
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    assert.deepEqual(faults(seen, url), []);
    await context.close();
  });
}

test("print is light, whole and without controls, from a dark screen that was never scrolled", async () => {
  const { page, context, seen } = await newPage(browser, { colorScheme: "dark" });
  await page.goto(url);
  await page.waitForSelector("canvas[aria-label]");
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await settled(page);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  assert.ok(await page.locator(".controls").isHidden());
  const undrawn = await page
    .locator("main > .grid .panel")
    .evaluateAll((all) => all.filter((p) => !p.querySelector("canvas[aria-label]")).length);
  assert.equal(undrawn, 0);
  const dark = await page
    .locator("canvas")
    .first()
    .evaluate((c) => {
      const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
      const colours = new Set();
      for (let i = 0; i < data.length; i += 4)
        if (data[i + 3] === 255) colours.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
      return colours.has("74,168,224");
    });
  assert.equal(dark, false, "the dark theme's blue is on paper");
  await page.screenshot({ path: join(OUT, "print.png"), fullPage: true });
  await page.emulateMedia({ media: "screen", colorScheme: "dark" });
  await page.waitForSelector("html[data-theme=dark]");
  const sizes = () =>
    page.locator("canvas[aria-label]").evaluateAll((all) => all.map((c) => `${c.clientWidth} × ${c.clientHeight}`));
  const screen = await sizes();
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.deepEqual(new Set(await sizes()), new Set(["660 × 250"]));
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await settled(page);
  assert.deepEqual(await sizes(), screen);
  await page.evaluate(() =>
    addEventListener("beforeprint", () => (window.printed = document.documentElement.dataset.theme)),
  );
  await page.pdf({ path: join(OUT, "print.pdf"), format: "A4" });
  assert.equal(await page.evaluate(() => window.printed), "light");
  assert.ok(statSync(join(OUT, "print.pdf")).size > 10_000);
  assert.deepEqual(faults(seen, url), []);
  await context.close();
});
