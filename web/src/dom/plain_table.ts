import { el } from "./dom";

export interface PlainTable {
  caption: string;
  header: string[];
  rows: string[][];
  numeric: boolean[];
}

// Wide tables scroll in their own box, which the keyboard can reach.
export function scrollBox(name: string, table: HTMLElement): HTMLElement {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, table);
}

// Long names wrap at a width of their own; a cell's max-width would not hold them.
export const wrapped = (text: string): HTMLElement => el("div", { class: "wrap" }, text);

export function plainTable({ caption, header, rows, numeric }: PlainTable): HTMLElement {
  const side = (i: number) => (numeric[i] ? "right" : undefined);
  const head = el("tr", {}, ...header.map((h, i) => el("th", { scope: "col", class: side(i) }, wrapped(h))));
  const body = rows.map((row) =>
    el(
      "tr",
      {},
      ...row.map((cell, i) =>
        i === 0
          ? el("th", { scope: "row", class: side(i) }, wrapped(cell))
          : el("td", { class: side(i) }, wrapped(cell)),
      ),
    ),
  );
  return scrollBox(
    caption,
    el("table", {}, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, ...body)),
  );
}
