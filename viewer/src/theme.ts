// Colours of the page for the canvases, and the patterns that tell kinds apart without colour.
import { Kind } from "./format";

export interface Theme { text: string; soft: string; line: string; faint: string; panel: string; accent: string; kind: string[]; series: string[] }
const NAMES = ["transmit", "receive", "collision", "noise", "backoff", "nav", "busy", "transmit", "drop", "transmit", "receive", "receive", "collision"];

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    text: colour("text"), soft: colour("soft"), line: colour("line"), faint: colour("faint"), panel: colour("panel"), accent: colour("accent"),
    kind: NAMES.map(colour),
    series: ["transmit", "collision", "receive", "noise", "backoff", "nav"].map(colour),
  };
}
export function rgb(colour: string): [number, number, number] {
  const hex = colour.length === 4 ? colour.replace(/[^#]/g, "$&$&") : colour;
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];
}
// Stripes of a colour: backoff, collision and stall look the same to no reader.
export function stripes(context: CanvasRenderingContext2D, colour: string, falling: boolean): CanvasPattern {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const draw = tile.getContext("2d")!;
  draw.globalAlpha = 0.25;
  draw.fillStyle = colour;
  draw.fillRect(0, 0, 6, 6);
  draw.globalAlpha = 1;
  draw.strokeStyle = colour;
  draw.lineWidth = 1.6;
  for (const shift of [-6, 0, 6]) {
    draw.beginPath();
    draw.moveTo(shift, falling ? 0 : 6);
    draw.lineTo(shift + 6, falling ? 6 : 0);
    draw.stroke();
  }
  return context.createPattern(tile, "repeat")!;
}
export const SOLID = new Set([Kind.transmit, Kind.receive, Kind.nav, Kind.busy]);
// A canvas's context in CSS pixels, sized to its element.
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = devicePixelRatio || 1, w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  return context;
}
