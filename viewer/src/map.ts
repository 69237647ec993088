// The map: where nodes are, wires, and the frames on the air at the time.
import { step } from "./axis";
import { Kind, NONE16 } from "./format";
import { frameLabel } from "./lanes";
import { type State } from "./state";
import { prepare } from "./theme";

const MOST = 5000; // events looked at for frames on the air
const CROWDED = 60; // nodes above which they go without names
type Point = [number, number];
type Box = [number, number, number, number]; // left, top, right, bottom

export class NodeMap {
  private hits: Point[] = []; // by node
  private taken: Box[] = []; // labels and nodes that are already drawn
  constructor(private readonly state: State, private readonly canvas: HTMLCanvasElement) {}

  // Shows what is on the air from `from` to the state's time: a drawn frame's share of a running play, or one instant.
  draw(from: number): void {
    const { state } = this, { about, theme, events, index } = state;
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight, context = prepare(this.canvas, width, height);
    const [x0, y0, x1, y1] = about.area, sides = 34, above = 26, below = 40;
    const w = Math.max(1, x1 - x0), h = Math.max(1, y1 - y0);
    const zoom = Math.min((width - 2 * sides) / w, (height - above - below) / h);
    const left = (width - w * zoom) / 2, top = above + (height - above - below - h * zoom) / 2;
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(left - 14, top - 14, w * zoom + 28, h * zoom + 28);
    const nodes = about.nodes.length, where: Point[] = [], crowded = nodes > CROWDED, size = crowded ? 3 : 5.5;
    for (let node = 0; node < nodes; node++) {
      const [x, y] = state.positions.at(node, state.time);
      where.push([left + (x - x0) * zoom, top + (y1 - y) * zoom]);
    }
    if (!crowded) spread(where);
    this.hits = where;
    this.taken = where.map(([x, y]) => [x - size - 1, y - size - 1, x + size + 1, y + size + 1]);
    context.strokeStyle = theme.soft;
    context.lineWidth = 1.2;
    for (const [a, b] of about.links ?? []) line(context, where[a], where[b]);

    const lit = new Map<number, string>(), sending: [number, string][] = [], reach = new Map<number, Map<Kind, number>>();
    const far = (i: number): void => { // how far from its transmitter a frame was received, and how far it was lost
      const sender = events.peer(i), a = where[sender], b = where[events.node(i)], kind = events.kind(i);
      if (!a || !b) return;
      const radii = reach.get(sender) ?? new Map<Kind, number>();
      reach.set(sender, radii.set(kind, Math.max(radii.get(kind) ?? 0, Math.hypot(a[0] - b[0], a[1] - b[1]))));
    };
    const arrows = new Set<number>();
    const ends = state.time, starts = Math.min(from, ends), each = Math.max(4, Math.floor(MOST / Math.max(1, nodes)));
    for (let node = 0; node < nodes; node++) {
      for (const i of index.overlapping(node, starts, ends + 1, 1, each)) {
        const kind = events.kind(i);
        if (kind > Kind.noise || events.time(i) + Math.max(1, events.duration(i)) <= starts) continue;
        if (kind === Kind.transmit) {
          lit.set(node, theme.kind[kind]!);
          sending.push([node, frameLabel(about.frames[events.code(i)] ?? "")]);
        } else {
          if (!lit.has(node)) lit.set(node, theme.kind[kind]!);
          arrows.add(i);
        }
      }
    }
    if (state.chosen >= 0) {
      for (const i of state.sameFrame(state.chosen)) if (events.kind(i) > Kind.transmit && events.kind(i) <= Kind.noise) arrows.add(i);
    }
    for (const i of arrows) far(i);
    for (const [sender, radii] of reach) for (const [kind, radius] of radii) this.range(context, where[sender]!, radius, theme.kind[kind]!, kind);
    for (const i of arrows) this.arrow(context, where[events.peer(i)], where[events.node(i)], theme.kind[events.kind(i)]!, events.kind(i));
    for (const [node] of sending) ring(context, where[node]!, 11, theme.kind[Kind.transmit]!);
    where.forEach((at, node) => {
      context.fillStyle = lit.get(node) ?? theme.soft;
      context.beginPath();
      context.arc(...at, size, 0, 7);
      context.fill();
    });
    const own = state.chosen >= 0 ? where[events.node(state.chosen)] : undefined;
    if (own) ring(context, own, 8.5, theme.accent);
    context.fillStyle = theme.text;
    if (!crowded) where.forEach((at, node) => this.label(context, at, state.nodeName(node), width, height));
    context.fillStyle = theme.kind[Kind.transmit]!;
    for (const [node, text] of sending.slice(0, 20)) this.label(context, where[node]!, text, width, height);
    this.scaleBar(context, w, zoom, height);
  }

  private scaleBar(context: CanvasRenderingContext2D, metres: number, zoom: number, height: number): void {
    const { theme } = this.state, bar = step(metres, 4);
    context.fillStyle = theme.soft;
    context.fillRect(12, height - 12, bar * zoom, 1.5);
    context.fillRect(12, height - 15, 1.5, 7);
    context.fillRect(12 + bar * zoom - 1.5, height - 15, 1.5, 7);
    context.fillText(bar >= 1000 ? `${bar / 1000} km` : `${bar} m`, 18 + bar * zoom, height - 11);
  }

  // A name next to its node, on the side where it covers nothing.
  private label(context: CanvasRenderingContext2D, [x, y]: Point, text: string, width: number, height: number): void {
    const wide = context.measureText(text).width, tall = 12;
    const places: Point[] = [[x + 10, y], [x - 10 - wide, y], [x - wide / 2, y - 17], [x - wide / 2, y + 17], [x + 10, y - 12], [x - 10 - wide, y - 12], [x + 10, y + 12], [x - 10 - wide, y + 12]];
    let best: Point | null = null, least = Infinity;
    for (const [a, b] of places) {
      const box: Box = [a, b - tall / 2, a + wide, b + tall / 2];
      const outside = box[0] < 2 || box[2] > width - 2 || box[1] < 2 || box[3] > height - 20;
      const covered = this.taken.filter((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1]).length + (outside ? 10 : 0);
      if (covered < least) { least = covered; best = [a, b]; }
      if (!covered) break;
    }
    const [a, b] = best!;
    this.taken.push([a, b - tall / 2, a + wide, b + tall / 2]);
    context.strokeStyle = this.state.theme.panel;
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeText(text, a, b);
    context.fillText(text, a, b);
  }

  // The circle within which the frame was received, or lost.
  private range(context: CanvasRenderingContext2D, at: Point, radius: number, colour: string, kind: Kind): void {
    if (radius < 12) return;
    context.fillStyle = context.strokeStyle = colour;
    context.lineWidth = 1;
    context.beginPath();
    context.arc(...at, radius, 0, 7);
    context.globalAlpha = 0.07;
    if (kind === Kind.receive) context.fill();
    context.globalAlpha = 0.45;
    context.setLineDash(DASH[kind] ?? []);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  private arrow(context: CanvasRenderingContext2D, from: Point | undefined, to: Point | undefined, colour: string, kind: Kind): void {
    if (!from || !to) return;
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    if (length < 1) return;
    const x = (to[0] - from[0]) / length, y = (to[1] - from[1]) / length, tip: Point = [to[0] - x * 7, to[1] - y * 7];
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 1.6;
    context.setLineDash(DASH[kind] ?? []);
    line(context, from, tip);
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(...tip);
    context.lineTo(tip[0] - x * 7 - y * 3.5, tip[1] - y * 7 + x * 3.5);
    context.lineTo(tip[0] - x * 7 + y * 3.5, tip[1] - y * 7 - x * 3.5);
    context.fill();
  }

  nodeAt(x: number, y: number): number {
    let best = NONE16, near = 18;
    this.hits.forEach(([a, b], node) => {
      const away = Math.hypot(a - x, b - y);
      if (away < near) { near = away; best = node; }
    });
    return best === NONE16 ? -1 : best;
  }
}

const DASH: Partial<Record<Kind, number[]>> = { [Kind.collision]: [5, 3], [Kind.noise]: [1.5, 3] };

// Moves nodes that share a place apart, such as a server that has none and its access point.
function spread(where: Point[]): void {
  for (let node = 1; node < where.length; node++) {
    for (let turn = 0; turn < 8; turn++) {
      const [x, y] = where[node]!;
      if (!where.some(([a, b], other) => other < node && Math.hypot(a - x, b - y) < 5)) break;
      where[node] = [x + 17 * Math.cos(turn * 0.8 + 0.6), y - 17 * Math.sin(turn * 0.8 + 0.6)];
    }
  }
}

function ring(context: CanvasRenderingContext2D, at: Point, radius: number, colour: string): void {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(...at, radius, 0, 7);
  context.stroke();
}

function line(context: CanvasRenderingContext2D, from: Point | undefined, to: Point | undefined): void {
  if (!from || !to) return;
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}
