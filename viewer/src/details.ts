// The details of the chosen event.
import { instant, span } from "./axis";
import { because, lostOnAir, plain } from "./causes";
import { Kind, NO_SINR, NONE16, NONE32 } from "./format";
import { frameLabel } from "./lanes";
import { ofFlow, samePacket } from "./packet";
import { kindName } from "./query";
import { type State } from "./state";

const TITLES: Record<number, string> = {
  [Kind.transmit]: "Transmission", [Kind.receive]: "Reception", [Kind.collision]: "Lost by interference", [Kind.noise]: "Lost by noise",
  [Kind.backoff]: "Backoff", [Kind.nav]: "NAV set", [Kind.busy]: "Medium busy", [Kind.enqueue]: "Packet enqueued", [Kind.drop]: "Drop",
  [Kind.send]: "Packet sent by the application", [Kind.deliver]: "Packet delivered", [Kind.media]: "Media frame", [Kind.stall]: "Playback stall",
};
const MESSAGES: Record<number, string> = { [Kind.transmit]: "Message sent", [Kind.receive]: "Message received", [Kind.drop]: "Refused" };
const FATES: Record<number, string> = { [Kind.transmit]: "sent", [Kind.receive]: "received", [Kind.collision]: "lost by interference", [Kind.noise]: "lost by noise" };
const MEDIA = ["on time", "late", "lost"];
const MOST_ROWS = 100;

export class Details {
  constructor(private readonly state: State, private readonly element: HTMLElement, private readonly choose: (event: number) => void) {}

  // The next or previous event of the chosen event's node, or -1.
  neighbour(way: 1 | -1): number {
    const { events, index, chosen, time } = this.state;
    if (chosen < 0) {
      const i = way > 0 ? events.from(time + 1) : events.from(time) - 1;
      return i < events.count ? i : -1;
    }
    const node = events.node(chosen);
    if (node >= index.nodes) return -1;
    let place = index.from(node, events.time(chosen));
    while (index.order[place] !== chosen) place++;
    place += way;
    return place >= index.start[node]! && place < index.start[node + 1]! ? index.order[place]! : -1;
  }

  show(): void {
    const { state, element } = this, i = state.chosen;
    element.replaceChildren();
    if (i < 0) {
      add(element, "h2", "Details");
      add(element, "p", "Click an event in a lane to see its fields and what became of its frame.").className = "soft";
      if (state.about.live) add(element, "p", `The page keeps the latest ${Math.round(state.about.live.window_bytes / 2 ** 20)}\u00a0MB of the run.`).className = "soft";
      else add(element, "p", `${state.events.count.toLocaleString("en")} events at ${state.about.nodes.length} ${state.about.measured ? "hosts" : "nodes"} in ${span(state.end)}.`).className = "soft";
      return;
    }
    const { events, about, theme } = state, kind = events.kind(i), frame = events.frame(i);
    const title = add(element, "h2", "");
    swatch(title, theme.kind[kind] ?? theme.soft);
    title.append(`${about.measured && MESSAGES[kind] || TITLES[kind] || kindName(about, kind)}${kind <= Kind.noise ? `: ${frameLabel(about.frames[events.code(i)] ?? `code ${events.code(i)}`)}` : ""}`);
    const list = add(element, "dl", "");
    const row = (name: string, text: string): void => { add(list, "dt", name); add(list, "dd", text); };
    row(about.measured ? "Host" : "Node", state.nodeName(events.node(i)));
    row("Start", instant(events.time(i)));
    if (events.duration(i)) {
      row("Duration", events.duration(i) === NONE32 ? "at least 4.295 s" : span(events.duration(i)));
      row("End", instant(events.time(i) + events.duration(i)));
    }
    if (events.peer(i) !== NONE16) row(kind === Kind.transmit ? "To" : kind <= Kind.noise ? "From" : "Peer", state.nodeName(events.peer(i)));
    else if (kind === Kind.transmit) row("To", "all (broadcast)");
    if (events.flow(i) !== NONE16) row("Flow", this.flow(events.flow(i)));
    if (events.size(i)) row("Size", `${events.size(i).toLocaleString("en")} B`);
    if (frame !== NONE32) row("Frame", `#${frame}`);
    const value = this.value(i);
    if (value) row(...value);
    if (kind === Kind.drop) add(element, "p", this.why(i)).className = "why";
    const bar = add(element, "div", "");
    bar.className = "steps";
    this.steps(bar, "This node", "of this node", (way) => this.neighbour(way));
    if (events.flow(i) !== NONE16) this.steps(bar, "This flow", "of this flow", (way) => ofFlow(events, i, way));
    if (frame !== NONE32) this.fate(i);
    this.packet(i);
  }

  private flow(number: number): string {
    const flow = this.state.about.flows[number];
    if (!flow) return `number ${number}`;
    const to = flow.to === null ? "all" : this.state.nodeName(flow.to);
    return `${flow.name}: ${flow.protocol}, ${this.state.nodeName(flow.from)} → ${to}`;
  }

  private steps(bar: HTMLElement, text: string, whose: string, find: (way: 1 | -1) => number): void {
    add(bar, "span", text).className = "soft";
    for (const [arrow, word, way] of [["←", "Previous", -1], ["→", "Next", 1]] as const) {
      const button = add(bar, "button", arrow) as HTMLButtonElement, other = find(way);
      button.setAttribute("aria-label", `${word} event ${whose}`);
      button.title = `${word} event ${whose}`;
      button.disabled = other < 0;
      button.onclick = () => this.choose(other);
    }
  }

  // What became of the packet on its way between applications.
  private packet(i: number): void {
    const { events, theme, about } = this.state, { list, alike } = samePacket(events, i);
    if (!list.length) return;
    add(this.element, "h3", alike ? "The flow's packets of this instant" : "This packet of the flow");
    const table = add(this.element, "table", ""), began = events.time(list[0]!);
    heads(table, ["Node", "Fate", "After", ""]);
    for (const k of list.slice(0, MOST_ROWS)) {
      const kind = events.kind(k), row = add(table, "tr", "");
      add(row, "td", this.state.nodeName(events.node(k)));
      const fate = add(row, "td", "");
      swatch(fate, theme.kind[kind] ?? theme.soft);
      fate.append(kind === Kind.send ? "sent" : kind === Kind.deliver ? "delivered" : `dropped: ${plain(about.drops[events.code(k)] ?? "")}`);
      add(row, "td", k === list[0] ? "" : span(events.time(k) - began));
      this.button(row, k, i, `Show this packet at ${this.state.nodeName(events.node(k))}`);
    }
    if (list.length === 1 && events.kind(i) === Kind.send) add(this.element, "p", "No delivery and no drop of this packet is in the recording's next half million events.").className = "soft";
  }

  private button(row: HTMLElement, k: number, i: number, name: string): void {
    const cell = add(row, "td", "");
    if (k === i) return;
    const button = add(cell, "button", "Show") as HTMLButtonElement;
    button.setAttribute("aria-label", name);
    button.onclick = () => this.choose(k);
  }

  private value(i: number): [string, string] | null {
    const { events, about } = this.state, value = events.value(i);
    switch (events.kind(i)) {
      case Kind.transmit: return value === NO_SINR ? null : ["Rate", `${value / 10} Mb/s`];
      case Kind.receive: case Kind.collision: case Kind.noise: return about.measured ? null : ["SINR", value === NO_SINR ? "not modelled" : `${(value / 100).toFixed(2)} dB`];
      case Kind.backoff: return ["Slots", String(value)];
      case Kind.enqueue: return ["Queue", `${value} packet${value === 1 ? "" : "s"} afterwards`];
      case Kind.drop: return ["Cause", plain(about.drops[events.code(i)] ?? `code ${events.code(i)}`)];
      case Kind.send: return ["Packet", `number ${value}`];
      case Kind.deliver: return value === NO_SINR ? null : ["Delay", span(value * 1000)];
      case Kind.media: return ["Media frame", `number ${value}, ${MEDIA[events.code(i)] ?? `code ${events.code(i)}`}`];
      case Kind.stall: return ["Stall", `number ${value}${events.code(i) ? ", goes on" : ""}`];
      case Kind.busy: return events.code(i) ? ["Part", "was busy before"] : null;
      default: return null;
    }
  }

  // The cause in a sentence, and what became of the node's last transmissions to the same peer.
  private why(i: number): string {
    const { events, about, index } = this.state, name = about.drops[events.code(i)] ?? "";
    let text = because(name);
    const node = events.node(i), peer = events.peer(i);
    if (!lostOnAir(name) || peer === NONE16 || node >= index.nodes) return text;
    let tries = 0, collided = 0, noise = 0, received = 0;
    for (let p = index.from(node, events.time(i) + 1) - 1, seen = 0; p >= index.start[node]! && seen < 2000 && tries < 7; p--, seen++) {
      const k = index.order[p]!;
      if (events.time(i) - events.time(k) > 1e9) break;
      if (events.kind(k) !== Kind.transmit || events.peer(k) !== peer) continue;
      tries++;
      for (const other of this.state.sameFrame(k)) {
        if (events.node(other) !== peer) continue;
        if (events.kind(other) === Kind.collision) collided++;
        else if (events.kind(other) === Kind.noise) noise++;
        else if (events.kind(other) === Kind.receive) received++;
      }
    }
    if (tries) text += ` Of its last ${tries} transmissions to ${this.state.nodeName(peer)} within 1\u00a0s, interference destroyed ${collided}, noise destroyed ${noise}, and ${received} arrived.`;
    return text;
  }

  private fate(i: number): void {
    const { state, element } = this, { events, theme } = state, list = state.sameFrame(i);
    const received = (k: number): boolean => events.kind(k) > Kind.transmit && events.kind(k) <= Kind.noise;
    const known = list.some((k) => received(k) && events.value(k) !== NO_SINR); // no column without a value
    add(element, "h3", "This frame at each node");
    const table = add(element, "table", "");
    heads(table, known ? ["Node", "Fate", "SINR", ""] : ["Node", "Fate", ""]);
    for (const k of list.slice(0, MOST_ROWS)) {
      const kind = events.kind(k), row = add(table, "tr", "");
      add(row, "td", state.nodeName(events.node(k)));
      const fate = add(row, "td", "");
      swatch(fate, theme.kind[kind] ?? theme.soft);
      fate.append(FATES[kind] ?? kindName(state.about, kind));
      if (known) add(row, "td", received(k) && events.value(k) !== NO_SINR ? `${(events.value(k) / 100).toFixed(1)} dB` : "");
      this.button(row, k, i, `Show this frame at ${state.nodeName(events.node(k))}`);
    }
    if (list.length > MOST_ROWS) add(element, "p", `and at ${list.length - MOST_ROWS} more nodes`).className = "soft";
    else if (list.length === 1 && events.kind(i) === Kind.transmit) add(element, "p", "No node was in reach of it, or the recording does not say.").className = "soft";
  }
}

function heads(table: HTMLElement, names: string[]): void {
  const row = add(table, "tr", "");
  for (const name of names) add(row, "th", name).setAttribute("scope", "col");
}
function add(parent: HTMLElement, tag: string, text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  parent.append(element);
  return element;
}
function swatch(parent: HTMLElement, colour: string): void {
  const mark = add(parent, "span", "");
  mark.className = "swatch";
  mark.style.background = colour;
}
