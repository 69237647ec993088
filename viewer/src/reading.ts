// Reads a recording: from the page itself, from next to the page, or from a folder that the reader chooses.
import { type Description, Events, FORMAT, type Recording } from "./format";

export type Source = (name: string) => Promise<ArrayBuffer | null>; // null: no such file

export function embedded(): Source | null {
  if (!document.getElementById("recording")) return null;
  return async (name) => {
    if (name === "recording.json") {
      return new TextEncoder().encode(document.getElementById("recording")!.textContent ?? "").buffer as ArrayBuffer;
    }
    const part = [...document.querySelectorAll<HTMLScriptElement>("script.part")].find((one) => one.dataset.name === name);
    if (!part) return null;
    const stream = new Blob([decode((part.textContent ?? "").trim())]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  };
}

function decode(text: string): Uint8Array<ArrayBuffer> {
  const native = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (native.fromBase64) return native.fromBase64(text);
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

export function served(): Source | null {
  if (location.protocol === "file:") return null;
  return async (name) => {
    const answer = await fetch(name);
    return answer.ok ? answer.arrayBuffer() : null;
  };
}

export function chosen(files: File[]): Source {
  return async (name) => (await files.find((file) => file.name === name)?.arrayBuffer()) ?? null;
}

// Throws an Error whose message says what is wrong with the recording. Null: the source has none.
export async function read(source: Source): Promise<Recording | null> {
  const text = await source("recording.json");
  if (!text) return null;
  let about: Description;
  try {
    about = JSON.parse(new TextDecoder().decode(text)) as Description;
  } catch {
    throw new Error("recording.json: this is not JSON. Record the run again with hopcast run --record.");
  }
  if (about.format !== FORMAT) {
    throw new Error(`recording.json: format ${String(about.format)} is not one that this page reads (${FORMAT}). Use the hopcast that wrote the recording.`);
  }
  const none = new ArrayBuffer(0);
  if (about.live) return { about, events: new Events(none), samples: none, positions: none, levels: new Uint8Array(none) };
  const [events, samples, positions, levels] = await Promise.all(
    ["events.bin", "samples.bin", "positions.bin", "levels.bin"].map(source));
  if (!events) throw new Error("events.bin is missing. Choose the folder that holds recording.json and events.bin.");
  return { about, events: new Events(events), samples: samples ?? none, positions: positions ?? none, levels: new Uint8Array(levels ?? none) };
}
