// Live mode against a server that pushes, drops the connection, resets and ends.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { launch, newPage, template } from "./browser.mjs";
import * as make from "./generate.mjs";

let browser, server, base, clients, lastIds, context, page, seen, events;

before(async () => {
  browser = await launch();
  server = createServer((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    if (path !== "/events") {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      return response.end(template().replace("@OBOLUS_DATA@", "live"));
    }
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write("retry: 100\n\n");
    lastIds.push(request.headers["last-event-id"]);
    events.push(request.url);
    clients.push(response);
  });
  await new Promise((r) => server.listen(0, "127.0.0.1", r));
  base = `http://127.0.0.1:${server.address().port}/?token=abc`;
});
after(async () => {
  await browser.close();
  server.closeAllConnections();
  server.close();
});

let id = 0;
const send = (event, data) => clients.at(-1).write(`id: ${++id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
const until = async (condition, what) => {
  for (let i = 0; i < 200; i++) {
    if (await condition()) return;
    await new Promise((r) => setTimeout(r, 50));
  }
  assert.fail(`never: ${what}`);
};
const status = () => page.locator(".live-status").textContent();
const statusIs = (text) => page.waitForFunction((t) => document.querySelector(".live-status")?.textContent === t, text);
const name = { stream: "quadratic", optimiser: "f2obo", setting: "", seed: 1 };
const young = (more = {}) =>
  make.run({ rows: 2, horizon: 2, status: "running", measures: false, full: false, ...more });
const row = (t, more = {}) => ({
  run: name,
  row: {
    t,
    f: 1 / t,
    g: 2 / t,
    regret: Math.sqrt(t),
    grad_f: t,
    grad_g: t,
    seconds: t / 1000,
    evaluation: { test_loss: t % 10 ? null : 1 / t },
    ...more,
  },
});

beforeEach(async () => {
  clients = [];
  lastIds = [];
  events = [];
  ({ context, page, seen } = await newPage(browser));
  await page.goto(base);
  await until(() => clients.length === 1, "the page connects");
});
afterEach(async () => {
  const failed = seen.console.filter((m) => !/ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION/.test(m));
  assert.deepEqual([...failed, ...seen.errors, ...seen.dialogs], []);
  assert.ok(
    seen.requests.every((r) => r.startsWith(base.split("?")[0])),
    seen.requests.join(),
  );
  await context.close();
});

test("the page waits, then shows what is there, and rows append", async () => {
  assert.match(await page.locator("main").textContent(), /Waiting for the first numbers/);
  assert.equal(events[0], "/events?token=abc");
  await statusIs("live");
  send("reset", make.report({ title: "live one", runs: [] }));
  await page.waitForFunction(() => document.querySelector("h1").textContent === "live one");
  send("run", young());
  for (let t = 3; t <= 40; t++) send("row", row(t, { x_values: [t / 40, 1 - t / 40] }));
  send("progress", { done: 40, of: 1000, unit: "rounds", seconds: 12, remaining: 300, paused: false });
  await page.waitForFunction(() =>
    /f2obo 6\.325/.test(document.querySelector("canvas")?.getAttribute("aria-label") ?? ""),
  );
  assert.match(
    await page.locator(".live-text").textContent(),
    /40 of 1,000 rounds, 12 s so far, about 5 min 00 s left/,
  );
  assert.equal(await page.locator("progress").evaluate((n) => n.value / n.max), 0.04);
  assert.equal(await page.locator('[data-panel="paths"]').count(), 1);
  assert.match(await page.locator(".summary tbody").textContent(), /quadratic.*f2obo/);
});

test("redraws are at most four per second, however many rows come", async () => {
  send("reset", make.report({ runs: [young()] }));
  await page.waitForSelector("canvas[aria-label]");
  await page.evaluate(() => {
    window.changes = [];
    new MutationObserver(() => window.changes.push(performance.now())).observe(
      document.querySelector(".summary tbody").closest(".summary").children[2],
      { childList: true },
    );
  });
  for (let i = 0; i < 20; i++) {
    for (let t = 3 + 20 * i; t < 23 + 20 * i; t++) send("row", row(t));
    await new Promise((r) => setTimeout(r, 50));
  }
  await page.waitForFunction(() => /f2obo 20\.0[57]/.test(document.querySelector("canvas").getAttribute("aria-label")));
  const changes = await page.evaluate(() => window.changes);
  // 250 ms from the end of one drawing to the start of the next; the table changes within a drawing, before its end.
  for (let i = 1; i < changes.length; i++) assert.ok(changes[i] - changes[i - 1] > 245, changes.join());
});

test("a lost connection is reported, and the page continues where it was", async () => {
  send("reset", make.report({ runs: [young()] }));
  send("row", row(3));
  await page.waitForSelector("canvas[aria-label]");
  const last = String(id);
  clients.at(-1).destroy();
  await statusIs("connection lost, trying again");
  await until(() => clients.length === 2, "the page reconnects");
  assert.equal(lastIds[1], last);
  await statusIs("live");
  send("row", row(3));
  send("row", row(4));
  await page.waitForFunction(() => /f2obo 2\./.test(document.querySelector("canvas").getAttribute("aria-label")));
});

test("a reset replaces everything, a run replaces its namesake", async () => {
  send("reset", make.report({ title: "first", runs: [young(), young({ optimiser: "other" })] }));
  await page.waitForFunction(() => document.querySelectorAll(".legend .entry").length === 2);
  send("reset", make.report({ title: "second", runs: [young()] }));
  await page.waitForFunction(
    () =>
      document.querySelector("h1").textContent === "second" && document.querySelectorAll(".legend .entry").length === 1,
  );
  send("run", young({ status: "diverged", quantity: "y" }));
  await page.waitForFunction(() => /after round [\d,]+: y/.test(document.querySelector(".sources").textContent));
  send("run", young({ seed: 2 }));
  await page.waitForFunction(() => /2 seeds/.test(document.querySelector(".legend").textContent));
});

test("choices survive new rows", async () => {
  send("reset", make.report({ runs: [young(), young({ optimiser: "other" })] }));
  await page.waitForSelector("canvas[aria-label]");
  await page.locator('[data-panel="regret"]').getByRole("button", { name: "log–log" }).click();
  await page.locator('.legend [data-series="other"]').click();
  await page.locator('[data-panel="losses"] select').selectOption("inner loss g");
  for (let t = 3; t <= 10; t++) send("row", row(t));
  await page.waitForFunction(() => /f2obo 3\.162/.test(document.querySelector("canvas").getAttribute("aria-label")));
  assert.equal(
    await page.locator('[data-panel="regret"]').getByRole("button", { name: "log–log" }).getAttribute("aria-pressed"),
    "true",
  );
  assert.equal(await page.locator('.legend [data-series="other"]').getAttribute("aria-pressed"), "false");
});

test("a fit's alarms and its summary so far come with its rows", async () => {
  const { summary, ...run } = make.fit({ rows: 50, status: "running", alarms: [] });
  const { stream, optimiser, setting, seed } = run;
  const next = (t, more) =>
    send("row", {
      run: { stream, optimiser, setting, seed },
      row: { t, f: 1, evaluation: { window_log_loss: 0.5 }, x_values: [1, 2, 3, 4], ...more },
    });
  send("reset", make.report({ runs: [run] }));
  await page.waitForSelector("canvas[aria-label]");
  assert.equal(await page.locator(".panel.small").count(), 0);
  next(51, { alarm: "adwin", summary });
  await page.waitForFunction(() => /drift alarms, 1 by adwin/.test(document.querySelector("main").textContent));
  assert.equal(await page.locator(".panel.small").count(), 4);
  assert.equal(await page.locator("#last-title").textContent(), "The last 1,000 of 400 rows");
  await page.locator(".sources summary").click();
  next(52, { summary: { ...summary, rows: 416 } });
  await page.waitForFunction(() => /of 416 rows/.test(document.querySelector("#last-title").textContent));
  assert.ok(await page.locator(".sources pre").isVisible());
});

test("an unreadable message is told and the next one is read", async () => {
  send("reset", { format: 9 });
  await page.waitForFunction(() =>
    /could not read.*format 9/.test(document.querySelector(".live-status").textContent),
  );
  send("reset", make.report({ title: "good", runs: [young()] }));
  await page.waitForFunction(() => document.querySelector("h1").textContent === "good");
});

test("the end closes the connection and says how", async () => {
  send("reset", make.report({ runs: [young()] }));
  send("end", { status: "stopped" });
  await statusIs("stopped");
  clients.at(-1).end();
  await new Promise((r) => setTimeout(r, 300));
  assert.equal(clients.length, 1);
  assert.equal(await status(), "stopped");
});
