// On one line, cut to a length with "…" at the end.
export function shorten(text: string, max: number): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > max ? line.slice(0, max - 1).trimEnd() + "…" : line;
}
