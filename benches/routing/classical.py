"""The classical scene of ad hoc routing: 50 nodes, 1500 m x 300 m, random waypoint up to 20 m/s, sources of even datagrams.

J. Broch, D. A. Maltz, D. B. Johnson, Y.-C. Hu, J. Jetcheva: "A performance comparison of multi-hop wireless ad hoc network
routing protocols", ACM MobiCom 1998 (64 B); C. E. Perkins, E. M. Royer, S. R. Das, M. K. Marina: "Performance comparison of
two on-demand routing protocols for ad hoc networks", IEEE Personal Communications, February 2001 (512 B).

Measures each case several times and keeps each run in `classical.json`, from which `claims.py` and the figures are made. What
the file has already is not run again: delete it after a change of results.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hopcast

if TYPE_CHECKING:
    from hopcast.types import Flow, Routing

RESULTS = Path(__file__).with_suffix(".json")
NODES, WIDTH, HEIGHT = 50, 1500.0, 300.0
SECONDS = 900.0
SPEED = 20.0
"""The highest, m/s."""
PAUSES = (0.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0)
"""Seconds; that of 900 is no movement at all."""
LATEST = 180.0
"""Seconds within which all sources have started (Broch and others, section 4.2)."""

PROTOCOLS: dict[str, Routing] = {
    "AODV": {"protocol": "aodv"},
    "DSR": {"protocol": "dsr"},
    # Theirs: each newer sequence number triggers an update, and a frame given up breaks no way (section 3.1).
    "DSDV": {"protocol": "dsdv", "sequence_number_triggers": True},
    "OLSR": {"protocol": "olsr"},
}
"""As the radio profile `ns-2` has them, OLSR as RFC 3626 does."""


@dataclass(frozen=True)
class Case:
    """One point of a curve. `changes` are keys of the scenario that have other values than in the scene."""

    protocol: str
    pause: float
    packet: int = 64
    """Octets."""
    sources: int = 20
    rate: float = 4.0
    """Datagrams of a source in a second."""
    changes: tuple[tuple[str, Any], ...] = ()


SWITCH = "nodes.n.routing.link_layer_notification"
NUMBERS = "nodes.n.routing.sequence_number_triggers"
QUEUE = "nodes.n.route_queue"
PROFILE = "nodes.n.routing.profile"
Changes = list[dict[str, Any]]
BASIC, REPAIR = "radio.basic_rate", "nodes.n.routing.local_repair"
REPAIRS: Changes = [{REPAIR: "never"}, {REPAIR: "near"}]
HELLO, TC = "nodes.n.routing.hello_interval", "nodes.n.routing.tc_interval"
CROWD: dict[str, Any] = {"pause": 0.0, "packet": 512, "sources": 40, "rate": 3.0}
"""The highest load of Perkins and others: their 40 sources have 3 packets/s."""
CAUSES: dict[str, tuple[dict[str, Any], dict[str, Changes]]] = {
    "64 B": (
        {"pause": 0.0},
        {
            "AODV": REPAIRS,
            "DSDV": [
                {NUMBERS: False},
                {QUEUE: 1},
                {SWITCH: True},
                {SWITCH: True, NUMBERS: False},
                {SWITCH: True, NUMBERS: False, QUEUE: 5},
                {SWITCH: True, NUMBERS: False, QUEUE: 1},
                {"nodes.n.routing.period": "5 s"},
            ],
            "DSR": [{PROFILE: "rfc-4728"}],
            "OLSR": [
                {SWITCH: True},
                {HELLO: "0.5 s", TC: "1.25 s"},
                {"nodes.n.routing.hysteresis": True},
                {SWITCH: True, HELLO: "0.5 s", TC: "1.25 s"},
            ],
        },
    ),
    "512 B": ({"pause": 0.0, "packet": 512}, {"AODV": REPAIRS, "DSR": []}),
    "512 B, pause 600": ({"pause": 600.0, "packet": 512}, {"AODV": REPAIRS, "DSR": []}),
    "40 sources": (
        CROWD,
        {"AODV": [{BASIC: "1 Mb/s"}, *REPAIRS], "DSR": [{BASIC: "1 Mb/s"}]},
    ),
}
"""What may cause a difference: the scene that it is changed in, and by protocol the changes. A protocol without any stands beside
the others."""


def cases() -> Iterator[Case]:
    """Both papers' curves, the higher load of the second, and the suspected causes."""
    for packet in (64, 512):
        for pause in PAUSES:
            for protocol in PROTOCOLS:
                yield Case(protocol, pause, packet)
    for protocol in ("AODV", "DSR"):
        yield Case(protocol, **CROWD)
    for scene, suspected in CAUSES.values():
        for protocol, suspects in suspected.items():
            for changes in suspects:
                yield Case(protocol, **scene, changes=tuple(changes.items()))


def streams(sources: int, seconds: float = SECONDS) -> Iterator[tuple[int, int, float]]:
    """Source, destination and start in seconds of each flow."""
    draws = random.Random("starts of the sources")
    for source in range(sources):
        # Nodes are alike, so that any other node is as good as one that is drawn.
        yield source, (source + 1) % NODES, draws.uniform(0.0, min(LATEST, seconds / 5.0))


def scenario(case: Case, seconds: float = SECONDS) -> hopcast.Scenario:
    """The scene of a case. The seed draws places and movement; sources, destinations and starts are the same in all runs."""
    flows: list[Flow] = [
        {
            "name": f"cbr{source}",
            "from": f"n{source}",
            "to": f"n{sink}",
            "start": start,
            "transport": {"protocol": "udp"},
            "application": {"kind": "cbr", "rate": case.rate * 8.0 * case.packet, "packet": case.packet},
        }
        for source, sink, start in streams(case.sources, seconds)
    ]
    made = hopcast.Scenario(
        name="classical scene",
        duration=seconds,
        seed=1,
        radio={"profile": "ns-2", "data_rate": "2 Mb/s"},
        nodes=[
            {
                "name": "n",
                "count": NODES,
                "placement": {"shape": "uniform", "width": WIDTH, "height": HEIGHT},
                "mobility": {
                    "model": "random-waypoint",
                    "speed": [0.0, SPEED],
                    "pause": case.pause,
                    "start": "classical",
                },
                "routing": PROTOCOLS[case.protocol],
                "arp": {},
            }
        ],
        flows=flows,
    )
    for key, value in case.changes:
        made = made.set(key, value)
    return made


def measure(case: Case, first: int, count: int, seconds: float = SECONDS) -> list[dict[str, Any]]:
    """What came of the runs with so many seeds from the `first`: datagrams, their mean delay in seconds, routing messages hop by
    hop, drops by cause."""
    result = hopcast.run(scenario(case, seconds), seed=first, replications=count)
    runs = []
    for (seed,), flows in result.flows.group_by("seed", maintain_order=True):
        nodes = result.nodes.filter(result.nodes["seed"] == seed)
        received = flows["received_packets"].sum()
        delays = (flows["delay_mean_s"].fill_null(0.0) * flows["received_packets"]).sum()
        drops = {name.removeprefix("drop_"): nodes[name].sum() for name in nodes.columns if name.startswith("drop_")}
        runs.append(
            {
                "seed": seed,
                "sent": flows["sent_packets"].sum(),
                "received": received,
                "delay_s": round(delays / max(received, 1), 6),
                "routing_packets": nodes["routing_packets"].sum(),
                "routing_bytes": nodes["routing_bytes"].sum(),
                "drops": {cause: count for cause, count in drops.items() if count},
            }
        )
    return runs


def read(path: Path = RESULTS) -> dict[Case, list[dict[str, Any]]]:
    """The runs of each case that was measured."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {
        Case(**(one["case"] | {"changes": tuple((key, value) for key, value in one["case"]["changes"])})): one["runs"]
        for one in kept
    }


def write(measured: dict[Case, list[dict[str, Any]]], path: Path = RESULTS) -> None:
    """Keeps the runs, one in a line, in the order of `cases`."""
    blocks = []
    for case in (case for case in cases() if case in measured):
        runs = measured[case]
        lines = ",\n  ".join(json.dumps(run) for run in runs)
        blocks.append(f'{{"case": {json.dumps(asdict(case))}, "runs": [\n  {lines}\n]}}')
    path.write_text("[\n" + ",\n".join(blocks) + "\n]\n", encoding="utf-8")


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="runs of each case")
    given = parser.parse_args()
    measured = read()
    for case in cases():
        runs = measured.setdefault(case, [])
        if len(runs) < given.seeds:
            runs += measure(case, len(runs) + 1, given.seeds - len(runs))
            write(measured)
            print(case, flush=True)


if __name__ == "__main__":
    main()
