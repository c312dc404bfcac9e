import { LineStyle } from "./palette";

const SVG = "http://www.w3.org/2000/svg";

// A short piece of the series' line; its colour is a CSS variable, so it follows the theme and print.
export function swatch(style: LineStyle, width = 28): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  const line = document.createElementNS(SVG, "line");
  const set = (node: Element, values: { [name: string]: string | number }) => {
    for (const [name, value] of Object.entries(values)) node.setAttribute(name, String(value));
  };
  set(svg, {
    width,
    height: 10,
    viewBox: `0 0 ${width} 10`,
    class: "swatch",
    "aria-hidden": "true",
    focusable: "false",
  });
  set(line, {
    x1: 0,
    x2: width,
    y1: 5,
    y2: 5,
    "stroke-width": 2.5,
    "stroke-dasharray": style.dash.join(" "),
    class: `line-${style.colour}`,
  });
  svg.append(line);
  return svg;
}
