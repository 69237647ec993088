// A lane for each node: marks, the air, NAV, backoff and carrier sense from top to bottom.
import { type Scale, span, toTime, toX } from "./axis";
import { CLASSES, Kind, NONE32 } from "./format";
import { type State } from "./state";
import { prepare, rgb, SOLID, stripes } from "./theme";

export const LANE = 54;
const MOST_RAW = 8000; // events in view above which levels.bin is drawn
// Top and height in the lane of each kind, CSS pixels.
const AIR: [number, number] = [13, 19];
const ROWS: Record<number, [number, number]> = {
  [Kind.transmit]: AIR, [Kind.receive]: AIR, [Kind.collision]: AIR, [Kind.noise]: AIR,
  [Kind.nav]: [33, 5], [Kind.backoff]: [39, 8], [Kind.busy]: [48, 3],
};
const ORDER = [Kind.busy, Kind.nav, Kind.backoff, Kind.receive, Kind.noise, Kind.collision, Kind.transmit];
const MARKS = new Set([Kind.enqueue, Kind.send, Kind.deliver]);
const LABELS: Record<string, string> = { rts: "RTS", cts: "CTS", ack: "ack", data: "data", "block-ack": "block ack", beacon: "beacon" };
export const frameLabel = (name: string): string => LABELS[name] ?? name;

export class Lanes {
  raw = true; // whether the last drawing was of single events
  constructor(private readonly state: State, private readonly canvas: HTMLCanvasElement, private readonly scroll: HTMLElement) {}

  draw(): void {
    const { state } = this, { width, scale } = state, height = this.scroll.clientHeight;
    const context = prepare(this.canvas, width, height), { theme } = state;
    const top = this.scroll.scrollTop, first = Math.floor(top / LANE);
    const last = Math.min(state.about.nodes.length, Math.ceil((top + height) / LANE));
    let visible = 0;
    for (let node = first; node < last; node++) {
      visible += state.index.starting(node, scale.from, scale.to);
    }
    const level = visible > MOST_RAW ? state.levels.choose((scale.to - scale.from) / scale.width) : null;
    this.raw = !level;
    const hatch = { [Kind.backoff]: stripes(context, theme.kind[Kind.backoff]!, false), [Kind.collision]: stripes(context, theme.kind[Kind.collision]!, true) };
    for (let node = first; node < last; node++) {
      const y = node * LANE - top;
      if (node % 2) {
        context.fillStyle = theme.faint;
        context.globalAlpha = 0.55;
        context.fillRect(0, y, width, LANE);
        context.globalAlpha = 1;
      }
      context.fillStyle = theme.line;
      context.fillRect(scale.left, y + AIR[0] + AIR[1], scale.width, 1);
      if (!level) this.drawEvents(context, node, y, scale, hatch, Math.ceil(visible / (4 * MOST_RAW)));
    }
    if (level) this.drawLevels(context, level, first, last, top, scale);
    this.drawDrops(context, top, first, last, scale);
    context.fillStyle = theme.panel;
    context.fillRect(0, 0, scale.left, height);
    for (let node = first; node < last; node++) {
      const y = node * LANE - top;
      context.fillStyle = theme.line;
      context.fillRect(0, y + LANE - 1, width, 1);
      context.fillStyle = theme.text;
      context.font = "600 12px system-ui, sans-serif";
      context.fillText(clip(context, state.nodeName(node), scale.left - 14), 9, y + 22);
      context.font = "9.5px system-ui, sans-serif";
      context.fillStyle = theme.soft;
      if (scale.left > 80 && !state.about.measured) {
        context.textAlign = "right";
        context.fillText("NAV", scale.left - 5, y + 35);
        context.fillText("backoff", scale.left - 5, y + 45);
        context.textAlign = "left";
      }
    }
    context.fillStyle = theme.line;
    context.fillRect(scale.left - 1, 0, 1, height);
    this.drawChoice(context, top, scale);
    drawTime(context, state, scale, height);
  }

  // Every `stride`-th event, where there is no level of detail to fall back on.
  private drawEvents(context: CanvasRenderingContext2D, node: number, y: number, scale: Scale, hatch: Record<number, CanvasPattern>, stride: number): void {
    const { events, index, theme } = this.state;
    const list = index.overlapping(node, scale.from, scale.to, Math.max(1, stride)), perNs = scale.width / (scale.to - scale.from);
    const edge = scale.left + scale.width;
    const shares = this.airtime(list, scale);
    for (const kind of ORDER) {
      const [rowTop, rowHeight] = ROWS[kind]!, colour = theme.kind[kind]!;
      context.fillStyle = hatch[kind] ?? colour;
      let drawn = -1;
      for (const i of list) {
        if (events.kind(i) !== kind) continue;
        const start = scale.left + (events.time(i) - scale.from) * perNs;
        const wide = events.duration(i) * perNs;
        const x = Math.max(scale.left, start), right = Math.min(edge, start + Math.max(wide, 1));
        if (right <= x || right <= drawn + 0.5) continue;
        // A frame shorter than a pixel is drawn where no other kind has more of that pixel's time.
        if (kind <= Kind.noise && wide < 1) {
          const column = Math.floor(x - scale.left), own = shares[kind]![column]!;
          if (shares.some((share) => share[column]! > own)) continue;
        }
        drawn = right;
        const w = right - x;
        context.fillRect(x, y + rowTop, Math.max(w > 3 ? w - 0.5 : w, 1), rowHeight);
        if (kind === Kind.noise && w > 2) {
          context.fillStyle = theme.panel;
          for (let dot = x + 3; dot < right - 2; dot += 6) context.fillRect(dot, y + rowTop + 3, 1.5, rowHeight - 6);
          context.fillStyle = colour;
        }
        if (kind === Kind.backoff && w > 4) this.drawSlots(context, i, start, wide, x, right, y + rowTop, rowHeight, colour, hatch[kind]!);
        if (kind <= Kind.noise && w > 26) this.drawLabel(context, i, x, w, y + rowTop, rowHeight);
      }
    }
    for (const i of list) {
      const kind = events.kind(i);
      if (!MARKS.has(kind)) continue;
      const x = toX(scale, events.time(i));
      context.fillStyle = theme.kind[kind]!;
      context.beginPath();
      if (kind === Kind.enqueue) context.rect(x - 0.75, y + 3, 1.5, 8);
      else {
        const point = kind === Kind.send ? y + 3 : y + 11, flat = kind === Kind.send ? y + 11 : y + 3;
        context.moveTo(x, point);
        context.lineTo(x + 4, flat);
        context.lineTo(x - 4, flat);
      }
      context.fill();
    }
  }

  // By kind of frames and column of pixels: the time, in columns, that such frames take.
  private airtime(list: number[], scale: Scale): Float32Array[] {
    const { events } = this.state, columns = Math.ceil(scale.width) + 1, perNs = scale.width / (scale.to - scale.from);
    const shares = [0, 1, 2, 3].map(() => new Float32Array(columns));
    for (const i of list) {
      const share = shares[events.kind(i)];
      if (!share) continue;
      const from = Math.max(0, (events.time(i) - scale.from) * perNs);
      const to = Math.min(columns, (events.time(i) + events.duration(i) - scale.from) * perNs);
      for (let column = Math.floor(from); column < to; column++) share[column]! += Math.min(to, column + 1) - Math.max(from, column);
    }
    return shares;
  }

  // One cell per slot where they are wide enough to tell apart.
  private drawSlots(context: CanvasRenderingContext2D, i: number, start: number, wide: number, x: number, right: number, y: number, h: number, colour: string, back: CanvasPattern): void {
    const slots = this.state.events.value(i), slot = wide / slots;
    if (slots > 0 && slot >= 4) {
      context.fillStyle = this.state.theme.panel;
      context.globalAlpha = 0.55;
      context.fillRect(x, y, right - x, h);
      context.globalAlpha = 1;
      context.fillStyle = colour;
      for (let k = Math.max(0, Math.floor((x - start) / slot)); k <= slots; k++) {
        const at = start + k * slot;
        if (at > right) break;
        if (at >= x) context.fillRect(at - 0.6, y, 1.2, h);
      }
    }
    context.fillStyle = colour;
    context.fillRect(x, y, right - x, 1);
    context.fillRect(x, y + h - 1, right - x, 1);
    context.fillStyle = back;
  }

  private drawLabel(context: CanvasRenderingContext2D, i: number, x: number, w: number, y: number, h: number): void {
    const { events, theme, about } = this.state, kind = events.kind(i), fill = context.fillStyle;
    let text = frameLabel(about.frames[events.code(i)] ?? "");
    const peer = this.state.nodeName(events.peer(i));
    const longer = kind === Kind.transmit ? `${text} → ${peer}` : `${text} ← ${peer}`;
    if (context.measureText(longer).width < w - 8) text = longer;
    const room = context.measureText(text).width;
    if (room < w - 4) {
      if (SOLID.has(kind)) context.fillStyle = theme.panel;
      else {
        context.fillStyle = theme.panel;
        context.fillRect(x + 3, y + 3, room + 4, h - 6);
        context.fillStyle = theme.text;
      }
      context.fillText(text, x + 5, y + h / 2 + 0.5);
    }
    context.fillStyle = fill;
  }

  // Shares of time as columns, written as pixels: thousands of rectangles would be slow.
  private drawLevels(context: CanvasRenderingContext2D, level: Parameters<State["levels"]["shares"]>[0], first: number, last: number, top: number, scale: Scale): void {
    const { levels, theme } = this.state, ratio = devicePixelRatio || 1;
    const columns = Math.floor(scale.width * ratio), shares = new Float64Array(CLASSES);
    if (columns < 1) return;
    const classes: [number, Kind][] = [[0, Kind.transmit], [1, Kind.receive], [2, Kind.collision], [3, Kind.nav], [4, Kind.backoff]];
    const colours = classes.map(([, kind]) => rgb(theme.kind[kind]!));
    const words = colours.map(([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0);
    const tall = Math.round(LANE * ratio), image = context.createImageData(columns, tall), pixels = new Uint32Array(image.data.buffer);
    const row = (kind: Kind): [number, number] => [Math.round(ROWS[kind]![0] * ratio), Math.round(ROWS[kind]![1] * ratio)];
    const [airTop, airHeight] = row(Kind.transmit), rows = [row(Kind.nav), row(Kind.backoff)];
    const perColumn = (scale.to - scale.from) / columns;
    const layer = document.createElement("canvas");
    layer.width = columns;
    layer.height = tall;
    const onto = layer.getContext("2d")!;
    for (let node = first; node < last; node++) {
      pixels.fill(0);
      for (let column = 0; column < columns; column++) {
        const from = scale.from + column * perColumn;
        levels.shares(level, node, from, from + perColumn, shares);
        let floor = airTop + airHeight;
        for (const c of [0, 1, 2]) {
          if (shares[c]! <= 0) continue;
          const end = Math.max(airTop, floor - Math.max(1, Math.round(shares[c]! / 255 * airHeight)));
          while (floor > end) pixels[--floor * columns + column] = words[c]!;
        }
        for (const c of [3, 4]) {
          if (shares[c]! <= 0) continue;
          const [rowTop, rowHeight] = rows[c - 3]!;
          const alpha = Math.round(40 + Math.sqrt(shares[c]! / 255) * 215); // a small share is still to be seen
          const word = (words[c]! & 0xffffff | alpha << 24) >>> 0;
          for (let y = rowTop; y < rowTop + rowHeight; y++) pixels[y * columns + column] = word;
        }
      }
      onto.putImageData(image, 0, 0);
      context.drawImage(layer, scale.left, node * LANE - top, columns / ratio, LANE);
    }
  }

  private drawDrops(context: CanvasRenderingContext2D, top: number, first: number, last: number, scale: Scale): void {
    const { index, theme } = this.state, list = index.rare.get(Kind.drop)!;
    const taken = new Map<number, number>();
    context.strokeStyle = theme.kind[Kind.drop]!;
    context.lineWidth = 1.8;
    context.beginPath();
    for (let k = list.from(scale.from); k < list.length && list.time[k]! <= scale.to; k++) {
      const node = list.node[k]!;
      if (node < first || node >= last) continue;
      const x = toX(scale, list.time[k]!), y = node * LANE - top + 7;
      if (x - (taken.get(node) ?? -9) < 3) continue;
      taken.set(node, x);
      context.moveTo(x - 3.5, y - 3.5);
      context.lineTo(x + 3.5, y + 3.5);
      context.moveTo(x + 3.5, y - 3.5);
      context.lineTo(x - 3.5, y + 3.5);
    }
    context.stroke();
  }

  private drawChoice(context: CanvasRenderingContext2D, top: number, scale: Scale): void {
    const { state } = this, i = state.chosen;
    if (i < 0) return;
    const { events, theme } = state, frame = events.frame(i);
    context.strokeStyle = theme.accent;
    const outline = (k: number, width: number): void => {
      const [y, h] = ROWS[events.kind(k)] ?? [2, 10];
      const x = toX(scale, events.time(k)), right = toX(scale, events.time(k) + events.duration(k));
      if (right < scale.left || x > scale.left + scale.width) return;
      context.lineWidth = width;
      const a = Math.max(x, scale.left) - 1.5, b = Math.min(right, scale.left + scale.width) + 1.5;
      context.strokeRect(a, events.node(k) * LANE - top + y - 1.5, Math.max(4, b - a), h + 3);
    };
    if (frame !== NONE32) for (const k of state.sameFrame(i)) if (k !== i) outline(k, 1);
    outline(i, 2.5);
  }

  // The event at a point of the canvas, or -1: the smallest that covers it, marks first.
  pick(x: number, y: number): number {
    const { events, index, about, scale } = this.state;
    const node = Math.floor((y + this.scroll.scrollTop) / LANE), inLane = (y + this.scroll.scrollTop) - node * LANE;
    if (node < 0 || node >= about.nodes.length || x < scale.left) return -1;
    const margin = 5 * (scale.to - scale.from) / scale.width, time = toTime(scale, x);
    let best = -1, bestScore = Infinity;
    for (const i of index.overlapping(node, time - margin, time + margin, 1, 200000)) {
      const kind = events.kind(i);
      const away = Math.max(0, events.time(i) - time, time - events.time(i) - events.duration(i));
      if (away > margin || kind >= Kind.media) continue;
      const [top, height] = ROWS[kind] ?? [2, 10];
      const off = Math.max(0, top - inLane, inLane - top - height);
      if (off > 4) continue;
      const score = off * 1e6 + away / margin * 1e4 + (kind === Kind.drop ? -1e5 : 0) + Math.min(9e3, events.duration(i) / margin);
      if (score <= bestScore) { best = i; bestScore = score; }
    }
    return best;
  }

  describe(): string { return `${this.raw ? "every event" : "shares of time"}, ${span(this.state.to - this.state.from)} in view`; }
}

export function clip(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > width) end--;
  return `${text.slice(0, end)}…`;
}

export function drawTime(context: CanvasRenderingContext2D, state: State, scale: Scale, height: number): void {
  const x = toX(scale, state.time);
  if (x < scale.left || x > scale.left + scale.width) return;
  context.fillStyle = state.theme.accent;
  context.fillRect(x - 0.75, 0, 1.5, height);
}
