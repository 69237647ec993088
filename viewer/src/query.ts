// Fields of events as plain objects, and searches in them: for the details and for window.hopcast.
import { type Description, Kind, KINDS, NO_SINR, NONE16, NONE32 } from "./format";
import { type State } from "./state";

export interface Fields {
  index: number; time: number; duration: number; node: number; peer: number | null; kind: string; code: number;
  flow: number | null; size: number; frame: number | null; value: number | null;
}
export interface Search { node?: number; kind?: string; from?: number; to?: number; flow?: number; frame?: number; limit?: number }

export const kindName = (about: Description, kind: number): string => about.kinds[kind] ?? (kind < KINDS ? Kind[kind]! : `kind ${kind}`);

export function fields(state: State, i: number): Fields {
  const { events, about } = state;
  if (!(i >= 0 && i < events.count)) throw new RangeError(`event ${i}: the recording has ${events.count}`);
  const none16 = (n: number): number | null => (n === NONE16 ? null : n);
  return {
    index: i, time: events.time(i), duration: events.duration(i), node: events.node(i), peer: none16(events.peer(i)),
    kind: kindName(about, events.kind(i)), code: events.code(i), flow: none16(events.flow(i)), size: events.size(i),
    frame: events.frame(i) === NONE32 ? null : events.frame(i), value: events.value(i) === NO_SINR ? null : events.value(i),
  };
}

// Events that start in [from, to), in order of time; at most `limit` (1000).
export function search(state: State, by: Search): Fields[] {
  const { events, index, about } = state, found: Fields[] = [], limit = by.limit ?? 1000;
  const kind = by.kind === undefined ? -1 : Array.from({ length: KINDS }, (_, k) => kindName(about, k)).indexOf(by.kind);
  const from = by.from ?? 0, to = by.to ?? Infinity, lane = by.node !== undefined;
  if (lane && !(by.node! >= 0 && by.node! < index.nodes)) return found;
  let place = lane ? index.from(by.node!, from) : events.from(from);
  const end = lane ? index.start[by.node! + 1]! : events.count;
  for (; place < end && found.length < limit; place++) {
    const i = lane ? index.order[place]! : place;
    if (events.time(i) >= to) break;
    if (by.kind !== undefined && events.kind(i) !== kind) continue;
    if (by.flow !== undefined && events.flow(i) !== by.flow) continue;
    if (by.frame !== undefined && events.frame(i) !== by.frame) continue;
    found.push(fields(state, i));
  }
  return found;
}

// The node's events that cover the time.
export function covering(state: State, node: number, time: number): Fields[] {
  if (!(node >= 0 && node < state.index.nodes)) return [];
  return state.index.overlapping(node, time, time + 1).map((i) => fields(state, i));
}

// The number of events of each kind: of a run that goes on, `since` its start.
export function counts(state: State, since: Float64Array = state.index.byKind): Record<string, number> {
  const result: Record<string, number> = {};
  for (let kind = 0; kind < KINDS; kind++) result[kindName(state.about, kind)] = since[kind]!;
  return result;
}

export function series(state: State, name?: string): object[] {
  const { samples } = state;
  return (state.about.series ?? []).map((one, k) => ({ ...one, k })).filter((one) => name === undefined || one.name === name).map(({ k, ...one }) => {
    const order = [...samples.order.subarray(samples.start[k]!, samples.start[k + 1]!)];
    return { ...one, times: order.map((i) => samples.time(i)), values: order.map((i) => samples.value(i)) };
  });
}
