// What figures are drawn on: a canvas or an SVG document.
export interface Stroke {
  colour: string;
  width: number;
  dash?: number[];
}

export interface TextStyle {
  colour: string;
  size: number;
  anchor?: "start" | "middle" | "end";
  bold?: boolean;
  turned?: boolean; // reads upwards
}

export interface Rect {
  left: number;
  top: number;
  width: number;
  height: number;
}

// Points are x, y, x, y …; NaN, NaN starts a new line.
export interface Surface {
  line(points: number[], stroke: Stroke): void;
  area(points: number[], colour: string, opacity: number): void;
  text(x: number, y: number, text: string, style: TextStyle): void;
  clipped(rect: Rect, draw: () => void): void;
}

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
