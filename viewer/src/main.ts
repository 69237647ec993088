// Opens a recording and joins the parts of the page.
import { instant, span, toTime } from "./axis";
import { Charts } from "./charts";
import { Details } from "./details";
import { type Recording } from "./format";
import { LANE, Lanes } from "./lanes";
import { legend } from "./legend";
import { Live } from "./live";
import { NodeMap } from "./map";
import { Overview } from "./overview";
import { Player, SPEEDS } from "./player";
import { counts, covering, type Fields, fields, search, type Search, series } from "./query";
import { chosen, embedded, read, served, type Source } from "./reading";
import { State, timePointer } from "./state";
import { Strip } from "./strip";
import { readTheme } from "./theme";

interface Query {
  ready: Promise<void>;
  counts(): Record<string, number>;
  events(by?: Search): Fields[];
  at(node: number, time: number): Fields[];
  select(index: number): Fields;
  selected(): Fields | null;
  series(name?: string): object[];
  view(): { from: number; to: number };
  zoom(from: number, to: number): void;
  play(speed?: number): void;
  pause(): void;
  time(): number;
  positions(time: number): { node: string; x: number; y: number }[];
  timings(): { load_ms: number; frame_ms: number[] };
  follow(on: boolean): void;
  live(): { following: boolean; over: boolean; missed: number; begin: number; end: number; kept: number } | null;
}
declare global { interface Window { hopcast: Query } }

const $ = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const GLANCE = 2e7; // ns of frames on the map of a run that goes on
interface Opened { state: State; player: Player; live: Live | null; choose(event: number): void; follow(on: boolean): void }
let opened: Opened | null = null;
const timings = { load_ms: 0, frame_ms: [] as number[] };

function need(): Opened {
  if (!opened) throw new Error("No recording is open.");
  return opened;
}

function show(recording: Recording, began: number): void {
  const state = new State(recording), { about } = state, abort = new AbortController(), { signal } = abort;
  $("chooser").hidden = true;
  $("main").hidden = false;
  const title = $("title");
  title.textContent = `${about.scenario} `;
  const subtitle = Object.assign(document.createElement("small"), { textContent: about.measured ? "measured" : `seed ${about.seed}` });
  title.append(subtitle);
  document.title = `${about.scenario}${about.measured ? "" : `, seed ${about.seed}`} – hopcast view`;
  $("map").parentElement!.hidden = about.measured === true;
  const canvas = (id: string): HTMLCanvasElement => fresh(id);
  const scroll = $("scroll"), lanesCanvas = canvas("lanes"), stripCanvas = canvas("strip"), mapCanvas = canvas("map"), chartCanvas = canvas("charts"), axis = canvas("axis");
  const lanes = new Lanes(state, lanesCanvas, scroll), map = new NodeMap(state, mapCanvas), charts = new Charts(state, chartCanvas), strip = new Strip(state, stripCanvas);
  const overview = new Overview(state, canvas("overview"), axis), details = new Details(state, $("details"), (event) => choose(event));
  const player = new Player(state, () => { buttons(); state.changed(); });
  let waiting = false, shown = -2, since = 0; // since: the time at the update before, ns
  const draw = (): void => {
    const start = performance.now();
    waiting = false;
    overview.draw();
    lanes.draw();
    strip.draw();
    charts.draw();
    if (!about.measured) map.draw(player.playing ? player.since : state.following ? Math.max(since, state.time - GLANCE) : state.time);
    $("clock").textContent = instant(state.time);
    if (shown !== state.chosen) {
      shown = state.chosen;
      details.show();
    }
    timings.frame_ms.push(performance.now() - start);
    if (timings.frame_ms.length > 2000) timings.frame_ms.splice(0, 1000);
  };
  state.changed = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(draw);
  };
  // Lanes get the height they need, charts the rest; where there is not enough for both, each scrolls.
  const timeline = $("timeline"), below = $("below"), narrow = matchMedia("(max-width: 800px)");
  const fit = (): void => {
    const all = about.nodes.length * LANE, strips = strip.height;
    if (narrow.matches) {
      scroll.style.height = `${Math.max(LANE, Math.min(innerHeight * 0.46, all))}px`;
      below.style.height = "";
      charts.fit(0);
    } else {
      const room = timeline.clientHeight - (scroll.offsetTop - timeline.offsetTop), wanted = charts.least + strips;
      const lower = wanted ? Math.max(Math.min(wanted, room * 0.5), room - all - 1) : 0;
      scroll.style.height = `${room - lower}px`;
      below.style.height = `${lower}px`;
      charts.fit(lower - strips);
    }
    $("spacer").style.height = `${Math.max(0, all - scroll.clientHeight)}px`;
    state.width = scroll.clientWidth;
    timeline.style.setProperty("--wide", `${state.width}px`);
    state.changed();
  };
  const choose = (event: number): void => {
    state.choose(event);
    if (event >= 0) {
      const y = state.events.node(event) * LANE;
      if (y < scroll.scrollTop || y + LANE > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = y - scroll.clientHeight / 3;
    }
  };
  const live = about.live ? new Live(about) : null;
  opened = { state, player, live, choose, follow: (on) => follow(on) };
  const step = (way: 1 | -1): void => {
    const next = details.neighbour(way);
    if (next >= 0) choose(next);
  };
  const buttons = (): void => {
    $("playing").setAttribute("d", player.playing ? "M4 3h3v10H4zM9 3h3v10H9z" : "M4 2.5 13 8l-9 5.5z");
    $("play").setAttribute("aria-label", player.playing ? "Pause" : "Play");
    const select = $<HTMLSelectElement>("speed");
    select.value = String(player.speed);
  };
  const missing = about.events - state.events.count;
  $("note").hidden = missing === 0 || live !== null;
  if (missing > 0) $("note").textContent = `events.bin is cut: it holds ${state.events.count.toLocaleString("en")} of ${about.events.toLocaleString("en")} events. The page shows those.`;
  else if (about.full_ns) {
    $("note").textContent = `The recording was full after ${span(about.full_ns)}. What happened later is not in it, or not all of it.`;
    $("note").hidden = false;
  } else if (missing < 0) $("note").textContent = `events.bin holds ${(-missing).toLocaleString("en")} more events than recording.json says. Record the run again.`;

  const speeds = $<HTMLSelectElement>("speed");
  speeds.replaceChildren(...SPEEDS.map((speed) => new Option(speed >= 1 ? `${speed} s/s` : speed >= 1e-3 ? `${Math.round(speed * 1e3)} ms/s` : `${Math.round(speed * 1e6)} µs/s`, String(speed))));
  speeds.onchange = () => { player.speed = Number(speeds.value); };
  const toggle = (): void => (player.playing ? player.pause() : player.play());
  const middle = (): number => (state.time >= state.from && state.time <= state.to && state.time > 0 ? state.time : (state.from + state.to) / 2);
  $("play").onclick = toggle;
  $("back").onclick = () => step(-1);
  $("forward").onclick = () => step(1);
  $("in").onclick = () => state.zoomAt(middle(), 0.5);
  $("out").onclick = () => state.zoomAt(middle(), 2);
  $("whole").onclick = () => state.zoom(state.begin, state.end);
  timePointer(lanesCanvas, state, (x, y) => {
    const event = lanes.pick(x, y);
    if (event >= 0) choose(event);
    else {
      state.chosen = -1;
      if (x >= state.gutter) state.seek(toTime(state.scale, x));
      state.changed();
    }
  });
  const seekTo = (x: number): void => state.seek(toTime(state.scale, Math.max(state.gutter, x)));
  timePointer(stripCanvas, state, (x, y) => {
    const event = strip.pick(x, y);
    if (event >= 0) choose(event); else seekTo(x);
  });
  timePointer(chartCanvas, state, seekTo);
  timePointer(axis, state, seekTo);
  mapCanvas.addEventListener("click", (event) => {
    const node = map.nodeAt(event.offsetX, event.offsetY);
    if (node >= 0) scroll.scrollTop = node * LANE - scroll.clientHeight / 3;
  });
  scroll.addEventListener("scroll", () => state.changed(), { signal });
  addEventListener("keydown", (event) => {
    const where = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || $<HTMLDialogElement>("keys").open || where.tagName === "SELECT") return;
    const wide = state.to - state.from;
    const actions: Record<string, () => void> = {
      " ": toggle, ArrowLeft: () => state.move(-wide / 5), ArrowRight: () => state.move(wide / 5), "+": () => state.zoomAt(middle(), 0.5), "=": () => state.zoomAt(middle(), 0.5),
      "-": () => state.zoomAt(middle(), 2), Home: () => state.zoom(state.begin, state.end), f: () => follow(!state.following), ",": () => step(-1), ".": () => step(1),
      ArrowUp: () => { scroll.scrollTop -= LANE; }, ArrowDown: () => { scroll.scrollTop += LANE; },
      Escape: () => { state.chosen = -1; state.changed(); }, "?": () => $<HTMLDialogElement>("keys").showModal(),
    };
    const action = actions[event.key];
    if (!action || (event.key === " " && where.tagName === "BUTTON")) return;
    event.preventDefault();
    action();
  }, { signal });
  // A run that goes on: the page takes over the news while it follows, at most a fifth of the time.
  let legendOf = "", busyUntil = 0, stopped = false;
  const status = (): void => {
    if (!live) return;
    const pressed = String(state.following && !live.over);
    $("follow").setAttribute("aria-pressed", pressed);
    $("follow").textContent = live.over ? "Latest" : "Follow";
    subtitle.textContent = `seed ${about.seed} · ${live.over ? "the emulation is over" : live.problem ? "lost" : state.following ? "live" : "paused"}`;
    const note = live.problem || (live.missed ? `hopcast was too busy to pass on ${live.missed.toLocaleString("en")} events.` : "");
    if ($("note").textContent !== note) $("note").textContent = note;
    $("note").hidden = !note;
  };
  const refresh = (): void => {
    if (!live) return;
    const start = performance.now(), { recording: now, begin, end, removed } = live.kept(), lines = charts.least + strip.height;
    since = state.time;
    state.update(now, begin, end, removed);
    if (state.chosen >= 0 && removed) shown = -2;
    overview.refresh();
    charts.refresh();
    strip.refresh();
    const kinds = state.index.byKind.map((count) => Math.sign(count)).join("");
    if (kinds !== legendOf) legend(state, $("legend"));
    legendOf = kinds;
    if (charts.least + strip.height !== lines) fit();
    busyUntil = performance.now() + 4 * (performance.now() - start);
  };
  const follow = (on: boolean): void => {
    if (!live) return;
    if (on) player.pause();
    state.following = on;
    if (on) refresh();
    status();
  };
  state.left = status;
  $("follow").hidden = !live;
  $("follow").onclick = () => follow(!state.following || live!.over);
  if (live) {
    state.following = true;
    void live.run(() => {
      if (!stopped && state.following && (live.over || performance.now() >= busyUntil)) refresh();
      if (!stopped) status();
    });
  }
  const observer = new ResizeObserver(fit);
  observer.observe(timeline);
  observer.observe(scroll);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const repaint = (): void => {
    state.theme = readTheme();
    legend(state, $("legend"));
    shown = -2;
    state.changed();
  };
  dark.addEventListener("change", repaint, { signal });
  closing = () => { stopped = true; live?.stop(); player.pause(); abort.abort(); observer.disconnect(); };
  repaint();
  buttons();
  fit();
  draw();
  timings.load_ms = performance.now() - began;
}

let closing: () => void = () => undefined;
// A canvas without the listeners of the recording before.
function fresh(id: string): HTMLCanvasElement {
  const old = $<HTMLCanvasElement>(id), copy = old.cloneNode() as HTMLCanvasElement;
  copy.style.display = "";
  old.replaceWith(copy);
  return copy;
}

async function open(source: Source, began = performance.now()): Promise<boolean> {
  try {
    const recording = await read(source);
    if (!recording) return false;
    closing();
    show(recording, began);
    return true;
  } catch (error) {
    choose(error instanceof Error ? error.message : String(error));
    return true;
  }
}

function choose(problem: string): void {
  $("main").hidden = true;
  $("chooser").hidden = false;
  $("problem").textContent = problem;
}

async function openFiles(files: File[]): Promise<void> {
  if (!await open(chosen(files))) choose("recording.json is missing in this folder. Choose the folder of one seed, such as out/recording/1.");
}

function listen(): void {
  const input = $<HTMLInputElement>("folder");
  input.onchange = () => void openFiles([...input.files ?? []]);
  $("open").onclick = () => choose("");
  $("help").onclick = () => $<HTMLDialogElement>("keys").showModal();
  addEventListener("dragover", (event) => { event.preventDefault(); $("chooser").classList.add("over"); });
  addEventListener("dragleave", () => $("chooser").classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    $("chooser").classList.remove("over");
    const entries = [...event.dataTransfer?.items ?? []].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
    const files = [...event.dataTransfer?.files ?? []];
    void Promise.all(entries.map(filesOf)).then((inside) => openFiles(inside.length ? inside.flat() : files));
  });
}

async function filesOf(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) return [await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail))];
  const inside = await new Promise<FileSystemEntry[]>((done, fail) => (entry as FileSystemDirectoryEntry).createReader().readEntries(done, fail));
  return (await Promise.all(inside.filter((one) => one.isFile).map(filesOf))).flat();
}

async function start(): Promise<void> {
  listen();
  const began = performance.now();
  for (const source of [embedded(), served()]) if (source && await open(source, began)) return;
  choose("");
}

window.hopcast = {
  ready: start(),
  counts: () => counts(need().state, need().live?.counts),
  events: (by = {}) => search(need().state, by),
  at: (node, time) => covering(need().state, node, time),
  select: (index) => {
    const found = fields(need().state, index);
    need().choose(index);
    return found;
  },
  selected: () => (need().state.chosen < 0 ? null : fields(need().state, need().state.chosen)),
  series: (name) => series(need().state, name),
  view: () => ({ from: need().state.from, to: need().state.to }),
  zoom: (from, to) => {
    need().state.leave();
    need().state.zoom(from, to);
  },
  play: (speed) => need().player.play(speed),
  pause: () => need().player.pause(),
  time: () => need().state.time,
  positions: (time) => need().state.about.nodes.map((node, k) => {
    const [x, y] = need().state.positions.at(k, time);
    return { node: node.name, x, y };
  }),
  follow: (on) => need().follow(on),
  live: () => {
    const { state, live } = need();
    return live && { following: state.following, over: live.over, missed: live.missed, begin: state.begin, end: state.end, kept: state.events.count };
  },
  timings: () => ({ load_ms: timings.load_ms, frame_ms: [...timings.frame_ms] }),
};
