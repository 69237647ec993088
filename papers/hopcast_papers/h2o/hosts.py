"""H: the time of the paper's hosts, 700 MHz laptops whose programs were written in C#.

It is a card with one transmit buffer: a host copies a packet, sends it, and copies the next one. The time of a copy
is calibrated on one number of the paper, the 22 Mb/s of UDP in units of 1 KB over one hop (section II), and on
nothing else. So that number does not count where this time is used; all others may be compared with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopcast.lab.experiment import Parameter
from hopcast.scenario import Scenario

if TYPE_CHECKING:
    from hopcast.types import Card

HOST_TIME = "host time"
COPY_US = 200.5
"""Microseconds to copy 1500 B, to the card and from it. A unit of 1 KB is a packet of 1052 B, whose copy and the DIFS
with the backoff after the last acknowledgement run side by side: the mean of max(copy, 34 + 9 · slots) over 0 to 15
slots has to be 22 Mb/s' 372.4 µs a unit less the 228 µs of frame, SIFS and acknowledgement (IEEE 802.11-2020, 17).
"""
HOLD_THRESHOLD = 1024
"""Bytes: `FastSendDatagramThreshold`, the longest datagram that Windows buffers. The call of a longer one returns when
it was sent (Microsoft, "Appendix C: Windows Sockets and DNS Registry Parameters", AFD).
"""
HELD = "held"
"""Suffix of cases with that rule."""


def card() -> Card:
    """The time of a host, as `nodes.card`."""
    copy = f"{COPY_US:g} us"
    return {"transmit_buffers": 1, "receive_buffers": 64, "copy_out": copy, "copy_in": copy}


def with_host_time(scenario: Scenario) -> Scenario:
    """The same scenario with hosts that take their time. It must have one entry of nodes, `n`."""
    return scenario.set("nodes.n.card", card())


def held(scenario: Scenario) -> Scenario:
    """The same scenario with calls that return when a datagram of more than 1 KB was sent."""
    return scenario.set("nodes.n.hold_threshold", HOLD_THRESHOLD)


def host_parameter() -> Parameter:
    """Text of a report about the time of the hosts."""
    return Parameter(
        "host time, beside",
        f"a card with one transmit buffer, {COPY_US:g} µs to copy 1500 B to it or from it, in proportion to the bytes",
        "calibrated on 22 Mb/s of UDP at 1 KB over one hop (section II) alone, which does not count there",
    )


def held_parameter() -> Parameter:
    """Text of a report about calls that are held."""
    return Parameter(
        "held calls, beside",
        f"a call returns when its datagram was sent, if that is longer than {HOLD_THRESHOLD} B",
        "Windows' AFD FastSendDatagramThreshold (Microsoft, “Appendix C: Windows Sockets and DNS Registry Parameters”)",
    )
