"""A3 and A5: what a capture at the source says of requests, bursts and pauses, by hand and on short runs."""

from __future__ import annotations

import struct

import pytest

from hopcast import lab, run
from hopcast_papers.aodv_testbed import routes as testbed_routes
from hopcast_papers.aodv_testbed.capture import (
    IPV4,
    LLC,
    MAC_HEADER,
    Acknowledgements,
    Seen,
    _capture,
    _frames,
    _type,
    acknowledgements,
    observe,
    pauses,
)

ARP, ARP_BYTES, RREQ = b"\x08\x06", 28, 1
"""Type of ARP, the length of its packet (RFC 826), behind which AODV's message is, and the type of a request (RFC 3561, 5.1)."""


def requests(capture: bytes) -> int:
    """The number of route requests in a source's capture that it has sent for itself: no node had passed them on."""
    own: bytes | None = None
    by: list[bytes] = []
    for _, mac in _frames(capture):
        if own is None and _type(mac) == IPV4:
            # The first IP packet is the source's own.
            own = mac[10:16]
        message = mac[MAC_HEADER + LLC + ARP_BYTES :]
        if _type(mac) == ARP and len(message) > 3 and message[0] == RREQ and message[3] == 0:
            by.append(mac[10:16])
    return sum(sender == own for sender in by)


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


def frame(by: int, ether_type: bytes, body: bytes) -> bytes:
    """A block of pcapng with a data frame of a station."""
    station = struct.pack(">HI", 0x0200, by)
    mac = b"\x08\x00\x00\x00" + b"\xff" * 6 + station + b"\xff" * 6 + b"\x00\x00"
    seen = struct.pack("<BBHI", 0, 0, 8, 0) + mac + b"\xaa\xaa\x03\x00\x00\x00" + ether_type + body
    padded = seen + b"\x00" * (-len(seen) % 4)
    length = 32 + len(padded)
    return struct.pack("<IIIIIII", 6, length, 0, 0, 0, len(seen), len(seen)) + padded + struct.pack("<I", length)


def message(by: int, kind: int, hops: int) -> bytes:
    """A message of AODV in an ARP packet."""
    return frame(by, b"\x08\x06", b"\x00" * 28 + bytes((kind, 0, 0, hops)) + b"\x00" * 20)


def test_the_requests_of_a_source_are_those_that_it_begins() -> None:
    data = frame(1, b"\x08\x00", b"\x45" + b"\x00" * 27)
    seen = [
        message(1, 1, 0),  # its own, before its first packet
        message(2, 1, 1),  # the same, passed on by its neighbour
        message(2, 2, 0),  # the reply
        data,
        message(2, 1, 0),  # one of its neighbour
        message(1, 1, 1),  # the same, passed on
        message(1, 1, 0),
    ]
    assert requests(b"".join(seen)) == 2
    assert requests(b"") == 0


def test_a_source_asks_for_a_route_over_two_hops_and_knows_its_neighbour() -> None:
    study = lab.load("A3")

    def asked(hops: int) -> int:
        made = study.scenario(testbed_routes._a3_case(hops, 0.1)).set("duration", "15 s")
        result = run(made, seed=1)
        found: int = result.json()["nodes"][0]["route_requests"]
        assert found == requests(_capture(result)), "the counter is what a capture shows"
        return found

    assert (asked(1), asked(2) > 0) == (0, True)


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
