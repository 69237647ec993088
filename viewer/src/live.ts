// Follows a run that goes on: asks for its news, and keeps the latest of them.
import { measure } from "./detail_level";
import { type Description, EVENT_BYTES, Events, KINDS, type Recording, SAMPLE_BYTES } from "./format";

const PERIOD = 250; // ms between two questions
const TRIES = 5; // questions without an answer, after which the run is lost

interface Lot { time: number; events: Uint8Array; samples: Uint8Array; positions: Uint8Array }
interface Head {
  run: number; over: boolean; first: number; before: number[]; missed: number;
  lots: [number, number, number, number][]; more: boolean;
}
export interface Kept { recording: Recording; begin: number; end: number; removed: number } // removed: events since the last call

export class Live {
  readonly counts = new Float64Array(KINDS); // by kind, from the start of the run
  over = false;
  problem = "";
  missed = 0; // events that hopcast did not get to its page
  private stopped = false;
  private lots: Lot[] = [];
  private bytes = 0;
  private next = 0;
  private time = 0; // ns
  private removed = 0;
  private forgot = false; // the lots do not begin with the run
  // The last record of each series and node before the lots.
  private readonly samples = new Map<number, Uint8Array>();
  private readonly positions = new Map<number, Uint8Array>();
  private readonly page = Math.floor(Math.random() * 2 ** 53);
  constructor(private readonly about: Description) {}

  stop(): void { this.stopped = true; }
  // Asks until the run is over or lost; calls `changed` after each answer.
  async run(changed: () => void): Promise<void> {
    for (let failed = 0; !this.over && !this.problem && !this.stopped;) {
      const began = performance.now();
      let more = false;
      try {
        more = await this.ask();
        failed = 0;
      } catch {
        if (++failed === TRIES) this.problem = "hopcast does not answer any more. The page shows what it has.";
      }
      changed();
      if (!more) await new Promise((done) => setTimeout(done, Math.max(50, PERIOD * (failed ? 4 : 1) - (performance.now() - began))));
    }
  }

  private async ask(): Promise<boolean> {
    const answer = await fetch(`live?from=${this.next}&page=${this.page}`);
    if (!answer.ok) throw new Error(answer.statusText);
    const buffer = await answer.arrayBuffer(), long = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, long))) as Head;
    if (head.run !== this.about.live?.run) {
      this.problem = "Another emulation answers at this address. Reload the page to see it.";
      return false;
    }
    if (head.first > this.next) { // lots that were not asked for in time
      this.forget(this.lots.length);
      this.forgot = true;
    }
    this.counts.set(head.before);
    let at = 4 + long;
    const take = (length: number): Uint8Array => new Uint8Array(buffer, (at += length) - length, length);
    for (const [time, events, samples, positions] of head.lots) {
      const lot = { time, events: take(events), samples: take(samples), positions: take(positions) };
      for (let record = 16; record < events; record += EVENT_BYTES) this.counts[lot.events[record]!]!++;
      this.lots.push(lot);
      this.bytes += events + samples + positions;
      this.time = time;
    }
    this.next = head.first + head.lots.length;
    this.missed = head.missed;
    this.over = head.over;
    let old = 0;
    for (let bytes = this.bytes; bytes > this.about.live.window_bytes && old < this.lots.length - 1; old++) bytes -= size(this.lots[old]!);
    this.forget(old);
    return head.more;
  }

  private forget(lots: number): void {
    for (const lot of this.lots.splice(0, lots)) {
      this.bytes -= size(lot);
      this.removed += lot.events.length / EVENT_BYTES;
      this.forgot = true;
      last(lot.samples, this.samples);
      last(lot.positions, this.positions);
    }
  }

  // What is kept, as a recording.
  kept(): Kept {
    const { about } = this, events = new Events(join(this.lots.map((lot) => lot.events)));
    const samples = join([...this.samples.values(), ...this.lots.map((lot) => lot.samples)]);
    const positions = join([...this.positions.values(), ...this.lots.map((lot) => lot.positions)]);
    const begin = this.forgot && events.count ? events.time(0) : 0, end = Math.max(this.time, events.count ? events.time(events.count - 1) : 0);
    const places = new Float32Array(positions);
    for (let at = 4; at < places.length; at += 6) {
      about.area[0] = Math.min(about.area[0], places[at]!);
      about.area[1] = Math.min(about.area[1], places[at + 1]!);
      about.area[2] = Math.max(about.area[2], places[at]!);
      about.area[3] = Math.max(about.area[3], places[at + 1]!);
    }
    const shares = measure(events, about.nodes.length, begin, end), { removed } = this;
    about.levels = shares.levels;
    this.removed = 0;
    return { recording: { about, events, samples, positions, levels: shares.bytes }, begin, end, removed };
  }
}

const size = (lot: Lot): number => lot.events.length + lot.samples.length + lot.positions.length;

// Remembers the last record of each owner, which has bytes 8 to 11.
function last(records: Uint8Array, of: Map<number, Uint8Array>): void {
  for (let at = 0; at < records.length; at += SAMPLE_BYTES) {
    const record = records.slice(at, at + SAMPLE_BYTES);
    of.set(new DataView(record.buffer).getUint32(8, true), record);
  }
}

function join(parts: Uint8Array[]): ArrayBuffer {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all.buffer;
}
