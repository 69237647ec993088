// The events of each node in order of time: a counting sort of their numbers.
import { type Events, Kind, KINDS } from "./format";

const BLOCK = 256; // events

// Events of one kind, with what every drawing needs of them side by side: records far apart in memory are slow to read.
export class Rare {
  readonly event: Uint32Array;
  readonly time: Float64Array; // ns
  readonly node: Uint16Array;
  readonly code: Uint8Array;
  private filled = 0;
  constructor(readonly length: number) {
    this.event = new Uint32Array(length);
    this.time = new Float64Array(length);
    this.node = new Uint16Array(length);
    this.code = new Uint8Array(length);
  }
  push(events: Events, i: number): void {
    const at = this.filled++;
    this.event[at] = i;
    this.time[at] = events.time(i);
    this.node[at] = events.node(i);
    this.code[at] = events.code(i);
  }
  // The first that does not start before `time`.
  from(time: number): number {
    let low = 0, high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.time[middle]! < time) low = middle + 1; else high = middle;
    }
    return low;
  }
}

export class LaneIndex {
  readonly order: Uint32Array; // numbers of events, one node after another
  readonly start: Uint32Array; // where in `order` each node begins
  private readonly ends: Float64Array; // latest end in each block of `order`, ns: a long event is found without a scan
  readonly byKind: Float64Array; // how many events of each kind there are
  readonly rare: Map<Kind, Rare>; // drops, media frames and stalls, which stay visible at every zoom
  constructor(private readonly events: Events, readonly nodes: number) {
    const count = events.count;
    this.start = new Uint32Array(nodes + 1);
    this.byKind = new Float64Array(256);
    for (let i = 0; i < count; i++) {
      const node = events.node(i), kind = events.kind(i);
      this.byKind[kind]!++;
      if (node >= nodes) continue;
      this.start[node + 1]!++;
    }
    for (let node = 0; node < nodes; node++) this.start[node + 1]! += this.start[node]!;
    const next = this.start.slice();
    this.order = new Uint32Array(this.start[nodes]!);
    this.ends = new Float64Array(Math.ceil(this.order.length / BLOCK));
    this.rare = new Map();
    for (const kind of [Kind.drop, Kind.media, Kind.stall]) this.rare.set(kind, new Rare(this.byKind[kind]!));
    for (let i = 0; i < count; i++) {
      const node = events.node(i), kind = events.kind(i);
      if (node < nodes) {
        const place = next[node]!++, block = Math.floor(place / BLOCK), end = events.time(i) + events.duration(i);
        this.order[place] = i;
        if (end > this.ends[block]!) this.ends[block] = end;
      }
      if (kind === Kind.drop || kind >= Kind.media && kind < KINDS) this.rare.get(kind)!.push(events, i);
    }
  }
  // The place in `order` of the node's first event that does not start before `time`.
  from(node: number, time: number): number {
    let low = this.start[node]!, high = this.start[node + 1]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.events.time(this.order[middle]!) < time) low = middle + 1; else high = middle;
    }
    return low;
  }
  // How many of the node's events start in the span.
  starting(node: number, from: number, to: number): number { return this.from(node, to) - this.from(node, from); }
  // The node's events that overlap the span, in order of time; of those that start in it, every `stride`-th of the last `most`.
  overlapping(node: number, from: number, to: number, stride = 1, most = Infinity): number[] {
    const { events, order } = this, found: number[] = [], inside = this.from(node, from), end = this.from(node, to);
    for (let place = this.start[node]!; place < inside;) {
      const block = Math.floor(place / BLOCK), stop = Math.min(inside, (block + 1) * BLOCK);
      if (this.ends[block]! > from) {
        for (; place < stop; place++) if (events.time(order[place]!) + events.duration(order[place]!) > from) found.push(order[place]!);
      }
      place = stop;
    }
    for (let place = Math.max(inside, end - most); place < end; place += stride) found.push(order[place]!);
    return found;
  }
}
