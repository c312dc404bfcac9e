import { announce, button, el } from "./dom";

// Ways out of the page: files and the clipboard.

export function fileName(text: string): string {
  const clean = text
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .toLowerCase();
  return clean.slice(0, 80) || "obolus";
}

export function download(name: string, content: Blob | string, type: string): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const url = URL.createObjectURL(blob);
  const link = el("a", { href: url, download: name });
  link.click();
  // The browser reads the blob after the click returns.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function showForCopying(text: string): void {
  const area = el("textarea", { rows: 12, readonly: true, "aria-label": "Text to copy" });
  area.value = text;
  const dialog = el(
    "dialog",
    { class: "copying", "aria-label": "Text to copy" },
    el("p", {}, "This page may not write to the clipboard. The text is selected: copy it with Ctrl+C or ⌘C."),
    area,
  );
  dialog.append(button("Close", {}, () => dialog.close()));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  area.select();
}

export async function copy(text: string, what: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what} copied.`);
    return true;
  } catch {
    showForCopying(text);
    return false;
  }
}
