"""Routing protocols written in Python, for prototypes.

Pass a class to the scenario under a name; groups of nodes use it under that name::

    extensions = hopcast.Extensions(routing={"link-state": LinkState})
    scenario = hopcast.Scenario.from_toml("string.toml", extensions=extensions)
    routing = {"protocol": "custom", "name": "link-state", "parameters": {"interval": 1.0}}
    hopcast.run(scenario.set("nodes.n.routing", routing))

`examples/link_state.py` is a complete example. Each node of each replication gets a separate object. hopcast calls it
with packets, messages, links and time, and it returns what to do. All times are seconds since the start of the run.
The behaviour must depend only on the inputs, so that a run can be repeated. A call takes about five microseconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from hopcast.random import Stream

BROADCAST = IPv4Address("255.255.255.255")
"""Address of all neighbours."""


class Node(NamedTuple):
    """Information about the node that a protocol serves."""

    address: IPv4Address
    """Address of the node, the same on all interfaces."""
    interfaces: int
    """Number of interfaces; they are counted from zero."""
    random: Stream
    """Random numbers for jitter and other draws of the protocol."""


class NextHop(NamedTuple):
    """A neighbour, and the interface that leads to it."""

    interface: int
    """Index of the interface at the node, from zero."""
    address: IPv4Address
    """Address of the neighbour."""


class Route(NamedTuple):
    """The way to a destination."""

    destination: IPv4Address
    """Where it leads."""
    hop: NextHop
    """The neighbour on the way."""
    hops: int
    """Hops to the destination, as far as this node knows."""


class Packet(NamedTuple):
    """The parts of an IP packet that a protocol sees."""

    source: IPv4Address
    destination: IPv4Address
    ttl: int
    """Time to live, in hops."""
    neighbour: NextHop | None
    """The neighbour that sent it. `None`: this node created it, or an interface returned it."""
    octets: bytes
    """For a message: all its bytes. For a packet with data: the header that the protocol put before the data.
    Otherwise empty.
    """
    has_data: bool
    """Whether it carries data after `octets`; otherwise it is a message."""
    protocol: int
    """IP protocol number of the data; 0 without data."""
    identification: int
    """Identification in the IP header: the same at all nodes."""
    fragment_offset: int
    """Fragment offset in the IP header, in bytes."""


@dataclass(frozen=True, slots=True)
class Udp:
    """Messages travel in UDP, from this port to this port."""

    port: int


@dataclass(frozen=True, slots=True)
class Ip:
    """Messages follow the IP header directly, and packets can carry a header of the protocol before their data."""

    protocol: int
    """Protocol number (IANA, "Assigned Internet Protocol Numbers")."""


@dataclass(frozen=True, slots=True)
class Arp:
    """Messages follow an ARP packet, without IP. Does not work on interfaces without hardware addresses."""


Encapsulation = Udp | Ip | Arp
"""Encapsulation of a protocol's messages."""


@dataclass(frozen=True, slots=True)
class Forward:
    """Send the packet to a neighbour."""

    hop: NextHop
    header: bytes | None = None
    """Header to put before the data, replacing the one that the packet came with. Only with `Ip`."""
    held: int | None = None
    """Number under which hopcast keeps a copy, until `Release` or `Recall`; below 2³², used once."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Keep the packet until there is a route to its destination."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Drop the packet: there is no route, and the protocol will not look for one."""


Verdict = Forward | Wait | Drop
"""What to do with a packet."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message to send."""

    octets: bytes
    destination: IPv4Address = BROADCAST
    """Source address of the IP packet."""
    hop: NextHop | None = None
    """The neighbour to send it to; with the address `BROADCAST`, all on that interface. `None`: all, on all
    interfaces.
    """
    ttl: int = 1
    """Time to live of the IP packet, in hops."""
    source: IPv4Address | None = None
    """Destination address of the IP packet. `None`: this node."""

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
    """A route to this destination exists: hopcast asks again about the packets that wait for one."""

    destination: IPv4Address


@dataclass(frozen=True, slots=True)
class NotFound:
    """No route to this destination was found: hopcast drops the packets that wait for one."""

    destination: IPv4Address


@dataclass(frozen=True, slots=True)
class Purge:
    """This neighbour is unreachable: packets for it that still wait at the interface come back as `QueuePurged`."""

    hop: NextHop


@dataclass(frozen=True, slots=True)
class Resend:
    """Send the copy with this number again, to the same neighbour and with the same header."""

    token: int


@dataclass(frozen=True, slots=True)
class Release:
    """Forget the copy with this number."""

    token: int


@dataclass(frozen=True, slots=True)
class Recall:
    """The copy with this number has not arrived: it comes back as `FrameDropped`, and hopcast forgets it."""

    token: int


Output = Send | Found | NotFound | Purge | Resend | Release | Recall
"""An action that a protocol asks for."""


@dataclass(frozen=True, slots=True)
class FrameDropped:
    """The interface has given up a packet for a neighbour after all its attempts."""

    hop: NextHop
    packet: Packet


@dataclass(frozen=True, slots=True)
class QueuePurged:
    """The interface has returned a packet that it had not begun to send, after `Purge`."""

    hop: NextHop
    packet: Packet


@dataclass(frozen=True, slots=True)
class NeighbourLost:
    """The interface reports that a neighbour has gone."""

    hop: NextHop


LinkEvent = FrameDropped | QueuePurged | NeighbourLost
"""An event that a link reports."""


class Routing(ABC):
    """Base of custom routing protocols: one protocol at one node.

    The constructor gets the `Node`, and the parameters of the scenario as keyword arguments; an unknown one is an
    error of the scenario. After each call of a `handle_*`, hopcast takes all of `poll_output`, then reads
    `poll_timeout`. An exception ends the run: it is the cause of the `RunError` that `hopcast.run` raises.
    """

    encapsulation: Encapsulation
    """Encapsulation of messages, for the whole run."""

    is_promiscuous: ClassVar[bool] = False
    """Whether hopcast should pass on packets that neighbours send to each other."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.outputs: deque[Output] = deque()
        """Pending actions in order: methods append to it."""

    @abstractmethod
    def handle_packet(self, packet: Packet, now: float) -> Verdict:
        """Return what to do with a packet that this node has created, or should forward; hopcast has already
        decremented its time to live.

        hopcast calls this again, in order, for packets that wait for a destination, once `Found` names it.
        """

    def handle_arrival(self, packet: Packet, now: float) -> bool:
        """Return whether the node accepts a packet with data that has arrived for it. `False` only with `Ip`."""
        return True

    def handle_abandoned(self, destination: IPv4Address, now: float) -> None:  # noqa: B027 - few protocols need it
        """Called when no packet waits for a route to `destination` any more: the search for it may end."""

    @abstractmethod
    def handle_message(self, packet: Packet, now: float) -> None:
        """Called when a message has arrived: `packet.octets` is all of it. Any node may have sent it, so check it."""

    def handle_overheard(self, packet: Packet, receiver: IPv4Address, now: float) -> None:  # noqa: B027 - few protocols need it
        """Called when the node has overheard a packet from a neighbour to another one, `receiver`. Only if
        `is_promiscuous`.
        """

    @abstractmethod
    def handle_link_event(self, event: LinkEvent, now: float) -> Verdict:
        """Called when something happened to a link. Return the verdict on the packet that the event carries, if it
        carries one with data.
        """

    @abstractmethod
    def handle_timeout(self, now: float) -> None:
        """Called at or after the time of `poll_timeout`. Must move that time: to a later one, or to `None`."""

    @abstractmethod
    def poll_timeout(self) -> float | None:
        """Time at which to call `handle_timeout`; at once if it has passed. `None`: never."""

    def poll_output(self) -> Output | None:
        """Return the next action, if there is one, and remove it from `outputs`."""
        return self.outputs.popleft() if self.outputs else None

    @abstractmethod
    def next_hop(self, destination: IPv4Address, now: float) -> NextHop | None:
        """Return the neighbour to which this node would now send a packet for `destination`, if there is one. Changes
        nothing.
        """

    def routes(self, now: float) -> Iterable[Route]:
        """Return all destinations to which `next_hop` now tells the way. `hopcast node` puts them into the kernel's
        tables; a simulation does not call it.
        """
        return ()

    def header_len(self, destination: IPv4Address, now: float) -> int:
        """Length in bytes of the header that a packet of this node for `destination` would now get before its data.
        Only with `Ip`.
        """
        return 0
