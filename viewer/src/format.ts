// The recording's format 1: its description and views on its binary records.

export const FORMAT = 1;
export const EVENT_BYTES = 32;
export const SAMPLE_BYTES = 24;
export const NONE16 = 0xffff;
export const NONE32 = 0xffffffff;
export const NO_SINR = -0x80000000;
export const CLASSES = 5; // transmit, receive, collision, nav, backoff: the bytes of one bin of levels.bin

export enum Kind {
  transmit, receive, collision, noise, backoff, nav, busy, enqueue, drop, send, deliver, media, stall,
}
export const KINDS = 13;

export interface Series { name: string; unit: string; node: number | null; flow: number | null; panel: string }
export interface Level { bin_ns: number; bins: number; offset: number; start?: number } // start: of the first bin, ns
export interface Description {
  format: number; hopcast: string; scenario: string; seed: number; duration_ns: number;
  slot_ns?: Record<string, number>;
  nodes: { name: string; x: number; y: number }[];
  area: [number, number, number, number];
  flows: { name: string; from: number; to: number | null; protocol: string }[];
  links: [number, number][];
  kinds: string[]; frames: string[]; drops: string[];
  series: Series[];
  counts: Record<string, number>; events: number; samples: number; positions: number;
  levels: Level[];
  measured?: boolean; // on hosts, which have no places
  full_ns?: number | null; // since when a measured recording has no room
  live?: { run: number; window_bytes: number }; // of a run that goes on
}

// The events as columns over one buffer. Nothing is copied, and no object exists for an event.
export class Events {
  readonly count: number;
  private readonly u32: Uint32Array;
  private readonly i32: Int32Array;
  private readonly u16: Uint16Array;
  private readonly u8: Uint8Array;
  constructor(buffer: ArrayBuffer) {
    this.count = Math.floor(buffer.byteLength / EVENT_BYTES);
    this.u32 = new Uint32Array(buffer, 0, this.count * 8);
    this.i32 = new Int32Array(buffer, 0, this.count * 8);
    this.u16 = new Uint16Array(buffer, 0, this.count * 16);
    this.u8 = new Uint8Array(buffer, 0, this.count * 32);
  }
  time(i: number): number { return this.u32[i * 8]! + this.u32[i * 8 + 1]! * 4294967296; } // ns, exact up to 2^53
  duration(i: number): number { return this.u32[i * 8 + 2]!; } // ns
  node(i: number): number { return this.u16[i * 16 + 6]!; }
  peer(i: number): number { return this.u16[i * 16 + 7]!; }
  kind(i: number): Kind { return this.u8[i * 32 + 16]!; }
  code(i: number): number { return this.u8[i * 32 + 17]!; }
  flow(i: number): number { return this.u16[i * 16 + 9]!; }
  size(i: number): number { return this.u32[i * 8 + 5]!; }
  frame(i: number): number { return this.u32[i * 8 + 6]!; }
  value(i: number): number { return this.i32[i * 8 + 7]!; }
  // The first event that does not start before `time`.
  from(time: number): number {
    let low = 0, high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.time(middle) < time) low = middle + 1; else high = middle;
    }
    return low;
  }
}

export interface Recording { about: Description; events: Events; samples: ArrayBuffer; positions: ArrayBuffer; levels: Uint8Array }
