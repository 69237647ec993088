// The legend: how each kind looks in a lane.
import { Kind } from "./format";
import { type State } from "./state";
import { prepare, stripes } from "./theme";

const SHOWN: [Kind, string][] = [
  [Kind.transmit, "transmit"], [Kind.receive, "receive"], [Kind.collision, "collision"], [Kind.noise, "noise"], [Kind.nav, "NAV"],
  [Kind.backoff, "backoff (slots)"], [Kind.busy, "busy"], [Kind.drop, "drop"], [Kind.send, "send"], [Kind.deliver, "deliver"], [Kind.enqueue, "enqueue"],
];

export function legend(state: State, element: HTMLElement): void {
  element.replaceChildren();
  const { byKind } = state.index, occurring = SHOWN.filter(([kind]) => byKind[kind]! > 0);
  for (const [kind, name] of occurring.length || state.about.measured ? occurring : SHOWN) {
    const item = document.createElement("span"), canvas = document.createElement("canvas"), context = prepare(canvas, 16, 11);
    const colour = state.theme.kind[kind]!;
    context.fillStyle = context.strokeStyle = colour;
    context.lineWidth = 1.8;
    if (kind === Kind.drop) {
      context.beginPath();
      for (const [a, b] of [[2, 9], [9, 2]] as const) { context.moveTo(4, a); context.lineTo(11, b); }
      context.stroke();
    } else if (kind === Kind.send || kind === Kind.deliver) {
      const point = kind === Kind.send ? 1 : 10;
      context.beginPath();
      context.moveTo(8, point);
      context.lineTo(13, 11 - point);
      context.lineTo(3, 11 - point);
      context.fill();
    } else if (kind === Kind.enqueue) context.fillRect(7, 1, 2, 9);
    else {
      if (kind === Kind.backoff || kind === Kind.collision) context.fillStyle = stripes(context, colour, kind === Kind.collision);
      const h = kind === Kind.nav ? 5 : kind === Kind.busy ? 3 : 11;
      context.fillRect(0, (11 - h) / 2, 16, h);
      if (kind === Kind.noise) {
        context.fillStyle = state.theme.panel;
        for (const x of [3, 8, 13]) context.fillRect(x, 3, 1.5, 5);
      }
    }
    item.append(canvas, name);
    element.append(item);
  }
}
