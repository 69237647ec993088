// A flow's events, and those of one packet: its sending, its deliveries, its drop.
import { type Events, Kind, NONE16 } from "./format";

const REACH = 500000; // events looked at on either side
const ROUNDING = 1000; // ns: delays are recorded in µs

// The next or previous event of the event's flow, or -1.
export function ofFlow(events: Events, i: number, way: 1 | -1): number {
  const flow = events.flow(i);
  if (flow === NONE16) return -1;
  for (let k = i + way, seen = 0; k >= 0 && k < events.count && seen < REACH; k += way, seen++) if (events.flow(k) === flow) return k;
  return -1;
}

export interface Packet {
  list: number[]; // in order of time; empty: the event names no packet
  alike: boolean; // a delivery names the instant of its sending, at which several packets were sent: these are all of them
}

// The sending, the deliveries and the drop of an event's packet.
export function samePacket(events: Events, i: number): Packet {
  const flow = events.flow(i);
  if (flow === NONE16) return { list: [], alike: false };
  const sent = sending(events, i, flow);
  if (sent < 0) return { list: events.kind(i) === Kind.deliver || events.kind(i) === Kind.drop && events.value(i) >= 0 ? [i] : [], alike: false };
  const time = events.time(sent), together: number[] = [], ends: number[] = [];
  for (let k = events.from(time - ROUNDING); k < events.count && events.time(k) <= time + ROUNDING; k++) {
    if (events.kind(k) === Kind.send && events.flow(k) === flow) together.push(k);
  }
  const numbers = new Set(together.map((k) => events.value(k)));
  for (let k = sent + 1, seen = 0; k < events.count && seen < REACH; k++, seen++) {
    if (events.flow(k) !== flow) continue;
    const kind = events.kind(k);
    if (kind === Kind.drop && numbers.has(events.value(k)) || kind === Kind.deliver && near(events, k, time)) ends.push(k);
  }
  if (together.length === 1) return { list: [sent, ...ends], alike: false };
  if (events.kind(i) === Kind.drop) return { list: [sent, i], alike: false };
  return { list: [...together, ...ends], alike: true };
}

const near = (events: Events, delivery: number, sent: number): boolean => Math.abs(events.time(delivery) - events.value(delivery) * 1000 - sent) <= ROUNDING;

function sending(events: Events, i: number, flow: number): number {
  const kind = events.kind(i);
  if (kind === Kind.send) return i;
  if (kind === Kind.deliver) {
    const about = events.time(i) - events.value(i) * 1000;
    for (let k = events.from(about - ROUNDING); k < i && events.time(k) <= about + ROUNDING; k++) {
      if (events.kind(k) === Kind.send && events.flow(k) === flow) return k;
    }
  }
  if (kind === Kind.drop && events.value(i) >= 0) {
    for (let k = i - 1; k >= 0 && i - k < REACH; k--) {
      if (events.kind(k) === Kind.send && events.flow(k) === flow && events.value(k) === events.value(i)) return k;
    }
  }
  return -1;
}
