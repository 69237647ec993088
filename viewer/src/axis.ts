// Time: the visible span, the ticks, and how times are written.

export interface Scale { from: number; to: number; left: number; width: number } // ns and CSS pixels
export const toX = (s: Scale, time: number): number => s.left + (time - s.from) / (s.to - s.from) * s.width;
export const toTime = (s: Scale, x: number): number => s.from + (x - s.left) / s.width * (s.to - s.from);

const UNITS: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

export function unitOf(ns: number): [number, string] {
  return UNITS.find(([size]) => Math.abs(ns) >= size) ?? UNITS[3]!;
}
export function span(ns: number): string {
  const [size, name] = unitOf(ns);
  return `${Number((ns / size).toPrecision(5))} ${name}`;
}
// Seconds with groups of three digits after the point, down to the nanosecond.
export function instant(ns: number, digits = 9): string {
  const whole = Math.floor(ns / 1e9), rest = String(Math.floor(ns - whole * 1e9)).padStart(9, "0").slice(0, digits);
  return digits ? `${whole}.${rest.replace(/(...)(?=.)/g, "$1\u202f")} s` : `${whole} s`;
}
export function step(range: number, most: number): number {
  const least = range / Math.max(1, most), power = 10 ** Math.floor(Math.log10(least));
  return (([1, 2, 5].find((n) => n * power >= least)) ?? 10) * power;
}
export interface Ticks { base: number; digits: number; at: number[]; label(time: number): string }
// Ticks in one unit. Those finer than a second count from a base, which the axis shows at its left.
export function ticks(scale: Scale): Ticks {
  const range = scale.to - scale.from, apart = Math.max(1, step(range, scale.width / 90));
  const [size, name] = unitOf(apart);
  const base = size === 1e9 ? 0 : Math.floor(scale.from / (size * 1000)) * size * 1000;
  const at: number[] = [];
  for (let n = Math.ceil(scale.from / apart); n * apart <= scale.to; n++) at.push(n * apart);
  const digits = size === 1e6 ? 0 : size === 1e3 ? 3 : 6; // of the base, in seconds
  return { base, digits, at, label: (time) => `${base ? "+" : ""}${Number(((time - base) / size).toFixed(3))} ${name}` };
}
