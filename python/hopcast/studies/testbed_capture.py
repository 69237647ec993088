"""A5's transfer as a capture at its source has it: the bursts in which segments leave, and the pauses between them.

The paper ran tcpdump at node 1 (section 4.3). So is it here: the run is repeated with captures, which change nothing in it, and that of the source is read.
"""

from __future__ import annotations

import math
import os
import struct
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median

from hopcast.results import Result, run
from hopcast.studies.experiment import Document

ENHANCED_PACKET = 6
"""Type of a block of pcapng that holds a packet."""
MAC_HEADER, LLC = 24, 8
"""Octets of a data frame before its packet (IEEE 802.11-2020, 9.3.2.1; IEEE 802.2 with SNAP)."""
IPV4, TCP = b"\x08\x00", 6


@dataclass(frozen=True)
class Seen:
    """A TCP packet that a node sent, or that was sent to it."""

    time_s: float
    sent: bool
    sequence: int
    acknowledged: int
    octets: int
    """Of its payload."""


def observe(result: Result) -> Document:
    """Of the source, the median pause between two bursts, in seconds, and how many segments a burst has on average."""
    source, seed = "n0", result.json()["provenance"]["seed"]
    with tempfile.TemporaryDirectory() as folder:
        run(result.scenario, seed=seed, threads=1, out=folder, pcap=True)
        with open(os.path.join(folder, f"{source}.pcapng"), "rb") as file:
            every, segments = pauses(packets(file.read()))
    return {
        "source": {
            "pause_s": median(every) if every else math.nan,
            "burst": segments / (len(every) + 1) if segments else math.nan,
        }
    }


def pauses(seen: Iterable[Seen]) -> tuple[list[float], int]:
    """Seconds from the last segment of each burst to the first of the next, and the number of segments.

    What begins a burst is what lets TCP send: an acknowledgement that came since the segment before ("waiting for an ACK to move its
    window"), or the timer ("or timer expiry for a retransmission"), upon which the first segment that is not acknowledged goes again
    though nothing came.
    """
    found: list[float] = []
    segments, last, heard = 0, 0.0, False
    first: int | None = None
    for packet in seen:
        if not packet.sent:
            heard, first = True, packet.acknowledged
        elif packet.octets:
            if segments and (heard or packet.sequence == first):
                found.append(packet.time_s - last)
            segments, last, heard = segments + 1, packet.time_s, False
    return found, segments


def packets(capture: bytes) -> Iterator[Seen]:
    """The TCP packets in the frames of a node's capture that are its own or for it, as tcpdump has them in non-promiscuous mode."""
    own: bytes | None = None
    at = 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if kind == ENHANCED_PACKET:
            _, high, low, kept = struct.unpack_from("<IIII", capture, at + 8)
            frame = capture[at + 28 : at + 28 + kept]
            mac = frame[struct.unpack_from("<H", frame, 2)[0] :]
            packet = mac[MAC_HEADER + LLC :]
            if len(packet) > 20 and mac[MAC_HEADER + LLC - 2 : MAC_HEADER + LLC] == IPV4 and packet[9] == TCP:
                to, by = mac[4:10], mac[10:16]
                # The first TCP packet is the source's own.
                own = own or by
                if own in (to, by):
                    yield _seen(packet, ((high << 32) | low) * 1e-9, sent=by == own)
        at += length


def _seen(packet: bytes, time_s: float, *, sent: bool) -> Seen:
    ip = 4 * (packet[0] & 0xF)
    (total,) = struct.unpack_from(">H", packet, 2)
    sequence, acknowledged = struct.unpack_from(">II", packet, ip + 4)
    return Seen(time_s, sent, sequence, acknowledged, total - ip - 4 * (packet[ip + 12] >> 4))
