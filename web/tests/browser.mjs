import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { deflateSync } from "node:zlib";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const OUT = join(here, "out");
export const PAGE = join(here, "../dist/page.html");
mkdirSync(OUT, { recursive: true });
// Multiplies the limits on a machine that is slow or busy.
export const SLOWNESS = Number(process.env.OBOLUS_SLOW_MACHINE ?? 1);

function executable() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    try {
      return execFileSync("which", [name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    } catch {
      // not on the path: the next
    }
  }
  throw new Error("no Chromium found: set CHROMIUM to its path");
}

export function launch() {
  const args = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
  return chromium.launch({ executablePath: executable(), headless: true, args });
}

export function template() {
  if (!existsSync(PAGE)) throw new Error("dist/page.html is missing: npm run build first");
  return readFileSync(PAGE, "utf8");
}

export const pack = (report) => deflateSync(Buffer.from(JSON.stringify(report)), { level: 6 }).toString("base64");

// Writes the page with a report, or with a text in the data's place.
export function writePage(name, report) {
  const file = join(OUT, `${name}.html`);
  const data = typeof report === "string" ? report : pack(report);
  writeFileSync(
    file,
    template().replace("@OBOLUS_DATA@", () => data),
  );
  return pathToFileURL(file).href;
}

// A page that remembers every request, console message and error.
export async function newPage(browser, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: "reduce",
    acceptDownloads: true,
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000 * SLOWNESS);
  const seen = { requests: [], console: [], errors: [], dialogs: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("console", (message) => seen.console.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("dialog", (dialog) => {
    seen.dialogs.push(dialog.message());
    return dialog.dismiss();
  });
  return { context, page, seen };
}

export async function open(browser, name, report, options) {
  const url = writePage(name, report);
  const opened = await newPage(browser, options);
  await opened.page.goto(url);
  await opened.page.waitForSelector("main#content");
  await opened.page.waitForFunction(
    () => document.querySelector("canvas[aria-label]") || document.querySelector(".failure"),
  );
  return { ...opened, url };
}

// No test may leave anything behind in the console, nor ask for anything but the file itself. Blobs and data
// addresses are made by the page; they leave no machine.
export function faults(seen, url) {
  const foreign = seen.requests.filter((r) => r !== url && !r.startsWith("blob:") && !r.startsWith("data:"));
  return [...foreign.map((r) => `request ${r}`), ...seen.console, ...seen.errors, ...seen.dialogs];
}
