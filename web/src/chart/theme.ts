import { Ink, INKS, Theme } from "./palette";

export type ThemeChoice = "auto" | Theme;

const dark = matchMedia("(prefers-color-scheme: dark)");
const print = matchMedia("print");
let choice: ThemeChoice = "auto";
let printing = false;
const listeners: (() => void)[] = [];

export function theme(): Theme {
  if (printing) return "light";
  if (choice !== "auto") return choice;
  return dark.matches ? "dark" : "light";
}

export const ink = (): Ink => INKS[theme()];

// The palette lives in TypeScript; the style sheet reads it through variables.
function apply(): void {
  const root = document.documentElement;
  root.dataset.theme = theme();
  ink().lines.forEach((colour, i) => root.style.setProperty(`--line-${i}`, colour));
  for (const listener of listeners) listener();
}

export function chooseTheme(next: ThemeChoice): void {
  choice = next;
  apply();
}

export const isPrinting = (): boolean => printing;

function setPrinting(on: boolean): void {
  if (printing === on) return;
  printing = on;
  apply();
}

export function watchTheme(changed: () => void): void {
  listeners.push(changed);
  dark.addEventListener("change", apply);
  // Browsers tell of printing by events, emulated print media by the query; both may come.
  addEventListener("beforeprint", () => setPrinting(true));
  addEventListener("afterprint", () => setPrinting(print.matches));
  print.addEventListener("change", () => setPrinting(print.matches));
  if (print.matches) printing = true;
  apply();
}
