"""Synthetic recordings of any size: exchanges of the distributed coordination function, mobile nodes, series and media.

python tests/viewer/synthetic.py DIR [EVENTS] [NODES]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

EVENT = np.dtype(
    [
        ("time", "<u8"),
        ("duration", "<u4"),
        ("node", "<u2"),
        ("peer", "<u2"),
        ("kind", "u1"),
        ("code", "u1"),
        ("flow", "<u2"),
        ("size", "<u4"),
        ("frame", "<u4"),
        ("value", "<i4"),
    ]
)
SAMPLE = np.dtype([("time", "<u8"), ("series", "<u4"), ("zero", "<u4"), ("value", "<f8")])
POSITION = np.dtype([("time", "<u8"), ("node", "<u4"), ("zero", "<u4"), ("x", "<f4"), ("y", "<f4")])
KINDS = [
    "transmit",
    "receive",
    "collision",
    "noise",
    "backoff",
    "nav",
    "busy",
    "enqueue",
    "drop",
    "send",
    "deliver",
    "media",
    "stall",
]
FRAMES = ["data", "ack", "rts", "cts", "beacon", "block-ack"]
DROPS = ["retry_limit_long", "queue_full"]
SLOT_NS = 9_000
CLASSES = {0: 0, 1: 1, 2: 2, 5: 3, 4: 4}
"""The class in levels.bin of each kind that has one."""
PER_EXCHANGE = 17


def write(folder: Path, events: int = 1000, nodes: int = 8, seed: int = 1) -> dict[str, Any]:
    """Write a recording with about the given number of events into the folder and return its description."""
    draw = np.random.default_rng(seed)
    exchanges = max(1, events // PER_EXCHANGE) if events else 0
    sender = draw.integers(0, nodes, exchanges).astype(np.int64)
    receiver = (sender + draw.integers(1, nodes, exchanges)) % nodes
    other = (receiver + 1 + (((receiver + 1) % nodes) == sender)) % nodes
    slots = draw.integers(0, 16, exchanges).astype(np.int64)
    start = np.cumsum(1_100_000 + draw.integers(0, 400_000, exchanges)) - 1_000_000
    fate = draw.random(exchanges)
    ok, collided, noisy = fate >= 0.12, fate < 0.08, (fate >= 0.08) & (fate < 0.12)
    dropped = fate < 0.01
    rows: list[np.ndarray[Any, Any]] = []

    def add(
        which: Any, offset: Any, duration: Any, node: Any, peer: Any, kind: int, code: int = 0, **more: Any
    ) -> None:
        part = np.zeros(exchanges, EVENT)
        part["time"] = start + offset
        part["duration"], part["node"], part["peer"], part["kind"], part["code"] = duration, node, peer, kind, code
        part["flow"] = more.get("flow", 0xFFFF)
        part["size"], part["value"] = more.get("size", 0), more.get("value", 0)
        part["frame"] = np.arange(exchanges) * 4 + more["frame"] if "frame" in more else 0xFFFFFFFF
        rows.append(part[which] if which is not None else part)

    nobody = 0xFFFF
    flow = sender % 2
    air = 34_000 + slots * SLOT_NS
    sinr = (1800 + draw.normal(0, 300, exchanges)).astype(np.int64)
    add(None, -30_000, 0, sender, nobody, 9, flow=flow, size=1200, value=np.arange(exchanges))
    add(None, -28_000, 0, sender, nobody, 7, flow=flow, size=1228, value=draw.integers(1, 20, exchanges))
    add(slots > 0, 34_000, slots * SLOT_NS, sender, nobody, 4, value=slots)
    sizes = {"rts": 20, "cts": 14, "data": 1264, "ack": 14}
    at = air
    for name, length, back in (
        ("rts", 52_000, False),
        ("cts", 44_000, True),
        ("data", 420_000, False),
        ("ack", 44_000, True),
    ):
        source, target = (receiver, sender) if back else (sender, receiver)
        code = FRAMES.index(name)
        number = ["rts", "cts", "data", "ack"].index(name)
        sent = ok if name == "ack" else None
        rate = 240 if name == "data" else 60
        add(sent, at, length, source, target, 0, code, size=sizes[name], frame=number, value=rate)
        if name == "data":
            add(ok, at + 100, length, target, source, 1, code, size=1264, frame=number, value=sinr)
            add(collided, at + 100, length, target, source, 2, code, size=1264, frame=number, value=sinr - 1700)
            add(noisy, at + 100, length, target, source, 3, code, size=1264, frame=number, value=sinr - 1300)
        else:
            add(sent, at + 100, length, target, source, 1, code, size=sizes[name], frame=number, value=sinr)
            if name == "rts":
                add(None, at + 150, length, other, source, 1, code, size=20, frame=number, value=sinr - 400)
                add(None, at + length + 150, 580_000, other, nobody, 5)
        add(sent, at + 150, length, other, nobody, 6)
        at = at + length + 16_000
    add(dropped, at, 0, sender, receiver, 8, 0, flow=flow, size=1228)
    add(ok, at, 0, receiver, sender, 10, flow=flow, size=1200, value=draw.integers(800, 90_000, exchanges))
    media = draw.random(exchanges) < 0.1
    player = np.full(exchanges, min(1, nodes - 1))
    verdict = np.where(fate < 0.04, 2, np.where(fate < 0.1, 1, 0))
    for code in range(3):
        add(media & (verdict == code), at + 10, 0, player, nobody, 11, code, flow=0, value=np.arange(exchanges))
    add(media & (fate < 0.01), at + 20, 40_000_000, player, nobody, 12, flow=0)
    if exchanges:  # one event far longer than the others
        long = np.zeros(1, EVENT)
        long["time"], long["duration"], long["node"], long["kind"] = start[0], 100_000_000, min(2, nodes - 1), 6
        long["peer"], long["flow"], long["frame"] = 0xFFFF, 0xFFFF, 0xFFFFFFFF
        rows.append(long)
    table = np.concatenate(rows)
    table = table[np.argsort(table["time"], kind="stable")]
    end = int(start[-1] + 3_000_000) if exchanges else 1_000_000_000

    series: list[dict[str, Any]] = [
        {"name": "cwnd", "unit": "B", "node": None, "flow": 0, "panel": "window"},
        {"name": "cwnd", "unit": "B", "node": None, "flow": 1, "panel": "window"},
        {"name": "queue", "unit": "packets", "node": 0, "flow": None, "panel": "queue"},
    ]
    points = min(5000, exchanges)
    samples = np.zeros(points * 3, SAMPLE)
    samples["time"] = np.repeat(np.linspace(0, end, points, dtype=np.int64), 3)
    samples["series"] = np.tile(np.arange(3), points)
    phase = np.arange(points)
    samples["value"][0::3] = 3000 + 2400 * (phase % 40)
    samples["value"][1::3] = 3000 + 1700 * ((phase + 13) % 60)
    samples["value"][2::3] = draw.integers(0, 20, points)
    places = [
        (60.0 + 50 * np.cos(2 * np.pi * k / nodes), 60.0 + 50 * np.sin(2 * np.pi * k / nodes)) for k in range(nodes)
    ]
    positions = np.zeros(3, POSITION)
    positions["time"] = [0, end // 2, end]
    positions["node"] = 0
    positions["x"], positions["y"] = [110, 60, 110], [60, 60, 20]

    levels, parts, offset = [], [], 0
    width = 1024
    while len(table) and width * len(table) < 8 * end:
        width *= 2
    while True:
        bins = -(-end // width)
        if nodes * bins * 5 <= 16_000_000:
            shares = _shares(table, nodes, width, bins)
            levels.append({"bin_ns": width, "bins": bins, "offset": offset})
            parts.append(shares.tobytes())
            offset += shares.size
        if bins <= 1024:
            break
        width *= 4
    counts = np.bincount(table["kind"], minlength=len(KINDS))
    about: dict[str, Any] = {
        "format": 1,
        "hopcast": "0.1.0",
        "scenario": "synthetic",
        "seed": seed,
        "duration_ns": end,
        "slot_ns": {"802.11a": SLOT_NS},
        "nodes": [{"name": f"n{k}", "x": float(x), "y": float(y)} for k, (x, y) in enumerate(places)],
        "area": [0, 0, 120, 120],
        "flows": [
            {"name": "call", "from": 0, "to": 1, "protocol": "rtp"},
            {"name": "download", "from": 1, "to": 0, "protocol": "tcp"},
        ],
        "links": [],
        "kinds": KINDS,
        "frames": FRAMES,
        "drops": DROPS,
        "series": series,
        "counts": {name: int(counts[k]) for k, name in enumerate(KINDS)},
        "events": len(table),
        "samples": len(samples),
        "positions": len(positions),
        "levels": levels,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "events.bin").write_bytes(table.tobytes())
    (folder / "samples.bin").write_bytes(samples.tobytes())
    (folder / "positions.bin").write_bytes(positions.tobytes())
    (folder / "levels.bin").write_bytes(b"".join(parts))
    (folder / "recording.json").write_text(json.dumps(about))
    return about


def _shares(table: np.ndarray[Any, Any], nodes: int, width: int, bins: int) -> np.ndarray[Any, Any]:
    """Share of each bin, 0 to 255, that each class of events takes at each node."""
    busy = np.zeros(nodes * bins * 5)
    for kind, place in CLASSES.items():
        part = table[table["kind"] == kind]
        begin = part["time"].astype(np.int64)
        end = begin + part["duration"]
        for _ in range(200):
            if not len(begin):
                break
            index = begin // width
            stop = np.minimum(end, (index + 1) * width)
            inside = index < bins
            key = ((part["node"].astype(np.int64) * bins + index) * 5 + place)[inside]
            busy += np.bincount(key, (stop - begin)[inside], minlength=len(busy))
            left = stop < end
            part, begin, end = part[left], stop[left], end[left]
    return np.minimum(255, np.ceil(busy / width * 255)).astype(np.uint8)


if __name__ == "__main__":
    described = write(Path(sys.argv[1]), *map(int, sys.argv[2:4]))
    print(f"{described['events']} events in {sys.argv[1]}")
