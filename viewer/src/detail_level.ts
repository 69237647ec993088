// Shares of time per class and bin, from levels.bin, for views with too many events to draw one by one.
import { CLASSES, type Description, type Events, Kind, type Level } from "./format";

export class Levels {
  private readonly levels: Level[];
  constructor(about: Description, private readonly bytes: Uint8Array) {
    const nodes = about.nodes.length;
    this.levels = (about.levels ?? []).filter((level) => level.offset + nodes * level.bins * CLASSES <= bytes.length);
  }
  // The coarsest level whose bins are not wider than two pixels, or the finest one.
  choose(nsPerPixel: number): Level | null {
    let best: Level | null = null;
    for (const level of this.levels) {
      if (!best || (level.bin_ns <= 2 * nsPerPixel ? level.bin_ns > best.bin_ns : level.bin_ns < best.bin_ns && best.bin_ns > 2 * nsPerPixel)) best = level;
    }
    return best;
  }
  // Mean shares (0 to 255) of the classes between two times, into `into`.
  shares(level: Level, node: number, from: number, to: number, into: Float64Array): void {
    into.fill(0);
    const start = level.start ?? 0, first = Math.max(0, Math.floor((from - start) / level.bin_ns));
    const last = Math.min(level.bins - 1, Math.max(first, Math.ceil((to - start) / level.bin_ns) - 1));
    if (last < first) return;
    let at = level.offset + (node * level.bins + first) * CLASSES;
    for (let bin = first; bin <= last; bin++) for (let c = 0; c < CLASSES; c++) into[c]! += this.bytes[at++]!;
    for (let c = 0; c < CLASSES; c++) into[c]! /= last - first + 1;
  }
}

const EVENTS_PER_BIN = 8, COARSEST_BINS = 1024, FINEST = 1_500_000; // bins × nodes × classes of the finest level at most
const CLASS_OF = new Map([[Kind.transmit, 0], [Kind.receive, 1], [Kind.collision, 2], [Kind.nav, 3], [Kind.backoff, 4]]);

// The levels of events that are in no file: of a run that goes on.
export function measure(events: Events, nodes: number, start: number, end: number): { levels: Level[]; bytes: Uint8Array } {
  const time = Math.max(1, end - start);
  let bin = 2 ** Math.ceil(Math.log2(Math.max(1, time / Math.max(1, events.count) * EVENTS_PER_BIN)));
  while (nodes * Math.ceil(time / bin) * CLASSES > FINEST) bin *= 2;
  let bins = Math.ceil(time / bin), busy = new Float32Array(nodes * bins * CLASSES); // ns
  for (let i = 0; i < events.count; i++) {
    const c = CLASS_OF.get(events.kind(i)), node = events.node(i);
    if (c === undefined || node >= nodes) continue;
    let from = Math.max(0, events.time(i) - start);
    const until = Math.min(bins * bin, events.time(i) - start + events.duration(i));
    while (from < until) {
      const place = Math.floor(from / bin), next = Math.min(until, (place + 1) * bin);
      busy[(node * bins + place) * CLASSES + c]! += next - from;
      from = next;
    }
  }
  const levels: Level[] = [], parts: Uint8Array[] = [];
  let offset = 0;
  for (;;) {
    const part = new Uint8Array(busy.length);
    for (let k = 0; k < part.length; k++) part[k] = Math.ceil(Math.min(1, busy[k]! / bin) * 255);
    levels.push({ bin_ns: bin, bins, offset, start });
    parts.push(part);
    offset += part.length;
    if (bins <= COARSEST_BINS) break;
    const fewer = Math.ceil(bins / 4), sums = new Float32Array(nodes * fewer * CLASSES);
    for (let node = 0; node < nodes; node++) {
      for (let place = 0; place < bins * CLASSES; place++) {
        sums[(node * fewer + Math.floor(place / CLASSES / 4)) * CLASSES + place % CLASSES]! += busy[node * bins * CLASSES + place]!;
      }
    }
    [busy, bins, bin] = [sums, fewer, bin * 4];
  }
  const bytes = new Uint8Array(offset);
  parts.forEach((part, k) => bytes.set(part, levels[k]!.offset));
  return { levels, bytes };
}
