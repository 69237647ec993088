"""The fair queues of mac80211 at an access point that serves near stations and a far one, under rate control.

Rate control is AARF: Minstrel samples rates that fail, and a failed aggregate delays all stations.
"""

from __future__ import annotations

from typing import Any

from hopcast import Scenario, run

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


def cell(discipline: str) -> dict[str, Any]:
    """Results of the flows by name: two stations at 3 m, one at 60 m, and a small flow next to the large ones."""
    document: dict[str, Any] = {
        "duration": "6 s",
        "seed": 1,
        "radio": {
            "standard": "802.11n",
            "band": "5 GHz",
            "channel": 36,
            "spatial_streams": 2,
            "data_rate": "aarf",
            "propagation": {"model": "log-distance", "exponent": 3.0},
            "queue": {"discipline": discipline, "packets": 1000},
        },
        "nodes": [
            {"name": "ap", "placement": {"shape": "points", "at": [["0 m", "0 m"]]}},
            {"name": "near", "count": 2, "placement": {"shape": "points", "at": [["3 m", "0 m"], ["0 m", "3 m"]]}},
            {"name": "far", "placement": {"shape": "points", "at": [["60 m", "0 m"]]}},
        ],
        "flows": [{"name": name, **flow} for name, flow in FLOWS.items()],
    }
    return {flow["name"]: flow for flow in run(Scenario(**document)).json()["flows"]}


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
