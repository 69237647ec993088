// Shares of time per class and bin, from levels.bin, for views with too many events to draw one by one.
import { CLASSES, type Description, type Level } from "./format";

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
    const first = Math.max(0, Math.floor(from / level.bin_ns));
    const last = Math.min(level.bins - 1, Math.max(first, Math.ceil(to / level.bin_ns) - 1));
    if (last < first) return;
    let at = level.offset + (node * level.bins + first) * CLASSES;
    for (let bin = first; bin <= last; bin++) for (let c = 0; c < CLASSES; c++) into[c]! += this.bytes[at++]!;
    for (let c = 0; c < CLASSES; c++) into[c]! /= last - first + 1;
  }
}
