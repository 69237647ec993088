"""A link-state routing protocol: every node floods who its neighbours are, and knows the shortest path to everybody from that.

Run it over a string of nodes::

    python examples/link_state.py

Every node broadcasts an advertisement at an even interval: its address, a sequence number and the neighbours that it hears. A node
that hears a neighbour's own advertisement hears that neighbour. It passes each advertisement on once, so that all nodes have all of
them. A link counts if both its ends say that they hear each other. The next hop is the first step of a shortest path over such links,
found breadth first, neighbours in the order of their addresses. A node is forgotten if nothing new was heard of it for three intervals,
and a neighbour at once when a frame could not be delivered to it.
"""

from __future__ import annotations

import struct
from collections import deque
from ipaddress import IPv4Address
from typing import NamedTuple

import hopcast
from hopcast import routing
from hopcast.routing import LinkEvent, NextHop, Node, Packet, Route, Verdict

HEADER = struct.Struct("!4sIB")
"""Of an advertisement: origin, sequence number, how many neighbours follow, four bytes each."""
FORGET = 3
"""Intervals without a word after which a node is forgotten."""


class Advertisement(NamedTuple):
    """Who hears whom."""

    origin: IPv4Address
    sequence: int
    neighbours: frozenset[IPv4Address]

    def emit(self) -> bytes:
        """As it travels."""
        header = HEADER.pack(self.origin.packed, self.sequence, len(self.neighbours))
        return header + b"".join(neighbour.packed for neighbour in sorted(self.neighbours))

    @classmethod
    def parse(cls, octets: bytes) -> Advertisement | None:
        """`None` if that is no advertisement."""
        if len(octets) < HEADER.size:
            return None
        origin, sequence, count = HEADER.unpack_from(octets)
        listed = octets[HEADER.size :]
        if len(listed) != 4 * count:
            return None
        neighbours = (IPv4Address(listed[place : place + 4]) for place in range(0, 4 * count, 4))
        return cls(IPv4Address(origin), sequence, frozenset(neighbours))


class LinkState(routing.Routing):
    """The protocol at one node. `interval` is the time between two of its advertisements, `jitter` the longest time before one of
    another node is passed on, both in seconds."""

    # One of the ports that are free for experiments (RFC 4727, section 6).
    encapsulation = routing.Udp(1022)

    def __init__(self, node: Node, *, interval: float = 1.0, jitter: float = 0.02) -> None:
        super().__init__(node)
        if not 0 <= jitter <= interval or interval == 0:
            raise ValueError(f"jitter is {jitter} s; expected at most the interval, {interval} s, which is above 0")
        self.interval, self.jitter, self.sequence = interval, jitter, 0
        self.next_own = interval * node.random.unit()
        self.relays: list[tuple[float, bytes]] = []
        """What is to be passed on, and when."""
        self.heard: dict[IPv4Address, tuple[NextHop, float]] = {}
        """Neighbours: how to reach them, and until when they count."""
        self.advertised: dict[IPv4Address, tuple[Advertisement, float]] = {}
        """The newest of each node, and until when it counts."""
        self.hops: dict[IPv4Address, NextHop] = {}
        """By destination."""
        self.lengths: dict[IPv4Address, int] = {}
        """Hops to each destination."""

    def handle_packet(self, packet: Packet, now: float) -> Verdict:
        hop = self.hops.get(packet.destination)
        if hop is not None:
            return routing.Forward(hop)
        # A packet of this node waits until the network is known; one of another has come by a way that leads no further.
        return routing.Wait() if packet.neighbour is None else routing.Drop()

    def handle_message(self, packet: Packet, now: float) -> None:
        advertisement = Advertisement.parse(packet.octets)
        if advertisement is None or packet.neighbour is None or advertisement.origin == self.node.address:
            return
        origin, until = advertisement.origin, now + FORGET * self.interval
        if packet.neighbour.address == origin:
            self.heard[origin] = (packet.neighbour, until)
        known = self.advertised.get(origin)
        if known is None or advertisement.sequence > known[0].sequence:
            self.advertised[origin] = (advertisement, until)
            self.relays.append((now + self.jitter * self.node.random.unit(), packet.octets))
        self.find_paths()

    def handle_link_event(self, event: LinkEvent, now: float) -> Verdict:
        self.heard.pop(event.hop.address, None)
        self.find_paths()
        if isinstance(event, routing.NeighbourLost):
            return routing.Drop()
        # What was not delivered may have another way.
        hop = self.hops.get(event.packet.destination)
        return routing.Drop() if hop is None else routing.Forward(hop)

    def handle_timeout(self, now: float) -> None:
        self.heard = {of: entry for of, entry in self.heard.items() if entry[1] > now}
        self.advertised = {of: entry for of, entry in self.advertised.items() if entry[1] > now}
        due = [octets for at, octets in self.relays if at <= now]
        self.relays = [relay for relay in self.relays if relay[0] > now]
        if self.next_own <= now:
            due.append(Advertisement(self.node.address, self.sequence, frozenset(self.heard)).emit())
            self.sequence += 1
            self.next_own = now + self.interval
        self.outputs.extend(routing.Send(routing.Message(octets)) for octets in due)
        self.find_paths()

    def poll_timeout(self) -> float:
        ends = (entry[1] for known in (self.heard, self.advertised) for entry in known.values())
        return min([self.next_own, *(at for at, _ in self.relays), *ends])

    def next_hop(self, destination: IPv4Address, now: float) -> NextHop | None:
        return self.hops.get(destination)

    def routes(self, now: float) -> list[Route]:
        return [Route(destination, hop, self.lengths[destination]) for destination, hop in self.hops.items()]

    def find_paths(self) -> None:
        """Reckon the shortest paths anew, and tell of destinations that were not reached before."""
        before, self.hops, self.lengths = self.hops, {}, {}
        waiting: deque[tuple[IPv4Address, NextHop, int]] = deque()
        for neighbour in sorted(self.heard):
            if self.node.address in self.neighbours(neighbour):
                waiting.append((neighbour, self.heard[neighbour][0], 1))
        while waiting:
            node, hop, length = waiting.popleft()
            if node not in self.hops:
                self.hops[node], self.lengths[node] = hop, length
                waiting.extend(
                    (other, hop, length + 1)
                    for other in sorted(self.neighbours(node))
                    if other != self.node.address and node in self.neighbours(other)
                )
        self.outputs.extend(routing.Found(destination) for destination in self.hops.keys() - before.keys())

    def neighbours(self, node: IPv4Address) -> frozenset[IPv4Address]:
        """Those that a node has advertised."""
        known = self.advertised.get(node)
        return frozenset() if known is None else known[0].neighbours


SCENARIO = """
name = "voice over five hops"
duration = "30 s"
radio = { standard = "802.11b", data_rate = "11 Mb/s", propagation = { model = "range", receive = "150 m", carrier_sense = "300 m" } }
[[nodes]]
name = "n"
count = 6
placement = { shape = "line", spacing = "100 m" }
routing = { protocol = "custom", name = "link-state", parameters = { interval = 1.0 } }
[[flows]]
name = "voice"
from = "n0"
to = "n5"
start = "5 s"
transport = { protocol = "udp" }
application = { kind = "cbr", rate = "64 kb/s", packet = 160 }
"""

EXTENSIONS = hopcast.Extensions(routing={"link-state": LinkState})

if __name__ == "__main__":
    print(hopcast.run(hopcast.Scenario.from_toml(SCENARIO, extensions=EXTENSIONS)).flows)
