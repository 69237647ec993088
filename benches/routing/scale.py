"""The cost of a reception against the number of nodes, at one node per 100 m x 100 m.

Random waypoint up to 5 m/s, AODV, a flow of 512 B at 4 packets/s from every fifth node to one at most 500 m away at the start.
User time is that of the process; a reception is a frame at a node that senses it: edges make neighbours grow with the number of
nodes, so that node-seconds would be no fair unit.
"""

from __future__ import annotations

import argparse
import math
import random
from typing import TYPE_CHECKING

import hopcast

if TYPE_CHECKING:
    from hopcast.types import Flow

NEAR = 500.0
"""Metres."""


def scenario(nodes: int, seconds: float, anywhere: bool) -> hopcast.Scenario:
    """`nodes` in a square, drawn by the number of nodes alone."""
    draws = random.Random(nodes)
    side = 100.0 * math.sqrt(nodes)
    places = [[draws.uniform(0.0, side), draws.uniform(0.0, side)] for _ in range(nodes)]
    flows: list[Flow] = []
    for source in range(0, nodes, 5):
        near = [
            node
            for node in range(nodes)
            if node != source and (anywhere or math.dist(places[node], places[source]) <= NEAR)
        ]
        if not near:
            continue
        flows.append(
            {
                "name": f"cbr{source}",
                "from": f"n{source}",
                "to": f"n{draws.choice(near)}",
                "start": draws.uniform(0.0, 10.0),
                "transport": {"protocol": "udp"},
                "application": {"kind": "cbr", "rate": 4.0 * 512.0 * 8.0, "packet": 512},
            }
        )
    return hopcast.Scenario(
        name=f"{nodes} roaming nodes",
        duration=seconds,
        seed=1,
        radio={"profile": "ns-2", "data_rate": "2 Mb/s"},
        nodes=[
            {
                "name": "n",
                "count": nodes,
                "placement": {"shape": "points", "at": places},
                "mobility": {
                    "model": "random-waypoint",
                    "speed": [0.1, 5.0],
                    "pause": 0,
                    "area": {"width": side, "height": side},
                },
                "routing": {"protocol": "aodv", "profile": "ns-2"},
            }
        ],
        flows=flows,
    )


def main() -> None:
    """Run and print, in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[50, 100, 200, 400, 800, 1600, 3200])
    parser.add_argument("--seconds", type=float, default=100.0, help="simulated time")
    parser.add_argument("--anywhere", action="store_true", help="destinations at any distance")
    given = parser.parse_args()
    print("| nodes | receptions | user CPU, s | ns a reception | peak memory, MB | delivered, % |")
    print("|---|---|---|---|---|---|")
    for nodes in given.nodes:
        document = hopcast.run(scenario(nodes, given.seconds, given.anywhere)).json()
        cost, receptions = document["cost"], document["totals"]["receptions"]
        sent = sum(flow["sent_packets"] for flow in document["flows"])
        received = sum(flow["received_packets"] for flow in document["flows"])
        print(
            f"| {nodes} | {receptions} | {cost['user_s']:.2f} | {cost['user_s'] / receptions * 1e9:.0f} "
            f"| {cost['peak_rss_bytes'] / 1e6:.0f} | {100.0 * received / max(sent, 1):.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
