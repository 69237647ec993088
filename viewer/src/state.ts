// What all parts of the page share: the recording, its indexes, the visible span, the time and the chosen event.
import { type Scale, toTime } from "./axis";
import { Levels } from "./detail_level";
import { type Description, type Events, NONE16, NONE32, type Recording } from "./format";
import { LaneIndex } from "./lane_index";
import { Positions, Samples } from "./series";
import { readTheme, type Theme } from "./theme";

export const SHORTEST = 1000; // ns: the narrowest view
const FOLLOWED = 2e9; // ns
const REACH = 200000; // events looked at on either side for those of the same frame

export class State {
  readonly about: Description;
  events: Events;
  index: LaneIndex;
  levels: Levels;
  samples: Samples;
  positions: Positions;
  begin = 0; // ns; what was before is not kept
  end: number; // ns
  from = 0;
  to: number;
  time = 0;
  width = 1; // CSS pixels of the lanes, and of all that shares their time axis
  chosen = -1; // an event's number
  following = false; // the view goes along with a run that goes on
  wide = FOLLOWED; // ns: the view's width while it follows, if there is as much
  theme: Theme = readTheme();
  private readonly transmissions = new Map<number, number[]>(); // by event, for drawings that follow each other
  changed: () => void = () => undefined;
  left: () => void = () => undefined; // called when the view stops following
  constructor(recording: Recording) {
    this.about = recording.about;
    this.events = recording.events;
    this.index = new LaneIndex(this.events, this.about.nodes.length);
    this.levels = new Levels(this.about, recording.levels);
    this.samples = new Samples(recording.samples, (this.about.series ?? []).length);
    this.positions = new Positions(recording.positions, this.about.nodes);
    this.end = Math.max(SHORTEST, this.about.duration_ns, this.events.count ? this.events.time(this.events.count - 1) : 0);
    this.to = this.end;
  }
  nodeName(node: number): string { return node === NONE16 ? "all" : this.about.nodes[node]?.name ?? `node ${node}`; }
  // Takes over what is kept of a run that goes on; `removed` events at the start are gone.
  update(recording: Recording, begin: number, end: number, removed: number): void {
    this.events = recording.events;
    this.index = new LaneIndex(this.events, this.about.nodes.length);
    this.levels = new Levels(this.about, recording.levels);
    this.samples = new Samples(recording.samples, this.about.series.length);
    this.positions = new Positions(recording.positions, this.about.nodes);
    this.transmissions.clear();
    this.chosen = Math.max(-1, this.chosen - removed);
    this.begin = begin;
    this.end = Math.max(begin + SHORTEST, end);
    this.to = this.time = this.end;
    this.from = Math.max(begin, this.end - this.wide);
    this.changed();
  }
  leave(): void {
    if (!this.following) return;
    this.following = false;
    this.left();
  }
  zoom(from: number, to: number): void {
    const all = this.end - this.begin, width = Math.min(all, Math.max(SHORTEST, to - from));
    const middle = (from + to) / 2;
    this.from = Math.max(this.begin, Math.min(this.end - width, middle - width / 2));
    this.to = this.from + width;
    this.wide = width < all ? width : Infinity;
    this.changed();
  }
  zoomAt(time: number, factor: number): void {
    const width = Math.min(this.end - this.begin, Math.max(SHORTEST, (this.to - this.from) * factor));
    const from = time - (time - this.from) / (this.to - this.from) * width;
    this.zoom(from, from + width);
  }
  move(ns: number): void { this.leave(); this.zoom(this.from + ns, this.to + ns); }
  seek(time: number): void {
    this.leave();
    this.time = Math.max(this.begin, Math.min(this.end, time));
    if (this.time < this.from || this.time > this.to) {
      const width = this.to - this.from;
      this.zoom(this.time - width * 0.1, this.time + width * 0.9);
    }
    this.changed();
  }
  // The events of one transmission: its own and those at its receivers, which start within a second of it.
  sameFrame(i: number): number[] {
    const known = this.transmissions.get(i);
    if (known) return known;
    const { events } = this, frame = events.frame(i), found: number[] = [];
    if (frame === NONE32) return [i];
    const time = events.time(i);
    let first = i, last = i;
    while (first > 0 && i - first < REACH && time - events.time(first - 1) < 1e9) if (events.frame(--first) === frame) found.push(first);
    found.reverse().push(i);
    while (last < events.count - 1 && last - i < REACH && events.time(last + 1) - time < 1e9) if (events.frame(++last) === frame) found.push(last);
    if (this.transmissions.size > 100) this.transmissions.clear();
    this.transmissions.set(i, found);
    return found;
  }
  choose(event: number): void {
    this.chosen = event;
    if (event >= 0) this.seek(this.events.time(event));
    this.changed();
  }
  get gutter(): number { return this.width < 600 ? 62 : 104; } // CSS pixels left of the time axis
  get scale(): Scale { return { from: this.from, to: this.to, left: this.gutter, width: Math.max(1, this.width - this.gutter) }; }
}

// Pointers on a canvas with a time axis: drag moves, pinch and wheel zoom, a click calls `click`.
export function timePointer(canvas: HTMLCanvasElement, state: State, click: (x: number, y: number) => void): void {
  const down = new Map<number, { x: number; y: number }>();
  let travelled = 0;
  canvas.addEventListener("pointerdown", (event) => {
    if (down.size === 0) travelled = 0;
    down.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    if (!before) return;
    const now = { x: event.offsetX, y: event.offsetY };
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const was = Math.abs(before.x - other.x), is = Math.abs(now.x - other.x);
      if (was > 8 && is > 8) state.zoomAt(toTime(state.scale, (now.x + other.x) / 2), was / is);
    } else if (travelled > 4) {
      state.move((before.x - now.x) * (state.to - state.from) / state.scale.width);
    }
    down.set(event.pointerId, now);
  });
  const up = (event: PointerEvent): void => {
    if (down.delete(event.pointerId) && event.type === "pointerup" && travelled <= 4) click(event.offsetX, event.offsetY);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("wheel", (event) => {
    if (event.shiftKey || event.offsetX < state.gutter) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) state.move(event.deltaX * (state.to - state.from) / state.scale.width);
    else state.zoomAt(toTime(state.scale, event.offsetX), Math.exp(event.deltaY * 0.002));
  }, { passive: false });
}
