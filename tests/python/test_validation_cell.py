"""A saturated cell against Bianchi's model and ns-3's figures."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, cast

import pytest

from hopcast import Scenario, run, theory

PEERS = json.loads((Path(__file__).parents[1] / "data" / "peers.json").read_text(encoding="utf-8"))
STATIONS = (2, 5, 10, 20, 50)
# What n stations carry in one simulated second is known to about 0.7 % (one standard deviation, mostly that of the
# number of collisions); a mean over SECONDS and SEEDS to 0.2 %.
SECONDS = 3
SEEDS = 3


def cell(stations: int) -> Scenario:
    """802.11a at 54 Mb/s, ACKs at 24 Mb/s, no RTS, senders on a circle of 1 m around their sink."""
    flows = [
        {
            "name": f"f{i}",
            "from": f"s{i}",
            "to": "sink",
            "transport": {"protocol": "udp"},
            "application": {"kind": "bulk", "packet": "1472 B"},
        }
        for i in range(stations)
    ]
    return Scenario(
        duration=SECONDS,
        radio={"standard": "802.11a", "data_rate": "54 Mb/s", "basic_rate": "24 Mb/s", "rts_threshold": "off"},
        nodes=[
            {"name": "sink", "placement": {"shape": "points", "at": [["0 m", "0 m"]]}},
            {"name": "s", "count": stations, "placement": {"shape": "circle", "radius": "1 m"}},
        ],
        flows=cast(Any, flows),
    )


Measured = tuple[float, dict[str, Any]]
"""Bit/s in all, and everything."""


@functools.cache
def measure(stations: int, reception: str = "threshold") -> Measured:
    """By thresholds a station hardly ever decodes one of several frames, as the models have it. By signal to
    interference and noise a near station that only overhears receives the nearer frame of a collision.
    """
    result = run(cell(stations).set("radio.reception", reception), seed=1, replications=SEEDS).json()
    return sum(flow["goodput_bps"] for flow in result["flows"]), result


@pytest.mark.parametrize("reception", ["threshold", "sinr"])
@pytest.mark.parametrize("stations", STATIONS)
def test_between_the_models(stations: int, reception: str) -> None:
    goodput, _ = measure(stations, reception)
    low = theory.bianchi(stations, "802.11a", 54e6, 24e6, after_collision="eifs").goodput
    high = theory.bianchi(stations, "802.11a", 54e6, 24e6, after_collision="difs").goodput
    assert 0.97 * low < goodput < 1.03 * high


@pytest.mark.parametrize("stations", STATIONS)
def test_near_the_model_with_frozen_counters_and_the_retry_limit(stations: int) -> None:
    """A counter stands while others send, so that the slot after a success is that station's; a frame is given up
    after seven attempts; no station that only overhears decodes the preamble of a collision, so DIFS follows it.
    """
    goodput, _ = measure(stations)
    refined = theory.bianchi(stations, "802.11a", 54e6, 24e6, reserved_slot=True, retry_limit=7)
    assert goodput == pytest.approx(refined.goodput, rel=0.02)


@pytest.mark.parametrize("stations", [2, 5, 10, 20])
def test_eifs_after_a_collision_costs_what_the_model_says(stations: int) -> None:
    """Under ns-2's rules every station that overhears a collision treats it as a frame in error, and waits EIFS and
    DIFS.
    """
    result = run(cell(stations).set("radio.profile", "ns-2"), seed=1, replications=SEEDS).json()
    goodput = sum(flow["goodput_bps"] for flow in result["flows"])
    refined = theory.bianchi(
        stations, "802.11a", 54e6, 24e6, after_collision="eifs+difs", reserved_slot=True, retry_limit=7
    )
    assert goodput == pytest.approx(refined.goodput, rel=0.02)


@pytest.mark.parametrize("stations", STATIONS)
def test_collisions_as_often_as_the_model_has_them(stations: int) -> None:
    _, result = measure(stations)
    senders = [node for node in result["nodes"] if node["name"] != "sink"]
    share = sum(node["ack_timeouts"] for node in senders) / sum(node["data_sent"] for node in senders)
    p = theory.bianchi(stations, "802.11a", 54e6, 24e6, retry_limit=7).collision_probability
    # Each success earns 1/CWmin further ones in the slot that is its station's alone.
    expected = p / (p + (1 - p) * (1 + 1 / 15))
    assert share == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("reception", ["threshold", "sinr"])
@pytest.mark.parametrize("stations", STATIONS)
def test_as_ns3_has_it(stations: int, reception: str) -> None:
    goodput, _ = measure(stations, reception)
    assert goodput == pytest.approx(PEERS["cell-ns-3"]["cases"][str(stations)]["mean"], rel=0.05)


@pytest.mark.parametrize("case", PEERS["ax-ns-3"]["cases"])
def test_cells_of_802_11ax_as_ns3_has_them(case: str) -> None:
    """80 MHz, MCS 9, two streams; each case names the longest A-MPDU, whether RTS is on, and the number of stations. Within
    5 %, or within ns-3's own interval where that is wider, as for 50 stations without aggregation.
    """
    ampdu, rts, stations = case.split()
    scenario = cell(int(stations))
    settings = {
        "duration": "3 s",
        "radio.standard": "802.11ax",
        "radio.band": "5 GHz",
        "radio.channel": {"number": 36, "width": "80 MHz"},
        "radio.spatial_streams": 2,
        "radio.guard_interval": "0.8 us",
        "radio.data_rate": "mcs 9",
        "radio.reception": "threshold",
        "radio.aggregation": {"ampdu": "off" if ampdu == "off" else f"{ampdu} B", "amsdu": "off", "block_ack": 256},
        "radio.queue": {"packets": 1000},
        "radio.rts_threshold": "0 B" if rts == "on" else "off",
        "nodes.s.socket_buffer": "1 MB",
    }
    for key, value in settings.items():
        scenario = scenario.set(key, value)
    goodput = sum(flow["goodput_bps"] for flow in run(scenario, seed=1, replications=SEEDS).json()["flows"])
    theirs = PEERS["ax-ns-3"]["cases"][case]
    assert goodput == pytest.approx(theirs["mean"], rel=0.05, abs=theirs["ci95"])
