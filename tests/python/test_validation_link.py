"""One saturated link against the closed form: every rate of every standard."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, cast

import pytest

from hopcast import Scenario, run, theory

RATES = {
    "802.11": (1, 2),
    "802.11b": (1, 2, 5.5, 11),
    "802.11a": (6, 9, 12, 18, 24, 36, 48, 54),
    "802.11g": (1, 2, 5.5, 6, 9, 11, 12, 18, 24, 36, 48, 54),
}
# Slot in seconds and CWmin: what the spread of the backoff hangs on.
CONTENTION = {"dsss": (20e-6, 31), "ofdm": (9e-6, 15)}


def links() -> Iterator[Any]:
    """Standard, rate in Mb/s, short preamble."""
    for standard, rates in RATES.items():
        for rate in rates:
            yield pytest.param(standard, rate, False, id=f"{standard}-{rate}")
            # A frame at 1 Mb/s always has the long preamble.
            if standard in ("802.11b", "802.11g") and rate in (2, 5.5, 11):
                yield pytest.param(standard, rate, True, id=f"{standard}-{rate}-short")


def goodput(
    standard: str, rate: float, short_preamble: bool, *, rts: bool, application: dict[str, Any], duration: float
) -> float:
    """Bit/s over two stations 1 m apart."""
    radio: dict[str, Any] = {
        "standard": standard,
        "data_rate": rate * 1e6,
        "rts_threshold": "0 B" if rts else "off",
        "preamble": "short" if short_preamble else "long",
    }
    scenario = Scenario(
        duration=duration,
        seed=1,
        radio=cast(Any, radio),
        nodes=[{"name": "n", "count": 2, "placement": {"shape": "line", "spacing": "1 m"}}],
        flows=[
            cast(
                Any,
                {"name": "f", "from": "n0", "to": "n1", "transport": {"protocol": "udp"}, "application": application},
            )
        ],
    )
    flow = run(scenario, threads=1).json()["flows"][0]
    assert flow["lost_packets"] == 0
    return float(flow["goodput_bps"])


def long_enough(standard: str, rate: float, cycle: float, frames: int = 1) -> float:
    """Seconds after which the mean backoff is known so well that the goodput is sure to 0.1 % (two standard deviations).

    `cycle` holds `frames` independent backoffs.
    """
    slot, cw_min = CONTENTION["dsss" if rate in (1, 2, 5.5, 11) else "ofdm"]
    # Of a number drawn evenly from 0 … CWmin.
    deviation = slot * math.sqrt(((cw_min + 1) ** 2 - 1) / 12 * frames)
    return cycle * (2 * deviation / (1e-3 * cycle)) ** 2


@pytest.mark.parametrize("rts", [False, True], ids=["basic", "rts"])
@pytest.mark.parametrize(("standard", "rate", "short_preamble"), list(links()))
def test_a_saturated_link_carries_what_the_closed_form_says(
    standard: Any, rate: float, short_preamble: bool, rts: bool
) -> None:
    form = {"rts": rts, "short_preamble": short_preamble}
    cycle = theory.saturated_link_cycle(standard, rate * 1e6, **form)
    expected = theory.saturated_link_goodput(standard, rate * 1e6, **form)
    measured = goodput(
        standard,
        rate,
        short_preamble,
        rts=rts,
        application={"kind": "bulk", "packet": "1472 B"},
        duration=long_enough(standard, rate, cycle),
    )
    assert measured == pytest.approx(expected, rel=5e-3)


@pytest.mark.parametrize("rts", [False, True], ids=["basic", "rts"])
@pytest.mark.parametrize(("standard", "rate"), [("802.11", 2), ("802.11b", 11), ("802.11a", 54), ("802.11g", 24)])
@pytest.mark.parametrize("size", [1473, 8192, 16384])
def test_a_data_unit_beyond_the_mtu_costs_an_exchange_for_each_fragment(
    standard: Any, rate: float, size: int, rts: bool
) -> None:
    cycle = theory.saturated_link_cycle(standard, rate * 1e6, payload=size, rts=rts)
    expected = theory.saturated_link_goodput(standard, rate * 1e6, payload=size, rts=rts)
    fragments = math.ceil((size + 8) / 1480)
    measured = goodput(
        standard,
        rate,
        False,
        rts=rts,
        application={"kind": "adu", "size": size},
        # A unit counts once its last fragment has come: at the end up to one in a thousand is on its way.
        duration=max(long_enough(standard, rate, cycle, fragments), 1000 * cycle),
    )
    assert measured == pytest.approx(expected, rel=5e-3)
