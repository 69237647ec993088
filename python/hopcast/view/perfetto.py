"""Recordings for Perfetto (ui.perfetto.dev) and chrome://tracing: the JSON of Chrome's trace events.

Each node is a process whose threads are the air, NAV, backoff, carrier sense, and packets.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import IO, Any

from hopcast.output import write
from hopcast.view.folder import EVENT, EVENT_BYTES, NO_FRAME, NO_INDEX, NO_VALUE, Folder

THREADS = ("air", "NAV", "backoff", "carrier sense", "packets")
THREAD_OF = {
    "nav": 1,
    "backoff": 2,
    "busy": 3,
    "enqueue": 4,
    "drop": 4,
    "send": 4,
    "deliver": 4,
    "media": 4,
    "stall": 4,
}
"""By kind; all others are on the air."""
FATES = ("on time", "late", "lost")


def write_perfetto(recording: Folder, target: str | os.PathLike[str]) -> None:
    """Write the events of this recording as trace events. Raises `RunError` if the file can't be written."""

    def fill(file: IO[bytes]) -> None:
        file.write(b'{"displayTimeUnit":"ns","traceEvents":[\n')
        for place, event in enumerate(_events(recording)):
            file.write((",\n" if place else "").encode() + json.dumps(event, ensure_ascii=False).encode())
        file.write(b"\n]}\n")

    write(target, fill)


def _events(recording: Folder) -> Iterator[dict[str, Any]]:
    import numpy as np

    record_type = np.dtype(list(EVENT))
    for number, node in enumerate(recording.about["nodes"]):
        yield {"ph": "M", "name": "process_name", "pid": number + 1, "args": {"name": node["name"]}}
        for thread, name in enumerate(THREADS):
            yield {"ph": "M", "name": "thread_name", "pid": number + 1, "tid": thread, "args": {"name": name}}
    with open(recording.path / "events.bin", "rb") as file:
        while lot := file.read(EVENT_BYTES << 12):
            # What a cut file has of one record more is left out.
            for record in np.frombuffer(lot, record_type, len(lot) // EVENT_BYTES).tolist():
                yield _event(recording.about, *record)


def _event(
    about: dict[str, Any],
    time: int,
    duration: int,
    node: int,
    peer: int,
    kind: int,
    code: int,
    flow: int,
    size: int,
    frame: int,
    value: int,
) -> dict[str, Any]:
    name: str = about["kinds"][kind]
    shown: dict[str, Any] = {}
    title = name
    if name in ("transmit", "receive", "collision", "noise"):
        title = about["frames"][code] if name == "transmit" else f"{about['frames'][code]} ({name})"
        if name == "transmit":
            shown["rate_bps"] = value * 100_000
        elif value != NO_VALUE:
            shown["sinr_db"] = value / 100
    elif name == "drop":
        shown["cause"] = about["drops"][code]
    elif name == "media":
        shown |= {"fate": FATES[code], "number": value}
    elif name == "deliver":
        shown["delay_us"] = value
    elif value:
        shown["value"] = value
    if peer != NO_INDEX:
        shown["peer"] = about["nodes"][peer]["name"]
    if flow != NO_INDEX:
        shown["flow"] = about["flows"][flow]["name"]
    if size:
        shown["size_bytes"] = size
    if frame != NO_FRAME:
        shown["frame"] = frame
    common = {"name": title, "cat": name, "pid": node + 1, "tid": THREAD_OF.get(name, 0), "ts": time / 1e3}
    if duration:
        return {**common, "ph": "X", "dur": duration / 1e3, "args": shown}
    return {**common, "ph": "i", "s": "t", "args": shown}
