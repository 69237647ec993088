"""The network of a run, in the report: a drawing of its topology, its nodes, and what they dropped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from hopcast import tables
from hopcast.figures import Place, Way, floor, svg
from hopcast.numbers import with_interval
from hopcast.report import html
from hopcast.report.documents import load_layout

MOST_FLOWS = 6
"""Flows that a drawing shows: the number of colours."""
COUNTERS = (
    ("originated", "originated"),
    ("received", "received"),
    ("forwarded", "forwarded"),
    ("delivered", "delivered"),
    ("data frames sent", "data_sent"),
    ("routing packets", "routing_packets"),
)
"""Columns of a node, and the fields of its object."""
MARKS = {"ad hoc": "o", "station": "o", "access point": "^", "wired": "s"}


def load(folder: Path) -> dict[str, Any] | None:
    """The layout of the run in a folder; `None` if there is none."""
    file = folder / "layout.json"
    return load_layout(file) if file.exists() else None


def name(layout: dict[str, Any] | None) -> str:
    """What the report of a run calls it."""
    return str(layout["name"]) if layout is not None and layout["name"] else "a run"


def section(document: dict[str, Any], layout: dict[str, Any] | None) -> list[str]:
    """The drawing, if the layout is known, and tables of nodes and drops, from the object of a run."""
    drawn = [] if layout is None else _drawing(document, layout)
    nodes = document.get("nodes", [])
    if not drawn and not nodes:
        return []
    return ['<section id="network">', "<h2>Network</h2>", *drawn, *_nodes(nodes, layout), *_drops(nodes), "</section>"]


def _drawing(document: dict[str, Any], layout: dict[str, Any]) -> list[str]:
    nodes = {node["name"]: node for node in layout["nodes"]}
    if not nodes:
        return []
    places = [
        Place(node["name"], _position(node), MARKS[node["role"]], is_hollow=bool(node["moves"]))
        for node in nodes.values()
    ]
    flows = [flow for flow in document["flows"] if flow["from"] in nodes and flow["to"] in nodes][:MOST_FLOWS]
    ways = [Way(flow["name"], flow["from"], flow["to"], colour) for colour, flow in enumerate(flows)]
    figure = floor(places, ways, [(a, b) for a, b in layout["wires"]])
    moving = sum(node["moves"] for node in nodes.values())
    left_out = len(document["flows"]) - len(flows)
    notes = [
        "Places of the nodes at the start of the run, and the ends of the flows" + (f" (the first {MOST_FLOWS})" if left_out > 0 else ""),
        *(["hollow: nodes that move"] if moving else []),
        *(["squares: nodes without radio, which have no place"] if any(not node["position_m"] for node in nodes.values()) else []),
        *(["triangles: access points"] if any(node["role"] == "access point" for node in nodes.values()) else []),
    ]  # fmt: skip
    return ['<div class="figures">', html.figure("; ".join(notes), svg(figure, "run-network-")), "</div>"]


def _position(node: dict[str, Any]) -> tuple[float, float] | None:
    place = node["position_m"]
    return None if place is None else (float(place[0]), float(place[1]))


def _nodes(nodes: Sequence[dict[str, Any]], layout: dict[str, Any] | None) -> list[str]:
    if not nodes:
        return []
    known = {} if layout is None else {node["name"]: node for node in layout["nodes"]}
    rows = [
        [
            escape(node["name"]),
            known.get(node["name"], {}).get("role", "–"),
            *(_count(node, field) for _, field in COUNTERS),
            _total(node.get("drops", {})),
        ]
        for node in nodes
    ]
    head = ["node", "role", *(name for name, _ in COUNTERS), "dropped"]
    return [
        f"<details{' open' if len(rows) <= 12 else ''}><summary>Nodes ({len(rows)})</summary>",
        "<p>In packets, unless the heading says otherwise. The dictionary of results (<code>hopcast schema --results</code>) has each "
        "counter's meaning.</p>",
        tables.table(head, rows, numbers=range(2, len(head))),
        "</details>",
    ]


def _drops(nodes: Sequence[dict[str, Any]]) -> list[str]:
    """A row for each cause that dropped a packet, the most frequent first."""
    by_cause: dict[str, list[tuple[float, str]]] = {}
    for node in nodes:
        for cause, count in _causes(node.get("drops", {})).items():
            by_cause.setdefault(cause, []).append((count, node["name"]))
    if not by_cause:
        return ["<p>No packet was dropped.</p>"] if nodes else []
    total = sum(count for counts in by_cause.values() for count, _ in counts)
    rows = [
        [
            escape(cause.replace("_", " ")),
            with_interval(sum(count for count, _ in counts), None),
            f"{100 * sum(count for count, _ in counts) / total:.1f}",
            ", ".join(
                f"{escape(name)} {with_interval(count, None)}" for count, name in sorted(counts, key=_largest)[:3]
            ),
        ]
        for cause, counts in sorted(by_cause.items(), key=lambda item: -sum(count for count, _ in item[1]))
    ]
    return [
        "<h3>Dropped packets</h3>",
        tables.table(["cause", "packets", "share, %", "most at"], rows, numbers=(1, 2)),
    ]


def _largest(counted: tuple[float, str]) -> float:
    return -counted[0]


def _causes(drops: dict[str, Any]) -> dict[str, float]:
    return {cause: count for cause, count in drops.items() if count and not cause.endswith("_ci95")}


def _total(drops: dict[str, Any]) -> str:
    return with_interval(sum(_causes(drops).values()), None)


def _count(node: dict[str, Any], field: str) -> str:
    value = node.get(field)
    return "–" if value is None else with_interval(value, node.get(f"{field}_ci95"))
