// The map: where nodes are, wires, and the frames on the air at the time.
import { step } from "./axis";
import { Kind, NONE16 } from "./format";
import { frameLabel, sameFrame } from "./lanes";
import { type State } from "./state";
import { prepare } from "./theme";

const MOST = 5000; // events looked at for frames on the air

export class NodeMap {
  hits: [number, number, number][] = []; // x, y, node
  constructor(private readonly state: State, private readonly canvas: HTMLCanvasElement) {}

  // Shows what is on the air from `from` to the state's time: a drawn frame's share of a running play, or one instant.
  draw(from: number): void {
    const { state } = this, { about, theme, events, index } = state;
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight, context = prepare(this.canvas, width, height);
    const [x0, y0, x1, y1] = about.area, edge = 26;
    const w = Math.max(1, x1 - x0), h = Math.max(1, y1 - y0);
    const zoom = Math.min((width - 2 * edge) / w, (height - 2 * edge) / h);
    const left = (width - w * zoom) / 2, top = (height - h * zoom) / 2;
    const place = (node: number): [number, number] => {
      const [x, y] = state.positions.at(node, state.time);
      return [left + (x - x0) * zoom, top + (y1 - y) * zoom];
    };
    context.strokeStyle = theme.line;
    context.strokeRect(left - 12, top - 12, w * zoom + 24, h * zoom + 24);
    const bar = step(w, 4);
    context.fillStyle = theme.soft;
    context.fillRect(10, height - 8, bar * zoom, 2);
    context.fillText(`${bar >= 1000 ? `${bar / 1000} km` : `${bar} m`}`, 14 + bar * zoom, height - 8);
    const where = about.nodes.map((_, node) => place(node));
    context.strokeStyle = theme.soft;
    context.lineWidth = 1;
    for (const [a, b] of about.links ?? []) line(context, where[a], where[b]);
    const lit = new Map<number, string>();
    const ends = state.time, starts = Math.min(from, ends);
    const nodes = about.nodes.length, each = Math.max(4, Math.floor(MOST / Math.max(1, nodes)));
    for (let node = 0; node < nodes; node++) {
      for (const i of index.overlapping(node, starts, ends + 1, 1, each)) {
        const kind = events.kind(i);
        if (kind > Kind.noise || events.time(i) + Math.max(1, events.duration(i)) <= starts) continue;
        const colour = theme.kind[kind]!;
        if (kind === Kind.transmit) {
          lit.set(node, colour);
          const at = where[node]!;
          context.strokeStyle = colour;
          context.lineWidth = 2;
          context.beginPath();
          context.arc(at[0], at[1], 12, 0, 7);
          context.stroke();
          context.fillStyle = colour;
          context.fillText(frameLabel(about.frames[events.code(i)] ?? ""), at[0] + 12, at[1] - 12);
        } else {
          if (!lit.has(node)) lit.set(node, colour);
          this.arrow(context, where[events.peer(i)], where[node], colour, kind);
        }
      }
    }
    if (state.chosen >= 0) {
      for (const i of sameFrame(state, state.chosen)) {
        const kind = events.kind(i);
        if (kind > Kind.transmit && kind <= Kind.noise) this.arrow(context, where[events.peer(i)], where[events.node(i)], theme.kind[kind]!, kind);
      }
      const own = where[events.node(state.chosen)];
      if (own) {
        context.strokeStyle = theme.accent;
        context.lineWidth = 2;
        context.beginPath();
        context.arc(own[0], own[1], 9, 0, 7);
        context.stroke();
      }
    }
    this.hits = [];
    const crowded = nodes > 40;
    where.forEach(([x, y], node) => {
      context.fillStyle = lit.get(node) ?? theme.soft;
      context.beginPath();
      context.arc(x, y, crowded ? 3 : 5.5, 0, 7);
      context.fill();
      context.fillStyle = theme.text;
      if (!crowded) {
        context.textAlign = x > width - 60 ? "right" : "left";
        context.fillText(state.nodeName(node), x + (x > width - 60 ? -9 : 9), y + 2);
        context.textAlign = "left";
      }
      this.hits.push([x, y, node]);
    });
  }

  private arrow(context: CanvasRenderingContext2D, from: [number, number] | undefined, to: [number, number] | undefined, colour: string, kind: Kind): void {
    context.strokeStyle = colour;
    context.lineWidth = kind === Kind.receive ? 1.6 : 1.3;
    context.setLineDash(kind === Kind.receive ? [] : kind === Kind.collision ? [5, 3] : [1.5, 3]);
    line(context, from, to);
    context.setLineDash([]);
  }

  nodeAt(x: number, y: number): number {
    let best = NONE16, near = 18;
    for (const [a, b, node] of this.hits) {
      const away = Math.hypot(a - x, b - y);
      if (away < near) { near = away; best = node; }
    }
    return best === NONE16 ? -1 : best;
  }
}

function line(context: CanvasRenderingContext2D, from: [number, number] | undefined, to: [number, number] | undefined): void {
  if (!from || !to) return;
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}
