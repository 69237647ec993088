"""The fair queues of mac80211 at an access point that serves near stations and a far one, each at its own best rate."""

from __future__ import annotations

import math
from typing import Any

from hopcast import Scenario, run
from test_aggregation import AIFS, MPDU, PAYLOAD, RESPONSES, SIFS, SLOT, Link, ofdm

FLOWS = {
    name: {
        "from": "ap",
        "to": to,
        "start": "1 s",
        "transport": {"protocol": "udp"},
        "application": {"kind": "cbr", "rate": rate, "packet": packet},
    }
    for name, to, rate, packet in [
        ("near0", "near0", "120 Mb/s", "1472 B"),
        ("near1", "near1", "120 Mb/s", "1472 B"),
        ("far", "far", "120 Mb/s", "1472 B"),
        ("game", "near0", "40 kb/s", "100 B"),
    ]
}


def measure(discipline: str, **queue: Any) -> dict[str, Any]:
    """Results of a cell: two stations at 3 m, one at 90 m, and a small flow next to the large ones."""
    document: dict[str, Any] = {
        "duration": "6 s",
        "seed": 1,
        "radio": {
            "standard": "802.11n",
            "band": "5 GHz",
            "channel": 36,
            "spatial_streams": 2,
            "data_rate": "ideal",
            "propagation": {"model": "log-distance", "exponent": 3.0},
            "queue": {"discipline": discipline, "packets": 1000, **queue},
        },
        "nodes": [
            {"name": "ap", "placement": {"shape": "points", "at": [["0 m", "0 m"]]}},
            {"name": "near", "count": 2, "placement": {"shape": "points", "at": [["3 m", "0 m"], ["0 m", "3 m"]]}},
            {"name": "far", "placement": {"shape": "points", "at": [["90 m", "0 m"]]}},
        ],
        "flows": [{"name": name, **flow} for name, flow in FLOWS.items()],
    }
    return run(Scenario(**document)).json()


def cell(discipline: str, **queue: Any) -> dict[str, Any]:
    """The flows by name."""
    return {flow["name"]: flow for flow in measure(discipline, **queue)["flows"]}


def test_a_far_station_no_longer_takes_the_time_of_the_near_ones() -> None:
    """As published for Linux: the total rises, the slow station's share falls, and latency under load falls with it."""
    before, after = cell("drop-tail"), cell("mac80211")
    total = {
        queue: sum(flows[name]["goodput_bps"] for name in FLOWS)
        for queue, flows in (("before", before), ("after", after))
    }
    assert total["after"] > 1.1 * total["before"]
    assert after["far"]["goodput_bps"] < before["far"]["goodput_bps"]
    # Near stations have equal links.
    assert 0.95 < after["near0"]["goodput_bps"] / after["near1"]["goodput_bps"] < 1.05
    # The small flow has a flow queue of its own, and waits for the hardware alone: three stations take turns with aggregates of
    # up to 4 ms.
    assert after["game"]["delay_p99_s"] < 0.020 < 2 * before["game"]["delay_p99_s"]
    assert after["game"]["lost_packets"] == 0


NEAR, FAR = Link("802.11n", 7, 2, 20, 0.8), Link("802.11n", 1, 2, 20, 0.8)
"""The best schemes at 3 m and 90 m: 130 and 26 Mb/s."""


def aggregate(link: Link) -> tuple[int, float]:
    """Packets of an aggregate, and the time that it takes with its answer and the wait for access.

    T. Høiland-Jørgensen et al., "Ending the Anomaly", USENIX ATC 2017, section 2.2.1. An aggregate of the queue has 32 packets, or as
    many as fill 4 ms.
    """

    def octets(count: int) -> int:
        return (count - 1) * (4 + MPDU + -MPDU % 4) + 4 + MPDU

    count = next((n for n in range(1, 33) if link.duration(octets(n)) >= 4e-3), 32)
    answer = ofdm(RESPONSES[link.mcs], 32)
    return count, link.duration(octets(count)) + SIFS + answer + AIFS + 7.5 * SLOT


def test_each_station_gets_a_third_of_the_airtime() -> None:
    """By the closed form of the airtime model within 5 %, and Jain's index of the airtimes above 0.98."""
    flows = cell("mac80211")
    airtimes = []
    for name, link in (("near0", NEAR), ("near1", NEAR), ("far", FAR)):
        count, time = aggregate(link)
        alone = 8 * PAYLOAD * count / time
        assert math.isclose(flows[name]["goodput_bps"], alone / 3, rel_tol=0.05), (name, alone / 3)
        airtimes.append(flows[name]["goodput_bps"] / alone)
    jain = sum(airtimes) ** 2 / len(airtimes) / sum(airtime**2 for airtime in airtimes)
    assert jain > 0.98


def test_receivers_take_turns_in_a_drivers_queue() -> None:
    """While it has packets for all, they get equally many aggregates. A FIFO without a driver gives them equal rates."""

    def answers(**queue: Any) -> list[int]:
        nodes = {node["name"]: node for node in measure("drop-tail", **queue)["nodes"]}
        return [nodes[name]["block_ack_sent"] + nodes[name]["ack_sent"] for name in ("near0", "near1", "far")]

    by_turns = answers(driver_packets=30_000)
    assert max(by_turns) < 1.05 * min(by_turns)
    by_arrival = answers()
    assert max(by_arrival) > 2 * min(by_arrival)


def test_a_drivers_queue_fills_with_packets_of_the_far_station() -> None:
    """It takes packets as the discipline gives them. Those of the far station stay longest, so in the end all rates are equal again."""
    flows = cell("fq-codel", driver_packets=123)
    rates = [flows[name]["goodput_bps"] for name in ("near0", "near1", "far")]
    assert max(rates) < 1.05 * min(rates)
    # FQ-CoDel no longer sees what waits there, and the small flow waits behind aggregates.
    assert cell("fq-codel")["game"]["delay_mean_s"] < 0.001
    assert flows["game"]["delay_mean_s"] > 0.005
