"""The scene of nodes that roam, written down once for the three simulators: where its nodes go, and who sends to whom.

One node per 100 m x 100 m, random waypoint without pause up to 5 m/s, and a flow of 512 B at 4 packets/s from every fifth
node to any other. All three read the movement from one file, in the format of ns-2's `setdest`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

SPEED = (0.1, 5.0)
"""Metres per second."""
LATEST = 10.0
"""Seconds by which all flows have started: at one instant, they would look for their routes together."""
MOVEMENT, FLOWS = "movement.tcl", "flows.txt"


def write_scene(nodes: int, seconds: float, directory: Path) -> Path:
    """Write movement, flows and hopcast's scenario into a folder of `directory`, and name it.

    `seconds` is how long nodes are to move. A longer scene begins as a shorter one does.
    """
    scene = directory / f"roam-{nodes}-{seconds:g}"
    scene.mkdir(exist_ok=True)
    side = 100.0 * math.sqrt(nodes)
    movement = [line for node in range(nodes) for line in _way(node, side, seconds)]
    (scene / MOVEMENT).write_text("\n".join(movement) + "\n", encoding="utf-8")
    flows = list(_flows(nodes))
    text = "".join(f"{source} {sink} {start:.6f}\n" for source, sink, start in flows)
    (scene / FLOWS).write_text(text, encoding="utf-8")
    (scene / "roam.toml").write_text(_scenario(nodes, flows), encoding="utf-8")
    return scene


def _way(node: int, side: float, seconds: float) -> Iterator[str]:
    """One node's places and destinations, as lines of `setdest`."""
    draws = random.Random(f"way of {node}")
    x, y = draws.uniform(1.0, side), draws.uniform(1.0, side)
    yield f"$node_({node}) set X_ {x:.6f}"
    yield f"$node_({node}) set Y_ {y:.6f}"
    yield f"$node_({node}) set Z_ 0.0"
    now = 0.0
    while now < seconds:
        # ns-2 accepts no destination on the edge of its field.
        to_x, to_y, speed = draws.uniform(1.0, side), draws.uniform(1.0, side), draws.uniform(*SPEED)
        yield f'$ns_ at {now:.6f} "$node_({node}) setdest {to_x:.6f} {to_y:.6f} {speed:.6f}"'
        now += math.dist((x, y), (to_x, to_y)) / speed
        x, y = to_x, to_y


def _flows(nodes: int) -> Iterator[tuple[int, int, float]]:
    """Source, destination and start in seconds of each flow."""
    draws = random.Random(f"flows between {nodes}")
    for source in range(0, nodes, 5):
        sink = draws.randrange(nodes - 1)
        yield source, sink + (sink >= source), draws.uniform(0.0, LATEST)


def _scenario(nodes: int, flows: list[tuple[int, int, float]]) -> str:
    """hopcast's scenario file."""
    head = f"""\
name = "{nodes} roaming nodes"
seed = 1

[radio]
profile = "ns-2"
data_rate = "2 Mb/s"
basic_rate = "1 Mb/s"

[[nodes]]
name = "n"
count = {nodes}
mobility = {{ model = "trace", file = "{MOVEMENT}" }}
routing = {{ protocol = "aodv", profile = "ns-2" }}
"""
    return head + "".join(
        f"""
[[flows]]
name = "cbr{source}"
from = "n{source}"
to = "n{sink}"
start = "{start:.6f} s"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", rate = "16384 b/s", packet = "512 B" }}
"""
        for source, sink, start in flows
    )
