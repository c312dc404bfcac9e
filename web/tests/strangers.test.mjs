// Names come from strangers' folders: nothing in them may run, and all of it must be read as written.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { faults, launch, newPage, open, pack, writePage } from "./browser.mjs";
import * as make from "./generate.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

const EVIL =
  `</script><script>window.hacked=1</script><img src=x onerror="window.hacked=2">` +
  `<svg onload=window.hacked=3>'"\`\${alert(1)}{{7*7}}&lt;\u202Eabc\u0000\ud800`;
const LONG = "long ".repeat(2000);

function hostile() {
  const runs = [
    make.run({ stream: EVIL, optimiser: EVIL, setting: `=cmd|' /C calc'!A0 ${EVIL}`, notes: [EVIL, LONG], seed: 1 }),
    make.diverge(
      make.run({ stream: EVIL, optimiser: LONG, setting: "\\input{/etc/passwd} $x$ %", quantity: EVIL, seed: 1 }),
    ),
    make.run({ stream: EVIL, optimiser: "__proto__", setting: "constructor", seed: 1, power: 0.4 }),
    make.run({ stream: "שלום עולם", optimiser: "عربي <b>", seed: 2 }),
  ].map((r) => make.withValues(r, 3));
  runs[1].quantity = EVIL;
  for (const r of runs) {
    const t = r.columns.t;
    // JSON.parse makes "__proto__" a property of its own; so must the generator.
    r.evaluation = JSON.parse(
      JSON.stringify({ [EVIL]: t.map((v) => v), loss_of: t.map(() => 1) }).replace("loss_of", "__proto__"),
    );
    r.evaluation[`constructor loss ${EVIL}`] = t.map(() => 2);
  }
  const source = make.source({
    name: EVIL,
    kind: "comparison",
    ranking: { by: EVIL, rank: "least" },
    config: EVIL + LONG,
    about: [
      {
        command: EVIL,
        obolus: EVIL,
        started: EVIL,
        machine: { processor: EVIL, cores: EVIL, memory_gb: EVIL, system: EVIL, compiler: EVIL },
      },
    ],
    streams: [{ name: EVIL, problem: EVIL, marks: [{ t: 3000, text: EVIL }] }],
    tables: [{ title: EVIL, header: [EVIL, "b"], align: EVIL, rows: [[EVIL, LONG]] }],
  });
  return make.report({ title: EVIL, made: { obolus: EVIL, date: EVIL, command: EVIL }, sources: [source], runs });
}

test("nothing a stranger named runs, and it is shown letter for letter", async () => {
  const { page, context, seen, url } = await open(browser, "hostile", hostile());
  const shown = (text) => text.replace("\ud800", "\ufffd"); // JSON.stringify escapes it; the page shows what was sent
  assert.ok([EVIL, shown(EVIL)].includes(await page.locator("h1").textContent()));
  for (const details of await page.locator("details").all())
    if (await details.isVisible()) await details.evaluate((d) => (d.open = true));
  for (const panel of await page.locator(".panel").all())
    if (await panel.isVisible()) await panel.scrollIntoViewIfNeeded();
  await page.locator(".tables table").waitFor();
  const text = await page.locator("body").textContent();
  assert.ok(text.includes("<img src=x onerror=") && text.includes("</script><script>"));
  assert.equal(await page.locator("img, svg[onload], body script:not(:last-of-type)").count(), 0);
  assert.equal(
    await page
      .locator(".sources pre")
      .textContent()
      .then((t) => t.length),
    (EVIL + LONG).length,
  );
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.evaluate(() => ({}).polluted ?? Object.keys(Object.prototype).length), 0);
  assert.deepEqual(faults(seen, url), []);
  await context.close();
});

test("long names widen neither the page nor a phone's page", async () => {
  for (const viewport of [
    { width: 1280, height: 900 },
    { width: 320, height: 640 },
  ]) {
    const { page, context } = await open(browser, "hostile", hostile(), { viewport });
    for (const details of await page.locator("details").all()) await details.evaluate((d) => (d.open = true));
    await page.locator(".tables table").waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= viewport.width, `${wide} px on ${viewport.width} px`);
    await context.close();
  }
});

test("saved figures of hostile names are well-formed XML without scripts", async () => {
  const { page, context, seen, url } = await open(browser, "hostile", hostile());
  await page.locator('[data-panel="regret"]').getByRole("button", { name: "log–log" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator('[data-panel="regret"] [data-save="SVG"]').click(),
  ]);
  assert.match(download.suggestedFilename(), /^[a-z0-9-]+\.svg$/);
  const svg = readFileSync(await download.path(), "utf8");
  const found = await page.evaluate((text) => {
    const doc = new DOMParser().parseFromString(text, "image/svg+xml");
    const attributes = [...doc.querySelectorAll("*")].flatMap((n) => [...n.attributes].map((a) => a.name));
    return {
      error: doc.querySelector("parsererror")?.textContent ?? "",
      scripts: doc.querySelectorAll("script, image, img").length,
      handlers: attributes.filter((a) => a.startsWith("on")),
      text: doc.documentElement.textContent,
    };
  }, svg);
  assert.equal(found.error, "");
  assert.equal(found.scripts, 0);
  assert.deepEqual(found.handlers, []);
  assert.ok(found.text.includes("</script><script>"));
  assert.deepEqual(faults(seen, url), []);
  await context.close();
});

test("copied tables of hostile names are escaped in every format", async () => {
  const { page, context, seen, url } = await open(browser, "hostile", hostile());
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByLabel("Rows of the table").selectOption("everything");
  const copied = async (format) => {
    await page.getByRole("button", { name: `Copy the table as ${format}` }).click();
    await page.waitForFunction(
      (f) => document.querySelector("body > .unseen")?.textContent === `Table as ${f} copied.`,
      format,
    );
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const csv = await copied("CSV");
  assert.ok(csv.includes(`"'=cmd|' /C calc'!A0`));
  assert.ok(!/(^|,|\n)"?[=@]/.test(csv));
  const markdown = await copied("Markdown");
  assert.ok(!markdown.includes("<img") && markdown.includes("&lt;img src=x"));
  assert.equal(markdown.trim().split("\n").length, 2 + 4);
  const latex = await copied("LaTeX");
  assert.ok(latex.includes("\\textbackslash{}input\\{/etc/passwd\\} \\$x\\$ \\%"));
  assert.ok(!latex.includes("\\input{"));
  assert.deepEqual(faults(seen, url), []);
  await context.close();
});

test("damaged or missing data is told in a sentence", async () => {
  const good = pack(make.report({ runs: [make.run({})] }));
  const cases = [
    ["", /holds no data/],
    ["@OBOLUS_DATA@", /holds no data/],
    ["***", /not base64/],
    [good.slice(0, good.length - 400), /does not unpack/],
    ["AAAA" + good.slice(4), /does not unpack/],
    [pack({ format: 2 }), /format 2/],
    [pack({ format: 1, sources: [], runs: [{ columns: {} }] }), /no column t/],
    [pack([1, 2]), /not a report/],
  ];
  for (const [data, sentence] of cases) {
    const { page, context, seen, url } = await open(browser, "damaged", data);
    assert.match(await page.locator(".failure").textContent(), sentence);
    assert.deepEqual(faults(seen, url), []);
    await context.close();
  }
});

test("a report without runs is a page, not an error", async () => {
  const { page, context, seen } = await newPage(browser);
  const url = writePage("empty", make.report({ runs: [] }));
  await page.goto(url);
  await page.waitForFunction(() => /no runs yet/.test(document.querySelector(".sentence")?.textContent ?? ""));
  assert.deepEqual(faults(seen, url), []);
  await context.close();
});

test("runs of no rows, one row, and nulls alone are drawn or left out quietly", async () => {
  const empty = make.run({ optimiser: "empty", columns: { t: [], f: [], regret: [] }, evaluation: {} });
  const one = make.run({ optimiser: "one", columns: { t: [1], f: [3], regret: [2] }, evaluation: { test_loss: [1] } });
  const nulls = make.run({
    optimiser: "nulls",
    columns: { t: [1, 2], f: [null, null], regret: [null, null], grad_f: [1, 2] },
    evaluation: {},
  });
  const { page, context, seen, url } = await open(browser, "sparse", make.report({ runs: [empty, one, nulls] }));
  await page.locator('[data-panel="regret"]').getByRole("button", { name: "log–log" }).click();
  await page.getByRole("button", { name: "gradient evaluations" }).click();
  for (const panel of await page.locator(".panel").all()) await panel.scrollIntoViewIfNeeded();
  assert.deepEqual(faults(seen, url), []);
  await context.close();
});
