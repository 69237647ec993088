// Charts of the recorded series, one for each panel and unit, on the lanes' time axis.
import { type Scale, step, toX } from "./axis";
import { clip, drawTime, gutter } from "./lanes";
import { type State } from "./state";
import { prepare } from "./theme";

const TALL = 92;
const MOST_CHARTS = 4;

export class Charts {
  private readonly panels: { title: string; unit: string; series: number[]; peak: number; least: number }[] = [];
  constructor(private readonly state: State, private readonly canvas: HTMLCanvasElement) {
    const { about, samples } = state;
    (about.series ?? []).forEach((series, k) => {
      if (samples.start[k] === samples.start[k + 1]) return;
      let panel = this.panels.find((one) => one.title === series.panel && one.unit === series.unit);
      if (!panel) {
        panel = { title: series.panel, unit: series.unit, series: [], peak: -Infinity, least: 0 };
        this.panels.push(panel);
      }
      panel.series.push(k);
      for (let p = samples.start[k]!; p < samples.start[k + 1]!; p++) {
        const value = samples.value(samples.order[p]!);
        if (value > panel.peak && Number.isFinite(value)) panel.peak = value;
        if (value < panel.least && Number.isFinite(value)) panel.least = value;
      }
    });
    this.panels.splice(MOST_CHARTS);
    canvas.hidden = this.panels.length === 0;
    if (canvas.hidden) canvas.style.display = "none";
  }

  draw(): void {
    if (!this.panels.length) return;
    const { state } = this, { theme, about, samples } = state, width = this.canvas.parentElement!.clientWidth;
    const tall = innerHeight < 700 ? TALL * 0.75 : TALL, height = this.panels.length * tall;
    const context = prepare(this.canvas, width, height), left = gutter(width), scale: Scale = state.scale(left, width - left);
    this.panels.forEach((panel, n) => {
      const top = n * tall + 20, bottom = (n + 1) * tall - 7, range = panel.peak - panel.least || 1;
      const y = (value: number): number => bottom - (value - panel.least) / range * (bottom - top);
      context.fillStyle = theme.line;
      context.fillRect(0, n * tall, width, 1);
      const apart = step(range, tall / 34);
      const [size, prefix] = apart >= 1e6 ? [1e6, "M"] : apart >= 1e3 ? [1e3, "k"] : [1, ""];
      context.textAlign = "right";
      for (let v = Math.ceil(panel.least / apart) * apart; v <= panel.peak + apart * 1e-6; v += apart) {
        context.fillStyle = theme.line;
        context.fillRect(left, y(v), width - left, 0.5);
        context.fillStyle = theme.soft;
        context.fillText(String(Number((v / size).toPrecision(4))), left - 5, y(v));
      }
      context.textAlign = "left";
      context.fillStyle = theme.text;
      context.font = "600 11px system-ui, sans-serif";
      context.fillText(clip(context, `${panel.title} [${prefix}${panel.unit}]`, width / 2), 9, n * tall + 10);
      context.font = "11px system-ui, sans-serif";
      let at = left + 90;
      context.save();
      panel.series.slice(0, 12).forEach((k, colour) => {
        const paint = theme.series[colour % theme.series.length]!, now = samples.at(k, state.time);
        const owner = about.series[k]!, name = owner.flow !== null ? about.flows[owner.flow]?.name : owner.node !== null ? about.nodes[owner.node]?.name : undefined;
        const text = `${owner.name}${name ? ` ${name}` : ""}${now === null ? "" : `: ${Number((now / size).toPrecision(4))}`}`;
        if (at + 40 < width) {
          context.fillStyle = paint;
          context.fillRect(at, n * tall + 9, 10, 3);
          context.fillStyle = theme.soft;
          context.fillText(text, at + 14, n * tall + 10);
          at += context.measureText(text).width + 26;
        }
        this.line(context, k, scale, y, paint);
      });
      context.restore();
    });
    drawTime(context, state, scale, height);
  }

  // A stepped line; where samples are denser than pixels, each column spans its least and greatest value.
  private line(context: CanvasRenderingContext2D, k: number, scale: Scale, y: (value: number) => number, colour: string): void {
    const { samples } = this.state;
    const first = Math.max(samples.start[k]!, samples.after(k, scale.from) - 1), end = Math.min(samples.start[k + 1]!, samples.after(k, scale.to) + 1);
    const stride = Math.max(1, Math.floor((end - first) / (20 * scale.width)));
    context.strokeStyle = colour;
    context.lineWidth = 1.4;
    context.beginPath();
    let column = -1e9, low = 0, high = 0, before = NaN;
    const right = scale.left + scale.width;
    for (let p = first; p < end; p += stride) {
      const i = samples.order[p]!, v = y(samples.value(i));
      if (!Number.isFinite(v)) continue;
      const x = Math.min(right, Math.max(scale.left, toX(scale, samples.time(i))));
      if (Math.round(x) === column) {
        if (v < low || v > high) {
          low = Math.min(low, v);
          high = Math.max(high, v);
          context.lineTo(x, v);
        }
      } else {
        if (Number.isNaN(before)) context.moveTo(x, v);
        else { context.lineTo(x, before); context.lineTo(x, v); }
        column = Math.round(x);
        low = high = v;
      }
      before = v;
    }
    if (!Number.isNaN(before) && samples.start[k + 1] === end) context.lineTo(Math.min(right, toX(scale, this.state.end)), before);
    context.stroke();
  }
}
