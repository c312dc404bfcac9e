type Child = Node | string | null | undefined | false;
type Attributes = { [name: string]: string | number | boolean | undefined };

// Text enters the document through text nodes and setAttribute alone.
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) node.append(child);
  return node;
}

export function button(text: string, attributes: Attributes, press: (event: MouseEvent) => void): HTMLButtonElement {
  const node = el("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", press);
  return node;
}

export const note = (text: string): HTMLElement => el("p", { class: "note" }, text);

export interface Choice {
  value: string;
  text: string;
  hint?: string; // shown on hovering
}

export function select(
  name: string,
  choices: Choice[],
  value: string,
  pick: (value: string) => void,
): HTMLSelectElement {
  const options = choices.map((c) => el("option", { value: c.value, title: c.hint }, c.text));
  const node = el("select", { "aria-label": name }, ...options);
  node.value = value;
  node.addEventListener("change", () => pick(node.value));
  return node;
}

// Buttons of which one is pressed.
export function segmented(name: string, choices: Choice[], value: string, pick: (value: string) => void): HTMLElement {
  const buttons = choices.map((c) =>
    button(c.text, { "aria-pressed": String(c.value === value), "data-value": c.value }, () => pick(c.value)),
  );
  return el("div", { class: "segments", role: "group", "aria-label": name }, ...buttons);
}

export function labelled(text: string, control: HTMLElement): HTMLElement {
  return el("label", { class: "field" }, el("span", {}, text), control);
}

let announcer: HTMLElement | null = null;

// For screen readers: what changed without the focus moving.
export function announce(text: string): void {
  if (!announcer) {
    announcer = el("div", { class: "unseen", role: "status" });
    document.body.append(announcer);
  }
  announcer.textContent = text;
}
