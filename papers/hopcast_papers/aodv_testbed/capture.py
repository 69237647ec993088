"""What a capture at the source says of A5's transfer: the bursts in which segments leave, the pauses between them, and what the
acknowledgements acknowledge.

The paper ran tcpdump at node 1 (section 4.3). So does this module: it repeats the run with a capture of the source, which changes
nothing.
"""

from __future__ import annotations

import dataclasses
import math
import os
import struct
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median

from hopcast.captures import Captures
from hopcast.lab.experiment import Document
from hopcast.results import Result, run

ENHANCED_PACKET = 6
"""Type of a block of pcapng that holds a packet."""
MAC_HEADER, LLC = 24, 8
"""Bytes of a data frame before its packet (IEEE 802.11-2020, 9.3.2.1; IEEE 802.2 with SNAP)."""
IPV4, TCP = b"\x08\x00", 6


@dataclass(frozen=True)
class Seen:
    """A TCP packet that a node sent or received."""

    time_s: float
    sent: bool
    sequence: int
    acknowledged: int
    octets: int
    """Bytes of its payload."""


def observe(result: Result) -> Document:
    """For the source, the median pause between two bursts, in seconds, the mean number of segments in a burst, and its
    acknowledgements by kind.
    """
    seen = list(packets(_capture(result)))
    every, segments = pauses(seen)
    return {
        "source": {
            "pause_s": median(every) if every else math.nan,
            "burst": segments / (len(every) + 1) if segments else math.nan,
            "acknowledgements": dataclasses.asdict(acknowledgements(seen)),
        }
    }


def _capture(result: Result) -> bytes:
    """What tcpdump at the source would have written in the same run."""
    source, seed = "n0", result.json()["provenance"]["seed"]
    with tempfile.TemporaryDirectory() as folder:
        run(result.scenario, seed=seed, threads=1, out=folder, pcap=Captures(nodes=[source], addressed=True))
        with open(os.path.join(folder, f"{source}.pcapng"), "rb") as file:
            return file.read()


@dataclass
class Acknowledgements:
    """Number of acknowledgements that a source received, by what each of them acknowledges."""

    one: int = 0
    """A single new segment."""
    two: int = 0
    """More than one segment, and at most two."""
    more: int = 0
    """More than two segments."""
    duplicate: int = 0
    """No new data, while some are unacknowledged (RFC 5681, section 2)."""


def acknowledgements(seen: Iterable[Seen]) -> Acknowledgements:
    """Count the acknowledgements of a source by kind."""
    found = Acknowledgements()
    segment, reached, beyond = 0, None, None
    for packet in seen:
        if packet.sent:
            if packet.octets:
                segment = max(segment, packet.octets)
                end = packet.sequence + packet.octets
                reached = packet.sequence if reached is None else reached
                beyond = end if beyond is None else max(beyond, end)
        elif segment and reached is not None and beyond is not None and not packet.octets:
            new = packet.acknowledged - reached
            if new > 2 * segment:
                found.more += 1
            elif new > segment:
                found.two += 1
            elif new > 0:
                found.one += 1
            elif new == 0 and beyond > reached:
                found.duplicate += 1
            reached = max(reached, packet.acknowledged)
    return found


def pauses(seen: Iterable[Seen]) -> tuple[list[float], int]:
    """Seconds from the last segment of each burst to the first of the next, and the number of segments.

    A burst begins with the event that lets TCP send: an acknowledgement since the segment before ("waiting for an ACK
    to move its window"), or the timer ("or timer expiry for a retransmission"), after which TCP repeats the first
    unacknowledged segment although nothing arrived.
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
    """The TCP packets in a node's capture that the node sent or that are for it, as tcpdump shows them in
    non-promiscuous mode.
    """
    own: bytes | None = None
    for time_s, mac in _frames(capture):
        packet = mac[MAC_HEADER + LLC :]
        if len(packet) > 20 and _type(mac) == IPV4 and packet[9] == TCP:
            to, by = mac[4:10], mac[10:16]
            # The first TCP packet is the source's own.
            own = own or by
            if own in (to, by):
                yield _seen(packet, time_s, sent=by == own)


def _frames(capture: bytes) -> Iterator[tuple[float, bytes]]:
    """The time in seconds and the MPDU of each frame."""
    at = 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if kind == ENHANCED_PACKET:
            _, high, low, kept = struct.unpack_from("<IIII", capture, at + 8)
            frame = capture[at + 28 : at + 28 + kept]
            yield ((high << 32) | low) * 1e-9, frame[struct.unpack_from("<H", frame, 2)[0] :]
        at += length


def _type(mac: bytes) -> bytes:
    """EtherType of a data frame."""
    return mac[MAC_HEADER + LLC - 2 : MAC_HEADER + LLC]


def _seen(packet: bytes, time_s: float, *, sent: bool) -> Seen:
    ip = 4 * (packet[0] & 0xF)
    (total,) = struct.unpack_from(">H", packet, 2)
    sequence, acknowledged = struct.unpack_from(">II", packet, ip + 4)
    return Seen(time_s, sent, sequence, acknowledged, total - ip - 4 * (packet[ip + 12] >> 4))
