import { FONT, Rect, Stroke, Surface, TextStyle } from "./surface";

// XML 1.0 has no place for most control characters, not even escaped, nor for halves of surrogate pairs.
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const ENTITIES: { [c: string]: string } = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function xmlText(text: string): string {
  return text
    .replace(LONE_SURROGATE, "\ufffd")
    .replace(CONTROL, "\ufffd")
    .replace(/[&<>"']/g, (c) => ENTITIES[c]);
}

const short = (v: number): string => String(Math.round(v * 100) / 100);

function pathData(points: number[]): string {
  let out = "";
  for (let i = 0, pen = false; i < points.length; i += 2) {
    if (Number.isNaN(points[i + 1])) {
      pen = false;
      continue;
    }
    out += `${pen ? "L" : "M"}${short(points[i])} ${short(points[i + 1])}`;
    pen = true;
  }
  return out;
}

export class SvgSurface implements Surface {
  private readonly parts: string[] = [];
  private clips = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
    private readonly title: string,
  ) {}

  line(points: number[], { colour, width, dash }: Stroke): void {
    const data = pathData(points);
    if (data === "") return;
    const dashes = dash && dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    const cap = points.length === 2 ? ' stroke-linecap="round"' : "";
    const closed = points.length === 2 ? data + "h0.01" : data;
    const stroke = `stroke="${xmlText(colour)}" stroke-width="${width}" stroke-linejoin="round"${cap}${dashes}`;
    this.parts.push(`<path d="${closed}" fill="none" ${stroke}/>`);
  }

  area(points: number[], colour: string, opacity: number): void {
    const data = pathData(points);
    if (data !== "")
      this.parts.push(`<path d="${data}Z" fill="${xmlText(colour)}" fill-opacity="${opacity}" stroke="none"/>`);
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const turn = style.turned ? ` transform="rotate(-90 ${short(x)} ${short(y)})"` : "";
    const weight = style.bold ? ' font-weight="600"' : "";
    const place = `x="${short(x)}" y="${short(y)}" font-size="${style.size}" text-anchor="${style.anchor ?? "start"}"`;
    this.parts.push(`<text ${place} fill="${xmlText(style.colour)}"${weight}${turn}>${xmlText(text)}</text>`);
  }

  clipped({ left, top, width, height }: Rect, draw: () => void): void {
    const id = `clip${++this.clips}`;
    const box = `x="${short(left)}" y="${short(top)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<clipPath id="${id}"><rect ${box}/></clipPath><g clip-path="url(#${id})">`);
    draw();
    this.parts.push("</g>");
  }

  toString(): string {
    const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
    const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${xmlText(FONT)}" role="img">`;
    const title = `<title>${xmlText(this.title)}</title>`;
    return `<?xml version="1.0" encoding="UTF-8"?>\n${head}${title}\n${this.parts.join("\n")}\n</svg>\n`;
  }
}
