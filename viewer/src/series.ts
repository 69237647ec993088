// Samples of each series, and where nodes are at a time.
import { SAMPLE_BYTES } from "./format";

// Records of 24 bytes, sorted by their owner (a series or a node) and within it by time.
class Grouped {
  readonly count: number;
  protected readonly u32: Uint32Array;
  readonly start: Uint32Array;
  readonly order: Uint32Array;
  constructor(buffer: ArrayBuffer, owners: number) {
    this.count = Math.floor(buffer.byteLength / SAMPLE_BYTES);
    this.u32 = new Uint32Array(buffer, 0, this.count * 6);
    this.start = new Uint32Array(owners + 1);
    for (let i = 0; i < this.count; i++) if (this.owner(i) < owners) this.start[this.owner(i) + 1]!++;
    for (let k = 0; k < owners; k++) this.start[k + 1]! += this.start[k]!;
    const next = this.start.slice();
    this.order = new Uint32Array(this.start[owners]!);
    for (let i = 0; i < this.count; i++) if (this.owner(i) < owners) this.order[next[this.owner(i)]!++] = i;
  }
  private owner(i: number): number { return this.u32[i * 6 + 2]!; }
  time(i: number): number { return this.u32[i * 6]! + this.u32[i * 6 + 1]! * 4294967296; }
  // The place in `order` of the owner's first record after `time`.
  after(owner: number, time: number): number {
    let low = this.start[owner]!, high = this.start[owner + 1]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.time(this.order[middle]!) <= time) low = middle + 1; else high = middle;
    }
    return low;
  }
}

export class Samples extends Grouped {
  private readonly f64: Float64Array;
  constructor(buffer: ArrayBuffer, series: number) {
    super(buffer, series);
    this.f64 = new Float64Array(buffer, 0, this.count * 3);
  }
  value(i: number): number { return this.f64[i * 3 + 2]!; }
  at(series: number, time: number): number | null {
    const place = this.after(series, time);
    return place > this.start[series]! ? this.value(this.order[place - 1]!) : null;
  }
}

export class Positions extends Grouped {
  private readonly f32: Float32Array;
  constructor(buffer: ArrayBuffer, private readonly nodes: { x: number; y: number }[]) {
    super(buffer, nodes.length);
    this.f32 = new Float32Array(buffer, 0, this.count * 6);
  }
  // Metres; linear between two records of the node.
  at(node: number, time: number): [number, number] {
    const first = this.start[node]!, end = this.start[node + 1]!;
    if (first === end) return [this.nodes[node]!.x, this.nodes[node]!.y];
    const place = this.after(node, time);
    const a = this.order[Math.max(first, place - 1)]!, b = this.order[Math.min(end - 1, place)]!;
    const ta = this.time(a), tb = this.time(b);
    const share = tb > ta ? Math.min(1, Math.max(0, (time - ta) / (tb - ta))) : 0;
    const x = this.f32[a * 6 + 4]!, y = this.f32[a * 6 + 5]!;
    return [x + (this.f32[b * 6 + 4]! - x) * share, y + (this.f32[b * 6 + 5]! - y) * share];
  }
}
