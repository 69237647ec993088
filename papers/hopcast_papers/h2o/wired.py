"""The wired counterpart of H6: the same stream through the same applications, over Ethernet.

The paper's section III-B used "either a hub or a switch (slow Ethernet, 10 Mbps maximum rating)". 10BASE-T without
negotiation is half duplex: a host sends or receives. The hub and a switch with half-duplex ports are judged; a switch
with a cable for each direction stands next to them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from hopcast.lab.experiment import Amount, Parameter
from hopcast.scenario import Scenario
from hopcast_papers.h2o import streams
from hopcast_papers.h2o.streams import GB, KB, SOCKET_BUFFER

if TYPE_CHECKING:
    from hopcast.types import Link, Nodes

Network = Literal["hub", "half-duplex switch", "switch"]
SHARED: tuple[Network, ...] = ("hub", "half-duplex switch")
"""Half duplex: what the paper's sentence is judged by."""
NETWORKS: tuple[Network, ...] = (*SHARED, "switch")

RATE_BPS = 10e6
FRAMING = 38
"""Bytes that Ethernet adds to a packet: preamble 8, header 14, FCS 4, gap 12 (IEEE 802.3)."""
HEADERS = 20 + 8
"""Bytes of IPv4 and UDP headers (RFC 791, RFC 768)."""
FRAGMENT = 1480
"""Bytes of IP payload in a full packet of 1500 (RFC 894)."""


def seeds(network: Network, amount: Amount) -> tuple[int, ...]:
    """A cable without losses draws no random numbers: all runs are equal. Collisions do."""
    return streams.seeds(amount) if network in SHARED else (1,)


def scenario(adu_kb: int, wait_ms: float, amount: Amount, network: Network = "switch") -> Scenario:
    """Four hosts around a switch or a hub, with a stream from the first to the last through the programs of the two
    others.
    """
    hosts = [f"n{index}" for index in range(4)]
    size = total(amount, network)
    units = math.ceil(size / (adu_kb * KB))
    middle: Nodes = {"name": "middle", "role": "hub" if network == "hub" else "wired"}
    return Scenario(
        name=f"1 x 3 hop, UDP, {adu_kb} KB, {network}",
        # Long enough for a tenth of the wire's rate; a run is over when its finite streams are.
        duration=size * 8 / (0.1 * RATE_BPS) + units * wait_ms * 1e-3,
        seed=1,
        radio={},
        nodes=[
            {"name": "n", "count": 4, "role": "wired", "relay": "application", "socket_buffer": SOCKET_BUFFER},
            middle,
        ],
        links=[_link(host, adu_kb, network) for host in hosts],
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


def _link(host: str, adu_kb: int, network: Network) -> Link:
    """Framing is a part of half duplex; where each direction has its cable, it comes off the rate."""
    if network == "switch":
        return {"between": [host, "middle"], "rate": packet_rate(adu_kb)}
    return {"between": [host, "middle"], "rate": RATE_BPS, "duplex": "half"}


def packet_rate(adu_kb: int) -> float:
    """Bit/s of IP packets that Ethernet carries if all are fragments of these units."""
    packets, octets = _on_the_wire(adu_kb)
    return RATE_BPS * octets / (octets + FRAMING * packets)


def seconds(adu_kb: int) -> float:
    """Time for which a single unit occupies the wire."""
    packets, octets = _on_the_wire(adu_kb)
    return 8.0 * (octets + FRAMING * packets) / RATE_BPS


def total(amount: Amount, network: Network = "switch") -> int:
    """Bytes of the stream: enough to make the initial filling of two relays negligible."""
    if network in SHARED:
        return amount.pick(quick=8 << 20, full=100 << 20)
    return amount.pick(quick=100 << 20, full=GB)


def setup(amount: Amount) -> list[Parameter]:
    """Parameters of the wired counterpart, in addition to those of the other experiments."""
    shared, whole = total(amount, "hub") / (1 << 20), total(amount) / (1 << 20)
    return [
        Parameter(
            "wired hosts",
            "around a hub, and around a switch with half-duplex ports, 10 Mb/s; beside them a switch with 10 Mb/s each way; no delay",
            "section III-B: a hub or a switch, slow Ethernet; 10BASE-T that does not negotiate is half duplex",
        ),
        Parameter("framing", f"{FRAMING} octets a packet, out of the 10 Mb/s", "IEEE 802.3"),
        Parameter("queue of each wire", "50 packets", "as that of the radios; not stated"),
        Parameter("wired data", f"{shared:g} MB where half duplex, else {whole:g} MB", "not stated"),
        Parameter(
            "wired iterations",
            f"{len(seeds('hub', amount))} seeds where half duplex, else {len(seeds('switch', amount))}",
            "a cable for each direction draws nothing",
        ),
    ]


def _on_the_wire(adu_kb: int) -> tuple[int, int]:
    """IP packets of a unit, and their bytes."""
    packets = math.ceil((adu_kb * KB + HEADERS - 20) / FRAGMENT)
    return packets, adu_kb * KB + HEADERS + 20 * (packets - 1)
