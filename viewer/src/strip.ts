// The media strip: frames on time, late and lost, and stalls, for each player.
import { toTime, toX } from "./axis";
import { Kind } from "./format";
import { clip, drawTime } from "./lanes";
import { type State } from "./state";
import { prepare, stripes } from "./theme";

const ROW = 22;
const HEAD = 17;

export class Strip {
  private players: number[] = [];
  constructor(private readonly state: State, private readonly canvas: HTMLCanvasElement) { this.refresh(); }
  // Looks for players again; those of before stay.
  refresh(): void {
    const { index } = this.state, nodes = new Set<number>(this.players);
    for (const kind of [Kind.media, Kind.stall]) for (const node of index.rare.get(kind)!.node) nodes.add(node);
    this.players = [...nodes].sort((a, b) => a - b);
    this.canvas.style.display = this.players.length ? "" : "none";
  }

  get height(): number { return this.players.length ? HEAD + ROW * this.players.length + 4 : 0; }

  draw(): void {
    if (!this.players.length) return;
    const { state } = this, { events, index, theme, width, scale } = state;
    const { height } = this, context = prepare(this.canvas, width, height);
    const { left } = scale, edge = left + scale.width;
    context.fillStyle = theme.line;
    context.fillRect(0, 0, width, 1);
    context.fillStyle = theme.text;
    context.font = "600 11px system-ui, sans-serif";
    context.fillText("Media", 9, 10);
    context.font = "11px system-ui, sans-serif";
    const colours = [theme.kind[Kind.receive]!, theme.kind[Kind.backoff]!, theme.kind[Kind.collision]!], tall = [6, 10, 15];
    let at = left;
    ["on time", "late", "lost", "stall"].forEach((text, n) => {
      context.fillStyle = n < 3 ? colours[n]! : stripes(context, theme.kind[Kind.drop]!, false);
      context.fillRect(at, 5, 10, 10);
      context.fillStyle = theme.soft;
      context.fillText(text, at + 14, 10);
      at += context.measureText(text).width + 26;
    });
    const worst = new Int8Array(Math.ceil(scale.width) + 2), hatch = stripes(context, theme.kind[Kind.drop]!, false);
    this.players.forEach((player, row) => {
      const y = HEAD + row * ROW, list = index.rare.get(Kind.media)!;
      context.fillStyle = theme.soft;
      context.fillText(clip(context, state.nodeName(player), left - 14), 9, y + ROW / 2);
      worst.fill(-1);
      for (let k = list.from(scale.from); k < list.length && list.time[k]! <= scale.to; k++) {
        if (list.node[k] !== player) continue;
        const column = Math.floor(toX(scale, list.time[k]!) - left);
        if (list.code[k]! > worst[column]!) worst[column] = list.code[k]!;
      }
      for (let column = 0; column <= scale.width; column++) {
        const code = worst[column]!;
        if (code < 0) continue;
        context.fillStyle = colours[Math.min(2, code)]!;
        const h = tall[Math.min(2, code)]!;
        context.fillRect(left + column, y + ROW - 3 - h, 2, h);
      }
      context.fillStyle = hatch;
      let drawn = -1;
      for (const i of index.rare.get(Kind.stall)!.event) {
        if (events.node(i) !== player) continue;
        const x = Math.max(left, toX(scale, events.time(i))), right = Math.min(edge, toX(scale, events.time(i) + events.duration(i)));
        if (events.time(i) > scale.to) break;
        if (right < x || right < drawn + 1) continue;
        drawn = Math.max(right, x + 2);
        context.fillRect(x, y + 4, drawn - x, ROW - 7);
      }
    });
    drawTime(context, state, scale, height);
  }

  // The media event nearest to a point, or -1.
  pick(x: number, y: number): number {
    const { state } = this, { events, index, scale } = state;
    const player = this.players[Math.floor((y - HEAD) / ROW)];
    const margin = 6 * (scale.to - scale.from) / scale.width, time = toTime(scale, x);
    let best = -1, near = Infinity;
    for (const kind of [Kind.media, Kind.stall]) {
      const list = index.rare.get(kind)!;
      for (let k = kind === Kind.stall ? 0 : list.from(time - margin); k < list.length; k++) {
        const i = list.event[k]!;
        if (events.time(i) > time + margin) break;
        const away = Math.max(0, events.time(i) - time, time - events.time(i) - events.duration(i));
        if (events.node(i) === player && away <= margin && away < near) { best = i; near = away; }
      }
    }
    return best;
  }
}
