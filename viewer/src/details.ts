// The details of the chosen event.
import { instant, span } from "./axis";
import { Kind, NO_SINR, NONE16, NONE32 } from "./format";
import { frameLabel, sameFrame } from "./lanes";
import { kindName } from "./query";
import { type State } from "./state";

const TITLES: Record<number, string> = {
  [Kind.transmit]: "Transmission", [Kind.receive]: "Reception", [Kind.collision]: "Lost by interference", [Kind.noise]: "Lost by noise",
  [Kind.backoff]: "Backoff", [Kind.nav]: "NAV set", [Kind.busy]: "Medium busy", [Kind.enqueue]: "Packet enqueued", [Kind.drop]: "Drop",
  [Kind.send]: "Packet sent by the application", [Kind.deliver]: "Packet delivered", [Kind.media]: "Media frame", [Kind.stall]: "Playback stall",
};
const WHY: Record<string, string> = {
  retry_limit_short: "The MAC reached its short retry limit without an acknowledgement and gave the frame up.",
  retry_limit_long: "The MAC reached its long retry limit without an acknowledgement and gave the frame up.",
  queue_full: "The interface queue was full when the packet arrived.",
  queue_management: "The discipline of the interface queue dropped the packet, because packets had waited too long.",
  expired: "The packet had expired before its turn to be sent.",
  no_route: "The node had no route to the destination.",
  ttl_expired: "The packet's time to live ran out.",
  receive_buffer_full: "The receive buffer of the socket was full.",
  send_buffer_full: "The send buffer of the socket was full when the application wrote.",
  link_loss: "A wire lost the packet.",
};
const MEDIA = ["on time", "late", "lost"];

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
      add(element, "p", `${state.events.count.toLocaleString("en")} events at ${state.about.nodes.length} nodes in ${span(state.end)}.`).className = "soft";
      return;
    }
    const { events, about, theme } = state, kind = events.kind(i), frame = events.frame(i);
    const title = add(element, "h2", "");
    swatch(title, theme.kind[kind] ?? theme.soft);
    title.append(`${TITLES[kind] ?? kindName(about, kind)}${kind <= Kind.noise ? `: ${frameLabel(about.frames[events.code(i)] ?? `code ${events.code(i)}`)}` : ""}`);
    const list = add(element, "dl", "");
    const row = (name: string, text: string): void => { add(list, "dt", name); add(list, "dd", text); };
    row("Node", state.nodeName(events.node(i)));
    row("Start", instant(events.time(i)));
    if (events.duration(i)) {
      row("Duration", events.duration(i) === NONE32 ? "at least 4.295 s" : span(events.duration(i)));
      row("End", instant(events.time(i) + events.duration(i)));
    }
    if (events.peer(i) !== NONE16) row(kind === Kind.transmit ? "To" : kind <= Kind.noise ? "From" : "Peer", state.nodeName(events.peer(i)));
    else if (kind === Kind.transmit) row("To", "all (broadcast)");
    if (events.flow(i) !== NONE16) row("Flow", about.flows[events.flow(i)]?.name ?? String(events.flow(i)));
    if (events.size(i)) row("Size", `${events.size(i).toLocaleString("en")} B`);
    if (frame !== NONE32) row("Frame", `#${frame}`);
    const value = this.value(i);
    if (value) row(...value);
    if (kind === Kind.drop) add(element, "p", this.why(i)).className = "why";
    const bar = add(element, "p", "");
    for (const [text, way] of [["← Previous", -1], ["Next →", 1]] as const) {
      const button = add(bar, "button", text) as HTMLButtonElement, other = this.neighbour(way);
      button.setAttribute("aria-label", `${way < 0 ? "Previous" : "Next"} event of this node`);
      button.disabled = other < 0;
      button.onclick = () => this.choose(other);
      bar.append(" ");
    }
    if (frame !== NONE32) this.fate(i);
  }

  private value(i: number): [string, string] | null {
    const { events, about } = this.state, value = events.value(i);
    switch (events.kind(i)) {
      case Kind.transmit: return ["Rate", `${value / 10} Mb/s`];
      case Kind.receive: case Kind.collision: case Kind.noise: return ["SINR", value === NO_SINR ? "not modelled" : `${(value / 100).toFixed(2)} dB`];
      case Kind.backoff: return ["Slots", String(value)];
      case Kind.enqueue: return ["Queue", `${value} packet${value === 1 ? "" : "s"} afterwards`];
      case Kind.drop: return ["Cause", about.drops[events.code(i)] ?? `code ${events.code(i)}`];
      case Kind.send: return ["Packet", `number ${value}`];
      case Kind.deliver: return ["Delay", span(value * 1000)];
      case Kind.media: return ["Media frame", `number ${value}, ${MEDIA[events.code(i)] ?? `code ${events.code(i)}`}`];
      default: return null;
    }
  }

  // The cause in a sentence, and what became of the node's last transmissions to the same peer.
  private why(i: number): string {
    const { events, about, index } = this.state, name = about.drops[events.code(i)] ?? "";
    let text = WHY[name] ?? `The node gave it up: ${name.replaceAll("_", " ") || `code ${events.code(i)}`}.`;
    const node = events.node(i), peer = events.peer(i);
    if (peer === NONE16 || node >= index.nodes) return text;
    let tries = 0, collided = 0, noise = 0, received = 0;
    for (let p = index.from(node, events.time(i) + 1) - 1, seen = 0; p >= index.start[node]! && seen < 2000 && tries < 7; p--, seen++) {
      const k = index.order[p]!;
      if (events.time(i) - events.time(k) > 1e9) break;
      if (events.kind(k) !== Kind.transmit || events.peer(k) !== peer) continue;
      tries++;
      for (const other of sameFrame(this.state, k)) {
        if (events.node(other) !== peer) continue;
        if (events.kind(other) === Kind.collision) collided++;
        else if (events.kind(other) === Kind.noise) noise++;
        else if (events.kind(other) === Kind.receive) received++;
      }
    }
    if (tries) text += ` Of its last ${tries} transmissions to ${this.state.nodeName(peer)} within 1 s, interference destroyed ${collided}, noise destroyed ${noise}, and ${received} arrived.`;
    return text;
  }

  private fate(i: number): void {
    const { state, element } = this, { events, theme } = state;
    add(element, "h3", "This frame at each node");
    const table = add(element, "table", "");
    table.innerHTML = "<tr><th>Node</th><th>Fate</th><th>SINR</th><th></th></tr>";
    for (const k of sameFrame(state, i).slice(0, 100)) {
      const kind = events.kind(k), row = add(table, "tr", "");
      add(row, "td", state.nodeName(events.node(k)));
      const fate = add(row, "td", "");
      swatch(fate, theme.kind[kind] ?? theme.soft);
      fate.append(({ [Kind.transmit]: "sent", [Kind.receive]: "received", [Kind.collision]: "collision", [Kind.noise]: "noise" } as Record<number, string>)[kind] ?? kindName(state.about, kind));
      const value = kind > Kind.transmit && kind <= Kind.noise && events.value(k) !== NO_SINR ? `${(events.value(k) / 100).toFixed(1)} dB` : "";
      add(row, "td", value);
      const cell = add(row, "td", "");
      if (k !== i) {
        const button = add(cell, "button", "Show") as HTMLButtonElement;
        button.setAttribute("aria-label", `Show this frame at ${state.nodeName(events.node(k))}`);
        button.onclick = () => this.choose(k);
      }
    }
  }
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
