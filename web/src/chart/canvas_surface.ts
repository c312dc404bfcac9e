import { FONT, Rect, Stroke, Surface, TextStyle } from "./surface";

export class CanvasSurface implements Surface {
  constructor(private readonly ctx: CanvasRenderingContext2D) {}

  private path(points: number[]): boolean {
    this.ctx.beginPath();
    let lone = false;
    for (let i = 0, pen = false; i < points.length; i += 2) {
      const y = points[i + 1];
      if (Number.isNaN(y)) {
        pen = false;
      } else if (pen) {
        this.ctx.lineTo(points[i], y);
      } else {
        lone = i + 2 >= points.length || Number.isNaN(points[i + 3]);
        this.ctx.moveTo(points[i], y);
        pen = true;
        // A single point has no length; without this it would not be seen.
        if (lone) this.ctx.lineTo(points[i] + 0.01, y);
      }
    }
    return lone;
  }

  line(points: number[], { colour, width, dash }: Stroke): void {
    this.ctx.strokeStyle = colour;
    const lone = this.path(points);
    this.ctx.lineWidth = lone ? width * 2.5 : width;
    this.ctx.lineCap = lone ? "round" : "butt";
    this.ctx.lineJoin = "bevel";
    this.ctx.setLineDash(dash ?? []);
    this.ctx.stroke();
    this.ctx.setLineDash([]);
  }

  area(points: number[], colour: string, opacity: number): void {
    this.path(points);
    this.ctx.globalAlpha = opacity;
    this.ctx.fillStyle = colour;
    this.ctx.fill();
    this.ctx.globalAlpha = 1;
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const { ctx } = this;
    ctx.save();
    ctx.font = `${style.bold ? "600 " : ""}${style.size}px ${FONT}`;
    ctx.fillStyle = style.colour;
    ctx.textAlign = style.anchor === "middle" ? "center" : (style.anchor ?? "start");
    ctx.textBaseline = "alphabetic";
    ctx.direction = "ltr";
    ctx.translate(x, y);
    if (style.turned) ctx.rotate(-Math.PI / 2);
    ctx.fillText(text, 0, 0);
    ctx.restore();
  }

  clipped({ left, top, width, height }: Rect, draw: () => void): void {
    this.ctx.save();
    this.ctx.beginPath();
    this.ctx.rect(left, top, width, height);
    this.ctx.clip();
    draw();
    this.ctx.restore();
  }
}
