// Charts of the recorded series, one for each panel and unit, on the lanes' time axis.
import { type Scale, step, toX } from "./axis";
import { type Series } from "./format";
import { clip, drawTime } from "./lanes";
import { type State } from "./state";
import { prepare } from "./theme";

const LEAST_TALL = 92, MOST_TALL = 170; // CSS pixels of a chart
const DASHES = [[], [6, 3], [2, 2]]; // for series beyond the colours

interface Panel { title: string; unit: string; series: number[]; peak: number; least: number }

export class Charts {
  private readonly panels: Panel[] = [];
  private tall = LEAST_TALL;
  constructor(private readonly state: State, private readonly canvas: HTMLCanvasElement) { this.refresh(); }
  // Looks at the samples anew. Panels stay where they are.
  refresh(): void {
    const { about, samples } = this.state;
    for (const panel of this.panels) {
      panel.series = [];
      panel.peak = -Infinity;
      panel.least = 0;
    }
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
    this.canvas.style.display = this.panels.length ? "" : "none";
  }
  get least(): number { return this.panels.length * LEAST_TALL; }
  // Charts take what room the lanes leave.
  fit(height: number): void {
    this.tall = Math.floor(Math.max(LEAST_TALL, Math.min(MOST_TALL, height / Math.max(1, this.panels.length))));
  }

  draw(): void {
    if (!this.panels.length) return;
    const { state, tall } = this, { theme, samples, width, scale } = state, { left } = scale, height = this.panels.length * tall;
    const context = prepare(this.canvas, width, height);
    this.panels.forEach((panel, n) => {
      const head = n * tall, top = head + (left > 80 ? 20 : 26), bottom = head + tall - 8, range = panel.peak - panel.least || 1;
      const y = (value: number): number => bottom - (value - panel.least) / range * (bottom - top);
      const [size, unit] = scaled(panel);
      context.fillStyle = theme.line;
      context.fillRect(0, head, width, 1);
      context.fillRect(left - 1, head, 1, tall);
      context.textAlign = "right";
      const apart = step(range, (bottom - top) / 26);
      for (let v = Math.ceil(panel.least / apart) * apart; v <= panel.peak + apart * 1e-6; v += apart) {
        context.fillStyle = theme.line;
        context.fillRect(left, y(v), width - left, 0.5);
        context.fillStyle = theme.soft;
        context.fillText(String(Number((v / size).toPrecision(4))), left - 6, y(v));
      }
      context.textAlign = "left";
      panel.series.forEach((k, place) => this.line(context, k, scale, y, ...this.look(place)));
      const wide = left > 80, title = wide ? panel.title : `${panel.title}${unit ? ` [${unit}]` : ""}`;
      context.fillStyle = theme.text;
      context.font = "600 11px system-ui, sans-serif";
      context.fillText(clip(context, title, wide ? left - 12 : width / 2), 9, head + 11);
      const titled = 9 + context.measureText(title).width;
      context.font = "11px system-ui, sans-serif";
      context.fillStyle = theme.soft;
      if (wide && unit) context.fillText(`[${unit}]`, 9, head + 26);
      this.names(context, panel, Math.max(left + 8, wide ? 0 : titled + 12), head + 11, size, (k) => samples.at(k, state.time));
    });
    drawTime(context, state, scale, height);
  }

  // The series with their values at the time, as many as fit.
  private names(context: CanvasRenderingContext2D, panel: Panel, from: number, y: number, size: number, now: (k: number) => number | null): void {
    const { about, theme, width } = this.state;
    const alike = new Set(panel.series.map((k) => about.series[k]!.name)).size === 1;
    let at = from;
    for (let place = 0; place < panel.series.length; place++) {
      const series = about.series[panel.series[place]!]!, value = now(panel.series[place]!);
      const owner = about.measured ? this.host(series) : series.flow !== null ? about.flows[series.flow]?.name : series.node !== null ? about.nodes[series.node]?.name : undefined;
      const name = owner === undefined ? series.name : alike && !about.measured ? owner : `${series.name} ${owner}`;
      const text = `${name}${value === null ? "" : ` ${Number((value / size).toPrecision(3))}`}`;
      const more = panel.series.length - place, rest = more > 1 ? 78 : 0;
      if (at + 16 + context.measureText(text).width + rest > width) {
        context.fillStyle = theme.soft;
        context.fillText(`and ${more} more`, at, y);
        return;
      }
      const [colour, dash] = this.look(place);
      context.strokeStyle = colour;
      context.lineWidth = 2.5;
      context.setLineDash(dash);
      context.beginPath();
      context.moveTo(at, y);
      context.lineTo(at + 12, y);
      context.stroke();
      context.setLineDash([]);
      context.fillStyle = theme.soft;
      context.fillText(text, at + 16, y);
      at += context.measureText(text).width + 30;
    }
  }

  // What a measured series is about, where its name does not say it: its host, and its flow if there are several.
  private host({ node, flow }: Series): string | undefined {
    const { about } = this.state, flows = about.flows.length > 1 && flow !== null ? [about.flows[flow]!.name] : [];
    return [...node !== null && about.nodes[node] ? [about.nodes[node].name] : [], ...flows].join(" ") || undefined;
  }

  private look(place: number): [string, number[]] {
    const { series } = this.state.theme;
    return [series[place % series.length]!, DASHES[Math.floor(place / series.length) % DASHES.length]!];
  }

  // A stepped line; where samples are denser than pixels, each column spans its least and greatest value.
  private line(context: CanvasRenderingContext2D, k: number, scale: Scale, y: (value: number) => number, colour: string, dash: number[]): void {
    const { samples } = this.state;
    const first = Math.max(samples.start[k]!, samples.after(k, scale.from) - 1), end = Math.min(samples.start[k + 1]!, samples.after(k, scale.to) + 1);
    const stride = Math.max(1, Math.floor((end - first) / (20 * scale.width)));
    context.strokeStyle = colour;
    context.lineWidth = 1.4;
    context.setLineDash(dash);
    context.beginPath();
    let column = -1e9, low = 0, high = 0, before = NaN;
    const right = scale.left + scale.width;
    for (let p = first; p < end; p += stride) {
      const i = samples.order[p]!, v = y(samples.value(i));
      if (!Number.isFinite(v)) continue;
      const x = Math.max(scale.left, toX(scale, samples.time(i)));
      if (x >= right) {
        if (!Number.isNaN(before)) context.lineTo(right, before);
        before = NaN;
        break;
      }
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
    context.setLineDash([]);
  }
}

// The factor and the unit in which a panel's values are short numbers. A pure number has no unit.
function scaled({ unit, peak, least }: Panel): [number, string] {
  const greatest = Math.max(peak, -least), short = unit === "1" ? "" : unit.replace("bit/s", "b/s");
  if (short === "s" && greatest < 1) return greatest < 1e-3 ? [1e-6, "µs"] : [1e-3, "ms"];
  if (short !== "b/s" && short !== "B") return [1, short];
  return greatest >= 2e9 ? [1e9, `G${short}`] : greatest >= 2e6 ? [1e6, `M${short}`] : greatest >= 2e3 ? [1e3, `k${short}`] : [1, short];
}
