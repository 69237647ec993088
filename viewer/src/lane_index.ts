// The events of each node in order of time: a counting sort of their numbers.
import { type Events, Kind, KINDS } from "./format";

export class LaneIndex {
  readonly order: Uint32Array; // numbers of events, one node after another
  readonly start: Uint32Array; // where in `order` each node begins
  readonly longest: Float64Array; // longest duration of each node's events on its lane, ns
  readonly byKind: Float64Array; // how many events of each kind there are
  readonly rare: Map<Kind, Uint32Array>; // drops, media frames and stalls, which stay visible at every zoom
  constructor(private readonly events: Events, readonly nodes: number) {
    const count = events.count;
    this.start = new Uint32Array(nodes + 1);
    this.longest = new Float64Array(nodes);
    this.byKind = new Float64Array(256);
    for (let i = 0; i < count; i++) {
      const node = events.node(i), kind = events.kind(i);
      this.byKind[kind]!++;
      if (node >= nodes) continue;
      this.start[node + 1]!++;
      if (kind < Kind.enqueue && events.duration(i) > this.longest[node]!) this.longest[node] = events.duration(i);
    }
    for (let node = 0; node < nodes; node++) this.start[node + 1]! += this.start[node]!;
    const next = this.start.slice();
    this.order = new Uint32Array(this.start[nodes]!);
    this.rare = new Map();
    const filled = new Map<Kind, number>();
    for (const kind of [Kind.drop, Kind.media, Kind.stall]) {
      this.rare.set(kind, new Uint32Array(this.byKind[kind]!));
      filled.set(kind, 0);
    }
    for (let i = 0; i < count; i++) {
      const node = events.node(i), kind = events.kind(i);
      if (node < nodes) this.order[next[node]!++] = i;
      if (kind === Kind.drop || kind >= Kind.media && kind < KINDS) {
        const at = filled.get(kind)!;
        this.rare.get(kind)![at] = i;
        filled.set(kind, at + 1);
      }
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
  // The places in `order` of the node's events that overlap the span; some of the first may end before it.
  span(node: number, from: number, to: number): [number, number] {
    return [this.from(node, from - this.longest[node]!), this.from(node, to)];
  }
  // The first of a rare kind's events that does not start before `time`.
  rareFrom(kind: Kind, time: number): number {
    const list = this.rare.get(kind)!;
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.events.time(list[middle]!) < time) low = middle + 1; else high = middle;
    }
    return low;
  }
}
