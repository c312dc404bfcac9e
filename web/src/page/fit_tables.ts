import { Confusion, FitSummary, Shadow } from "../data/fit_summary";
import { el, note } from "../dom/dom";
import { plainTable, scrollBox, wrapped } from "../dom/plain_table";
import { significant } from "../text/number_format";

function card(id: string, title: string, ...content: HTMLElement[]): HTMLElement {
  const heading = el("h3", { id: `title-${id}` }, title);
  const head = el("div", { class: "panel-head" }, heading);
  return el("section", { class: "panel", "aria-labelledby": heading.id, "data-panel": id }, head, ...content);
}

// Rows are true classes, columns predicted ones. A cell is tinted by its share of the row.
function confusionTable({ classes, folded, weights, unpredicted }: Confusion): HTMLElement {
  const names = folded > 0 ? [...classes, `${folded.toLocaleString("en")} rarer`] : classes;
  const some = unpredicted.some((w) => w > 0);
  const cell = (weight: number, total: number, right: boolean): HTMLElement => {
    const share = total > 0 ? weight / total : 0;
    const hint = `${(100 * share).toFixed(1)} % of the row`;
    const node = el("td", { class: right ? "hit" : "miss", title: hint }, weight === 0 ? "" : significant(weight, 4));
    node.style.setProperty("--share", share.toFixed(3));
    return node;
  };
  const rows = weights.map((row, i) => {
    const total = row.reduce((sum, w) => sum + w, unpredicted[i]);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, wrapped(names[i])),
      ...row.map((w, j) => cell(w, total, i === j)),
      some && cell(unpredicted[i], total, false),
    );
  });
  const head = [...names, ...(some ? ["none"] : [])].map((name) => el("th", { scope: "col" }, wrapped(name)));
  const caption = "Rows by true and predicted class";
  return scrollBox(
    caption,
    el(
      "table",
      { class: "confusion" },
      el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "true"), ...head)),
      el("tbody", {}, ...rows),
    ),
  );
}

function confusionCard(confusion: Confusion): HTMLElement {
  const what = "Rows by their true class (down) and the predicted one (across).";
  const rest =
    " The last row and column hold the rarer classes together: on the diagonal, one of them may be taken for another.";
  return card("confusion", "Confusion", confusionTable(confusion), note(confusion.folded > 0 ? what + rest : what));
}

function weightsCard(weights: FitSummary["weights"]): HTMLElement {
  const rows = weights.map((w) => [w.feature, w.output, significant(w.value, 4)]);
  const header = ["feature", "for", "weight"];
  const table = plainTable({ caption: "By absolute value", header, rows, numeric: [false, false, true] });
  return card("weights", "Largest weights", table);
}

function shadowCard({ columns, rows }: Shadow): HTMLElement {
  const header = ["settings", ...columns.map((c) => c.replace(/_/g, " "))];
  const table = plainTable({
    caption: "The same rows, with settings that stay as they are",
    header,
    rows: rows.map(({ name, values }) => [name, ...values.map((v) => significant(v, 4))]),
    numeric: header.map((_, i) => i > 0),
  });
  return card("shadow", "What fixed settings would have given", table);
}

// What a fit has besides charts.
export function fitTables(fit: FitSummary): HTMLElement[] {
  return [
    ...(fit.confusion ? [confusionCard(fit.confusion)] : []),
    ...(fit.weights.length > 0 ? [weightsCard(fit.weights)] : []),
    ...(fit.shadow ? [shadowCard(fit.shadow)] : []),
  ];
}
