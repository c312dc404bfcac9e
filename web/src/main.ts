import { Unreadable } from "./data/check_report";
import { decodeReport } from "./data/decode";
import { el, note } from "./dom/dom";
import { Live } from "./page/live";
import { Page } from "./page/page";
import { watchTheme } from "./chart/theme";

const root = document.getElementById("page")!;

function fail(error: unknown): void {
  watchTheme(() => {});
  const known = error instanceof Unreadable;
  const what = known
    ? error.message
    : `The report could not be shown: ${error instanceof Error ? error.message : String(error)}`;
  const hint = "Make it again with: obolus report FOLDER -o report.html";
  root.replaceChildren(
    el(
      "main",
      { id: "content", class: "failure", role: "alert" },
      el("h1", {}, "No report"),
      el("p", {}, what),
      note(hint),
    ),
  );
}

async function start(): Promise<void> {
  const holder = document.getElementById("obolus-data");
  const data = holder?.textContent?.trim() ?? "";
  if (data === "live") return new Live(root).start();
  const report = await decodeReport(data);
  // The packed text is not needed any more, and may be tens of megabytes.
  holder?.remove();
  new Page(report, root, null);
}

start().catch(fail);
