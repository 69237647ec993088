"""P: what its scenarios rest on, by hand, and the findings that explain its numbers, on short runs."""

from __future__ import annotations

import pytest

from hopcast.results import run
from hopcast.scenario import Scenario
from hopcast.studies import AMOUNTS, strings_calls
from hopcast.studies.strings import CHANNELS, ERRORS, FEC, IDEAL, Channel, scenario, tcp
from hopcast.studies.strings_calls import CHOSEN, Setting, call
from hopcast.types import Flow


def values(made: Scenario) -> dict[str, str]:
    return {key: value for key, value, _ in made.explain()}


def goodput(channel: Channel, hops: int = 1, window: int = 1, notified: bool | None = None) -> float:
    flow = tcp("stream0", 0, hops, 1000, window)
    made = scenario("", [flow], rts=False, channel=channel, seconds=10.0, notified=notified)
    return float(run(made).json()["flows"][0]["goodput_bps"])


def test_the_channels_are_those_of_the_paper() -> None:
    flow = tcp("stream0", 0, 1, 1000, 1)
    kinds = {c: values(scenario("", [flow], rts=True, channel=c, seconds=1.0)) for c in CHANNELS}
    assert kinds[IDEAL]["radio.errors.model"] == "none"
    for channel, fec in ((ERRORS, "none"), (FEC, "reed-solomon")):
        found = kinds[channel]
        assert found["radio.errors.fec"] == fec
        assert float(found["radio.errors.good_ber"]) == pytest.approx(1e-6)
        assert float(found["radio.errors.bad_ber"]) == pytest.approx(1e-2)
    # As in ns-2: RTS before every frame where asked for, four attempts at what it goes before, no fragments.
    assert kinds[IDEAL]["radio.retry_limit.long"] == "4"
    assert kinds[IDEAL]["nodes.n.routing.link_layer_notification"] == "false"


def test_fec_costs_two_fifths_and_errors_more() -> None:
    ideal, fec, errors = (goodput(channel) for channel in (IDEAL, FEC, ERRORS))
    assert 0.55 < fec / ideal < 0.6
    assert errors < 0.5 * ideal


def test_a_neighbour_that_is_lost_with_a_frame_costs_seconds() -> None:
    assert goodput(ERRORS, notified=True) < 0.5 * goodput(ERRORS)
    assert goodput(IDEAL, hops=6, window=20, notified=True) < 0.7 * goodput(IDEAL, hops=6, window=20)


def lost(setting: Setting, packet: int) -> float:
    ways = [way for a, b in strings_calls.ENDS["overlapping"] for way in ((a, b), (b, a))]
    flows: list[Flow] = [call(stream, *way, packet, setting) for stream, way in enumerate(ways)]
    made = strings_calls._scenario("", flows, setting, AMOUNTS["quick"])
    found = run(made).json()["flows"]
    lost_packets, sent_packets = (sum(int(flow[of]) for flow in found) for of in ("lost_packets", "sent_packets"))
    return lost_packets / sent_packets


def test_four_calls_fit_on_the_air_at_a_few_kilobits_only() -> None:
    assert lost(CHOSEN, 200) > 0.5
    assert lost(strings_calls.SLOW, 200) < 0.05 < lost(strings_calls.SLOW, 100)
