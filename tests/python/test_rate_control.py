"""Rate control of 802.11n and later on standing links, next to each fixed scheme."""

from __future__ import annotations

from typing import Any, cast

import pytest

from hopcast import Scenario, ScenarioError, run

SCHEMES = {"802.11n": 8, "802.11ac": 9, "802.11ax": 12}
"""Of one stream in 20 MHz; 802.11ac has no scheme 9 there."""


def carried(standard: str, metres: float, data_rate: str, streams: int, duration: int = 1) -> float:
    """Bits over one saturated link of 20 MHz in `duration` seconds."""
    radio = {
        "standard": standard,
        "band": "5 GHz",
        "channel": 36,
        "spatial_streams": streams,
        "data_rate": data_rate,
        "propagation": {"model": "log-distance", "exponent": 3.0},
    }
    flow = {
        "name": "f",
        "from": "n0",
        "to": "n1",
        "transport": {"protocol": "udp"},
        "application": {"kind": "bulk", "packet": 1472},
    }
    placement = {"shape": "line", "spacing": metres}
    scenario = Scenario(
        duration=duration,
        radio=cast(Any, radio),
        nodes=[cast(Any, {"name": "n", "count": 2, "socket_buffer": "4 MB", "placement": placement})],
        flows=[cast(Any, flow)],
    )
    return duration * float(run(scenario, threads=1).json()["flows"][0]["goodput_bps"])


def after_the_search(standard: str, metres: float, data_rate: str, streams: int) -> float:
    """Bits in the second and third second: the first tries of all rates take up to half a second."""
    until = {seconds: carried(standard, metres, data_rate, streams, seconds) for seconds in (1, 3)}
    return until[3] - until[1]


@pytest.mark.parametrize("standard", SCHEMES)
def test_ideal_is_as_good_as_the_best_fixed_scheme(standard: str) -> None:
    for metres in (5, 35, 80, 95):
        fixed = []
        for streams in (1, 2):
            for mcs in range(SCHEMES[standard]):
                # 802.11n counts the streams.
                scheme = mcs + 8 * (streams - 1) if standard == "802.11n" else mcs
                fixed.append(carried(standard, metres, f"mcs {scheme}", streams))
        assert max(fixed) > 0
        assert carried(standard, metres, "ideal", 2) > 0.99 * max(fixed), f"{metres} m"


@pytest.mark.parametrize("standard", SCHEMES)
def test_minstrel_ht_comes_close_to_ideal(standard: str) -> None:
    for streams in (1, 2):
        for metres in (5, 35, 65, 90):
            found = after_the_search(standard, metres, "minstrel-ht", streams)
            assert found > 0.9 * after_the_search(standard, metres, "ideal", streams), f"{metres} m, {streams} streams"


def test_minstrel_ht_is_for_newer_standards() -> None:
    with pytest.raises(ScenarioError, match="minstrel-ht"):
        Scenario(
            duration=1,
            radio=cast(Any, {"standard": "802.11a", "data_rate": "minstrel-ht"}),
            nodes=[{"name": "n", "count": 2, "placement": {"shape": "line", "spacing": 1}}],
        )


def test_ideal_needs_a_ratio_of_signal_to_noise() -> None:
    with pytest.raises(ScenarioError, match="data_rate"):
        Scenario(
            duration=1,
            radio=cast(
                Any, {"data_rate": "ideal", "propagation": {"model": "range", "receive": 100, "carrier_sense": 200}}
            ),
            nodes=[{"name": "n", "count": 2, "placement": {"shape": "line", "spacing": 1}}],
        )
