"""A5: what a capture at its source says of bursts and pauses, by hand and on short runs."""

from __future__ import annotations

import pytest

from hopcast import lab, run
from hopcast_papers.aodv_testbed import routes as testbed_routes
from hopcast_papers.aodv_testbed.capture import Acknowledgements, Seen, acknowledgements, observe, pauses


def segment(time_s: float, sequence: int) -> Seen:
    return Seen(time_s, sent=True, sequence=sequence, acknowledged=1, octets=100)


def answer(time_s: float, acknowledged: int) -> Seen:
    return Seen(time_s, sent=False, sequence=1, acknowledged=acknowledged, octets=0)


def test_a_burst_begins_with_an_acknowledgement_or_the_timer() -> None:
    seen = [
        segment(0.0, 0),
        segment(0.1, 100),
        answer(0.4, 200),
        # Its handshake and its own acknowledgements are no segments.
        Seen(0.45, sent=True, sequence=200, acknowledged=1, octets=0),
        segment(0.5, 200),
        segment(0.6, 300),
        segment(0.7, 400),
        # Nothing came, and the first that is not acknowledged goes again: the timer.
        segment(1.7, 200),
        answer(1.8, 300),
        answer(1.9, 500),
        segment(2.0, 500),
    ]
    found, segments = pauses(seen)
    assert found == pytest.approx([0.4, 1.0, 0.3])
    assert segments == 7


def test_acknowledgements_are_counted_by_what_they_acknowledge() -> None:
    sent = [segment(0.1 * place, 100 * place) for place in range(8)]
    # Two segments, one, three, none twice, and the last two; behind them nothing is unacknowledged.
    found = acknowledgements([*sent, *(answer(1.0, number) for number in (200, 300, 600, 600, 600, 800, 800))])
    assert found == Acknowledgements(one=1, two=2, more=1, duplicate=2)
    # A handshake comes before any segment, and data of the sink acknowledge nothing by themselves.
    data = Seen(1.0, sent=False, sequence=1, acknowledged=100, octets=7)
    assert acknowledgements([answer(0.0, 1), sent[0], data]) == Acknowledgements()


def test_nothing_sent_has_no_pauses() -> None:
    assert pauses([]) == ([], 0)
    assert pauses([answer(1.0, 1)]) == ([], 0)


@pytest.mark.parametrize(("window", "burst"), [(1, 1.0), (2, 2.0)])
def test_a_burst_over_one_hop_is_what_the_window_lets_go(window: int, burst: float) -> None:
    """The receiver answers every second segment, and one alone after a while, so that a window of this size is one
    burst: its segments, and a pause of one segment on the air (6.3 ms), the copies at both ends and the
    acknowledgement.
    """
    scenario = lab.load("A5").scenario("1 hop").set("flows.stream0.transport.window", window)
    result = run(scenario.set("flows.stream0.application.bytes", 100 * testbed_routes.SEGMENT), seed=1)
    assert result.json()["flows"][0]["retransmitted_segments"] == 0
    found = observe(result)["source"]
    assert found["burst"] == pytest.approx(burst)
    assert 0.0063 < found["pause_s"] < 0.25


def test_a_source_pauses_longer_with_each_hop() -> None:
    study = lab.load("A5")
    pause = []
    for hops in testbed_routes.HOPS[1:]:
        made = study.scenario(testbed_routes._hops(hops)).set("flows.stream0.application.bytes", 400_000)
        pause.append(observe(run(made, seed=1))["source"]["pause_s"])
    assert pause == sorted(pause)
    # Two hops: data and acknowledgement cross the relay, one after the other.
    assert pause[0] > 2 * 0.0063
