"""The classical scene of ad hoc routing: 50 nodes, 1500 m x 300 m, random waypoint, sources of 4 packets/s.

J. Broch, D. A. Maltz, D. B. Johnson, Y.-C. Hu, J. Jetcheva: "A performance comparison of multi-hop wireless ad hoc network
routing protocols", ACM MobiCom 1998. Prints, for each protocol and pause, the share of datagrams delivered, their mean delay
and the routing messages sent, in Markdown.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import hopcast
from hopcast.statistics import ci95, mean

if TYPE_CHECKING:
    from hopcast.types import Flow, Routing

PROTOCOLS: dict[str, Routing] = {
    "AODV": {"protocol": "aodv", "profile": "ns-2"},
    "DSR": {"protocol": "dsr", "profile": "ns-2"},
    "DSDV": {"protocol": "dsdv", "link_layer_notification": True},
    "OLSR": {"protocol": "olsr"},
}
NODES, WIDTH, HEIGHT = 50, 1500.0, 300.0


def scenario(
    routing: Routing, pause: float, seconds: float, sources: int, packet: int, speed: float, start: str
) -> hopcast.Scenario:
    """One run of the scene; source k sends to node k + 1, which is as good as any."""
    flows: list[Flow] = [
        {
            "name": f"cbr{index}",
            "from": f"n{index}",
            "to": f"n{index + 1}",
            # Within the first 180 s (their section 4.2).
            "start": min(180.0, seconds / 5.0) * (index + 1) / sources,
            "transport": {"protocol": "udp"},
            "application": {"kind": "cbr", "rate": 4.0 * 8.0 * packet, "packet": packet},
        }
        for index in range(sources)
    ]
    return hopcast.Scenario(
        name="classical scene",
        duration=seconds,
        seed=1,
        radio={"profile": "ns-2", "data_rate": "2 Mb/s", "queue": {"discipline": "drop-tail"}},
        nodes=[
            {
                "name": "n",
                "count": NODES,
                "placement": {"shape": "uniform", "width": WIDTH, "height": HEIGHT},
                "mobility": {"model": "random-waypoint", "speed": [0.1, speed], "pause": pause, "start": start},
                "routing": routing,
            }
        ],
        flows=flows,
    )


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pauses", type=float, nargs="+", default=[0, 30, 60, 120, 300, 600, 900], help="seconds")
    parser.add_argument("--seconds", type=float, default=900.0, help="simulated time")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each case")
    parser.add_argument("--sources", type=int, default=20)
    parser.add_argument("--packet", type=int, default=64, help="octets")
    parser.add_argument("--speed", type=float, default=20.0, help="the highest, m/s")
    parser.add_argument("--start", default="classical", help="of the random waypoints: classical or steady")
    parser.add_argument("--protocols", nargs="+", default=list(PROTOCOLS), choices=list(PROTOCOLS))
    given = parser.parse_args()
    print("| protocol | pause, s | delivered, % | delay, ms | routing messages | per datagram delivered |")
    print("|---|---|---|---|---|---|")
    for name, pause in product(given.protocols, given.pauses):
        made = scenario(PROTOCOLS[name], pause, given.seconds, given.sources, given.packet, given.speed, given.start)
        result = hopcast.run(made, replications=given.seeds)
        nodes, flows = result.nodes, result.flows
        rows = []
        for (seed,), of_run in flows.group_by("seed", maintain_order=True):
            received = of_run["received_packets"].sum()
            messages = nodes.filter(nodes["seed"] == seed)["routing_packets"].sum()
            delay = (of_run["delay_mean_s"].fill_null(0.0) * of_run["received_packets"]).sum() / max(received, 1)
            rows.append(
                (100.0 * received / of_run["sent_packets"].sum(), delay * 1e3, messages, messages / max(received, 1))
            )
        cells = []
        for column, digits in zip(zip(*rows, strict=True), (1, 1, 0, 2), strict=True):
            half = ci95(list(column))
            cells.append(f"{mean(list(column)):.{digits}f}" + ("" if half is None else f" ± {half:.{digits}f}"))
        print(f"| {name} | {pause:g} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
