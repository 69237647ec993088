// The whole run in one strip, with the visible part marked, and the axis of the visible part.
import { instant, span, ticks, toTime, toX, type Scale } from "./axis";
import { CLASSES, Kind } from "./format";
import { clip } from "./lanes";
import { type State } from "./state";
import { prepare } from "./theme";

const TALL = 34;

export class Overview {
  private load: Float32Array | null = null; // greatest share of transmissions over the nodes, per pixel
  constructor(private readonly state: State, private readonly canvas: HTMLCanvasElement, private readonly axis: HTMLCanvasElement) {
    let start: number | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      start = event.offsetX;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (start === null || Math.abs(event.offsetX - start) < 4) return;
      const ends = [start, event.offsetX].map((x) => toTime(this.whole(), x)).sort((a, b) => a - b);
      state.leave();
      state.zoom(ends[0]!, ends[1]!);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (start !== null && Math.abs(event.offsetX - start) < 4) {
        const time = toTime(this.whole(), event.offsetX), half = (state.to - state.from) / 2;
        state.leave();
        state.zoom(time - half, time + half);
      }
      start = null;
    });
  }
  private whole(): Scale {
    return { ...this.state.scale, from: this.state.begin, to: this.state.end };
  }
  // The events have changed.
  refresh(): void { this.load = null; }
  draw(): void {
    const { state } = this, { theme } = state, scale = this.whole(), width = scale.left + scale.width;
    const context = prepare(this.canvas, width, TALL), columns = Math.max(1, Math.floor(scale.width));
    if (this.load?.length !== columns) this.load = this.measure(columns, scale);
    context.fillStyle = theme.soft;
    context.fillText(clip(context, state.begin > 0 ? "Kept" : "Whole run", scale.left - 8), 5, 12);
    context.fillText(clip(context, span(state.end - state.begin), scale.left - 8), 5, 25);
    context.fillStyle = theme.faint;
    context.fillRect(scale.left, 2, scale.width, TALL - 4);
    context.fillStyle = theme.kind[Kind.transmit]!;
    for (let x = 0; x < columns; x++) {
      const h = this.load[x]! * (TALL - 6);
      if (h > 0) context.fillRect(scale.left + x, TALL - 3 - Math.max(1, h), 1, Math.max(1, h));
    }
    const a = toX(scale, state.from), b = Math.max(a + 2, toX(scale, state.to));
    context.fillStyle = theme.panel;
    context.globalAlpha = 0.6;
    context.fillRect(scale.left, 2, a - scale.left, TALL - 4);
    context.fillRect(b, 2, width - b, TALL - 4);
    context.globalAlpha = 1;
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(a + 0.75, 1.5, b - a - 1.5, TALL - 3);
    context.fillStyle = theme.accent;
    context.fillRect(toX(scale, state.time) - 0.75, 0, 1.5, TALL);
    this.drawAxis(width);
  }
  // From the finest affordable level, else from where events are.
  private measure(columns: number, scale: Scale): Float32Array {
    const { state } = this, load = new Float32Array(columns), level = state.levels.choose((scale.to - scale.from) / columns);
    const shares = new Float64Array(CLASSES), nodes = state.about.nodes.length;
    if (level) {
      for (let x = 0; x < columns; x++) {
        const from = scale.from + x / columns * (scale.to - scale.from), to = from + (scale.to - scale.from) / columns;
        let total = 0;
        for (let node = 0; node < nodes; node++) {
          state.levels.shares(level, node, from, to, shares);
          total += shares[0]! / 255;
        }
        load[x] = Math.min(1, total);
      }
      return load;
    }
    const { events } = state;
    for (let i = 0; i < events.count; i += Math.ceil(events.count / 1e6)) {
      if (events.kind(i) === Kind.transmit) load[Math.min(columns - 1, Math.max(0, Math.floor((events.time(i) - scale.from) / (scale.to - scale.from) * columns)))]! += events.duration(i) / (scale.to - scale.from) * columns;
    }
    return load.map((share) => Math.min(1, share));
  }
  private drawAxis(width: number): void {
    const { state } = this, { scale } = state, { left } = scale, context = prepare(this.axis, width, 24), marks = ticks(scale), { theme } = state;
    context.fillStyle = theme.text;
    context.font = "600 10.5px system-ui, sans-serif";
    if (marks.base) context.fillText(clip(context, instant(marks.base, marks.digits), left - 10), 5, 12);
    else context.fillText("Time", 5, 12);
    context.font = "11px system-ui, sans-serif";
    for (const time of marks.at) {
      const x = toX(scale, time), text = marks.label(time), wide = context.measureText(text).width;
      context.fillStyle = theme.line;
      context.fillRect(x, 17, 1, 7);
      context.fillStyle = theme.soft;
      context.fillText(text, Math.max(left, Math.min(width - wide - 3, x - wide / 2)), 9);
    }
  }
}
