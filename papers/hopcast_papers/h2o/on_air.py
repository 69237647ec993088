"""H12, scene d once more: how much of the time media take, and how much the cloud's own messages and measurements.

Times are those of clause 17 at 6 Mb/s without collisions: a frame, and the mean wait before it and its ACK. Messages to all have no ACK, but are counted as if
they had, so the share of messages is an upper bound.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from hopcast.lab.experiment import Document, Measured, Table
from hopcast.lab.rows import Row, value
from hopcast_papers.h2o import load
from hopcast_papers.h2o.places import number

RULES = ("statistical", "airtime", "hops", "all")
RATE, PREAMBLE, BITS = 6e6, 20e-6, 22
"""b/s; seconds; bits of SERVICE and tail."""
AROUND = 101.5e-6 + 60e-6
"""Seconds of DIFS and the mean backoff, and of SIFS and ACK."""
HEADERS = 28 + 8 + 20 + 8
"""Bytes of MAC with FCS, LLC, IP and UDP."""
PACKET = 1332
"""Bytes of UDP payload of a packet of media, and of one that measures."""
KINDS: Final = ("media", "messages", "measurements")


def time(packets: float, octets: float) -> float:
    """Seconds that the medium is taken by packets with this UDP payload altogether."""
    return packets * (PREAMBLE + BITS / RATE + AROUND) + 8 * (octets + packets * HEADERS) / RATE


def share(document: Document, kind: str) -> float:
    """Of the time, per cent."""
    totals, seconds = document["cloud"]["totals"], document["cost"]["simulated_s"]
    sent = {
        "media": (totals["media_packets"], totals["media_packets"] * PACKET),
        "messages": (totals["control_messages"], totals["control_bytes"]),
        "measurements": (totals["measuring_bytes"] / PACKET, totals["measuring_bytes"]),
    }
    return float(100 * time(*sent[kind]) / seconds)


def rows(measured: Measured) -> list[Row]:
    """By rule and load: shares of the time."""
    names = [load.case(rule, offered) for rule in RULES for offered in load.LOADS]
    return [
        value("H12", name, f"{kind}, of the time", "%", measured.sample(name, partial(share, kind=kind)))
        for name in names
        for kind in KINDS
    ]


def notes(table: Table) -> list[str]:
    """What the air carries."""

    def each(kind: str) -> str:
        return ", ".join(
            f"{number(table, load.case('statistical', offered), f'{kind}, of the time'):.1f}" for offered in load.LOADS
        )

    return [
        "d: by load, per cent of the time (statistical): " + ". ".join(f"{each(kind)} ({kind})" for kind in KINDS) + "."
    ]
