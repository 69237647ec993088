"""The wired counterpart of H6: the same stream through the same applications, over Ethernet.

The paper's section III-B used "either a hub or a switch". Here it is a switch with a separate wire to each host in
each direction; hopcast does not model a hub's shared cable.
"""

from __future__ import annotations

import math

from hopcast.lab.experiment import Amount, Parameter
from hopcast.scenario import Scenario
from hopcast_papers.h2o.streams import GB, KB, SOCKET_BUFFER

RATE_BPS = 10e6
FRAMING = 38
"""Bytes that Ethernet adds to a packet: preamble 8, header 14, FCS 4, gap 12 (IEEE 802.3)."""
HEADERS = 20 + 8
"""Bytes of IPv4 and UDP headers (RFC 791, RFC 768)."""
FRAGMENT = 1480
"""Bytes of IP payload in a full packet of 1500 (RFC 894)."""
SEEDS = (1,)
"""A wire without losses draws no random numbers: all runs are equal."""


def scenario(adu_kb: int, wait_ms: float, amount: Amount) -> Scenario:
    """Four hosts around a switch, with a stream from the first to the last through the programs of the two others."""
    hosts = [f"n{index}" for index in range(4)]
    size = total(amount)
    units = math.ceil(size / (adu_kb * KB))
    return Scenario(
        name=f"1 x 3 hop, UDP, {adu_kb} KB, wired",
        # Long enough for a tenth of the wire's rate; a run is over when its finite streams are.
        duration=size * 8 / (0.1 * RATE_BPS) + units * wait_ms * 1e-3,
        seed=1,
        radio={},
        nodes=[
            {"name": "n", "count": 4, "role": "wired", "relay": "application", "socket_buffer": SOCKET_BUFFER},
            {"name": "switch", "role": "wired"},
        ],
        links=[{"between": [host, "switch"], "rate": packet_rate(adu_kb)} for host in hosts],
        flows=[
            {
                "name": "stream0",
                "from": hosts[0],
                "to": hosts[-1],
                "via": hosts[1:-1],
                "transport": {"protocol": "udp"},
                "application": {"kind": "adu", "size": adu_kb * KB, "wait": f"{wait_ms} ms", "bytes": size},
            }
        ],
    )


def packet_rate(adu_kb: int) -> float:
    """Bit/s of IP packets that Ethernet carries if all are fragments of these units."""
    packets, octets = _on_the_wire(adu_kb)
    return RATE_BPS * octets / (octets + FRAMING * packets)


def seconds(adu_kb: int) -> float:
    """Time for which a single unit occupies the wire."""
    packets, octets = _on_the_wire(adu_kb)
    return 8.0 * (octets + FRAMING * packets) / RATE_BPS


def total(amount: Amount) -> int:
    """Bytes of the stream: enough to make the initial filling of two relays negligible."""
    return amount.pick(quick=100 << 20, full=GB)


def setup(amount: Amount) -> list[Parameter]:
    """Parameters of the wired counterpart, in addition to those of the other experiments."""
    return [
        Parameter("wired hosts", "around a switch, 10 Mb/s each way, no delay", "section III-B: a hub or a switch"),
        Parameter("framing", f"{FRAMING} octets a packet, out of the 10 Mb/s", "IEEE 802.3"),
        Parameter("queue of each wire", "50 packets", "as that of the radios; not stated"),
        Parameter("wired data", f"{total(amount) / (1 << 20):g} MB", "not stated"),
        Parameter("wired iterations", f"{len(SEEDS)} seed", "a wire without losses draws nothing"),
    ]


def _on_the_wire(adu_kb: int) -> tuple[int, int]:
    """IP packets of a unit, and their bytes."""
    packets = math.ceil((adu_kb * KB + HEADERS - 20) / FRAGMENT)
    return packets, adu_kb * KB + HEADERS + 20 * (packets - 1)
