"""Routing protocols written in Python, for prototypes.

A class of such protocols gets a name with the scenario, and groups of nodes use it under that name::

    extensions = hopcast.Extensions(routing={"link-state": LinkState})
    scenario = hopcast.Scenario.from_toml("string.toml", extensions=extensions)
    routing = {"protocol": "custom", "name": "link-state", "parameters": {"interval": 1.0}}
    hopcast.run(scenario.set("nodes.n.routing", routing))

`examples/link_state.py` is a whole one. Each node of each replication has an object of its own, which is told of packets, messages,
links and time, and says what it wants done. All times are seconds since the start of the run. What an object does must follow from what
it is told, so that a run can be repeated. A call takes some five microseconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from hopcast.random import Stream

BROADCAST = IPv4Address("255.255.255.255")
"""All neighbours."""


class Node(NamedTuple):
    """What a protocol is told of the node that it serves."""

    address: IPv4Address
    """The address of the node, the same on all interfaces."""
    interfaces: int
    """How many it has; they are counted from zero."""
    random: Stream
    """For jitter and whatever else the protocol draws."""


class NextHop(NamedTuple):
    """A neighbour, and the interface that leads there."""

    interface: int
    """Its place among the interfaces of the node, from zero."""
    address: IPv4Address
    """The neighbour."""


class Packet(NamedTuple):
    """What a protocol sees of an IP packet."""

    source: IPv4Address
    destination: IPv4Address
    ttl: int
    """Time to live, in hops."""
    neighbour: NextHop | None
    """The neighbour that it came from. `None`: this node has made it, or an interface has given it back."""
    octets: bytes
    """Of a message: all of it. Of a packet with data: the header that the protocol has put before the data. Otherwise empty."""
    has_data: bool
    """Whether it carries data, behind `octets`; otherwise it is a message."""
    protocol: int
    """IP protocol number of the data; 0 without data."""
    identification: int
    """Identification in the IP header: the same wherever the packet is seen."""
    fragment_offset: int
    """Fragment offset in the IP header, in bytes."""


@dataclass(frozen=True, slots=True)
class Udp:
    """Messages travel in UDP, from this port to this port."""

    port: int


@dataclass(frozen=True, slots=True)
class Ip:
    """Messages travel directly behind the IP header, and a header of the protocol may stand before the data of a packet."""

    protocol: int
    """Protocol number (IANA, "Assigned Internet Protocol Numbers")."""


@dataclass(frozen=True, slots=True)
class Arp:
    """Messages travel behind an ARP packet, without IP. Not over interfaces without hardware addresses."""


Encapsulation = Udp | Ip | Arp
"""How the messages of a protocol travel."""


@dataclass(frozen=True, slots=True)
class Forward:
    """The packet goes to a neighbour."""

    hop: NextHop
    header: bytes | None = None
    """Stands before its data, in place of the header that it came with. Only with `Ip`."""
    held: int | None = None
    """A copy is kept under this number, below 2³² and used once, until `Release` or `Recall`."""


@dataclass(frozen=True, slots=True)
class Wait:
    """The packet waits for a route to its destination."""


@dataclass(frozen=True, slots=True)
class Drop:
    """There is no route, and none will be looked for."""


Verdict = Forward | Wait | Drop
"""What is to be done with a packet."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message to be sent."""

    octets: bytes
    destination: IPv4Address = BROADCAST
    """Of the IP packet."""
    hop: NextHop | None = None
    """The neighbour that is to receive it; with the address `BROADCAST`, all on that interface. `None`: all, on all interfaces."""
    ttl: int = 1
    """Time to live of the IP packet, in hops."""
    source: IPv4Address | None = None
    """Of the IP packet. `None`: this node."""

    @classmethod
    def to(cls, hop: NextHop, octets: bytes) -> Message:
        """A message to one neighbour. `Message(octets)` goes to all of them."""
        return cls(octets, destination=hop.address, hop=hop)


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message."""

    message: Message


@dataclass(frozen=True, slots=True)
class Found:
    """There is a route to this destination: ask again about the packets that wait for one."""

    destination: IPv4Address


@dataclass(frozen=True, slots=True)
class NotFound:
    """No route to this destination was found: drop the packets that wait for one."""

    destination: IPv4Address


@dataclass(frozen=True, slots=True)
class Purge:
    """Nothing can be sent to this neighbour any more: what still waits at the interface for it comes back as `QueuePurged`."""

    hop: NextHop


@dataclass(frozen=True, slots=True)
class Resend:
    """Send the copy with this number once more, to the same neighbour and with the same header."""

    token: int


@dataclass(frozen=True, slots=True)
class Release:
    """Forget the copy with this number."""

    token: int


@dataclass(frozen=True, slots=True)
class Recall:
    """The copy with this number has not arrived: it comes back as `FrameDropped`, and is forgotten."""

    token: int


Output = Send | Found | NotFound | Purge | Resend | Release | Recall
"""What a protocol wants done."""


@dataclass(frozen=True, slots=True)
class FrameDropped:
    """The interface has given up a packet for a neighbour after all its attempts."""

    hop: NextHop
    packet: Packet


@dataclass(frozen=True, slots=True)
class QueuePurged:
    """The interface has given back a packet that it had not begun to send, after `Purge`."""

    hop: NextHop
    packet: Packet


@dataclass(frozen=True, slots=True)
class NeighbourLost:
    """The interface says that a neighbour has gone."""

    hop: NextHop


LinkEvent = FrameDropped | QueuePurged | NeighbourLost
"""What the links report."""


class Routing(ABC):
    """One routing protocol at one node: the base of custom ones.

    The constructor gets the `Node`, and the parameters of the scenario as keyword arguments; one that it does not take is an error of
    the scenario. After each call of a `handle_*`, hopcast takes all of `poll_output`, then reads `poll_timeout`. An exception ends the
    run: it is the cause of the `RunError` that `hopcast.run` raises.
    """

    encapsulation: Encapsulation
    """How the messages travel, for the whole run."""

    is_promiscuous: ClassVar[bool] = False
    """Whether the protocol wants to hear packets that neighbours send to each other."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.outputs: deque[Output] = deque()
        """What is to be done, in order: methods append to it."""

    @abstractmethod
    def handle_packet(self, packet: Packet, now: float) -> Verdict:
        """What to do with a packet that this node has made, or that it is to pass on; its time to live has been counted down.

        Asked again, in order, about packets that wait for a destination once `Found` names it.
        """

    def handle_arrival(self, packet: Packet, now: float) -> bool:
        """A packet with data for this node has arrived: whether the node takes it. `False` only with `Ip`."""
        return True

    def handle_abandoned(self, destination: IPv4Address, now: float) -> None:  # noqa: B027 - few protocols need it
        """No packet waits for a route to `destination` any more: a search for one may end."""

    @abstractmethod
    def handle_message(self, packet: Packet, now: float) -> None:
        """A message has arrived: `packet.octets` is all of it. It may come from anybody: check it."""

    def handle_overheard(self, packet: Packet, receiver: IPv4Address, now: float) -> None:  # noqa: B027 - few protocols need it
        """A packet from a neighbour to another one, `receiver`, was heard. Only if `is_promiscuous`."""

    @abstractmethod
    def handle_link_event(self, event: LinkEvent, now: float) -> Verdict:
        """Something happened to a link. The verdict is on the packet that the event carries, if it carries one with data."""

    @abstractmethod
    def handle_timeout(self, now: float) -> None:
        """The time of `poll_timeout` has come, or has passed. Must move it on: to a later time, or to `None`."""

    @abstractmethod
    def poll_timeout(self) -> float | None:
        """When `handle_timeout` is due; at once, if that has passed. `None`: never."""

    def poll_output(self) -> Output | None:
        """The next thing to be done, if there is one: the first of `outputs`, which loses it."""
        return self.outputs.popleft() if self.outputs else None

    @abstractmethod
    def next_hop(self, destination: IPv4Address, now: float) -> NextHop | None:
        """The neighbour to which this node would send a packet for `destination` now, if there is one. Changes nothing."""

    def header_len(self, destination: IPv4Address, now: float) -> int:
        """Length of the header that a packet of this node for `destination` would get before its data now, in bytes. Only with `Ip`."""
        return 0
