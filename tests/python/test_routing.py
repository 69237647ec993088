"""Routing protocols written in Python: the example finds shortest paths, and what a protocol says is checked."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from ipaddress import IPv4Address
from typing import Any, ClassVar

import pytest

import hopcast
from conftest import ROOT
from hopcast import routing
from hopcast.mobility import Leg, Mobility, Position
from hopcast.random import Stream
from hopcast.routing import Forward, LinkEvent, Message, NextHop, Node, Packet, Routing, Send, Verdict

EXAMPLE = ROOT / "examples" / "link_state.py"
spec = importlib.util.spec_from_file_location("link_state", EXAMPLE)
assert spec is not None
assert spec.loader is not None
link_state = importlib.util.module_from_spec(spec)
sys.modules["link_state"] = link_state
spec.loader.exec_module(link_state)
RANGE = 150.0


def toml(places: Sequence[tuple[float, float]], duration: int = 30) -> str:
    """Nodes that hear each other up to `RANGE`, and a flow from the first to the last one."""
    points = ", ".join(f'["{x} m", "{y} m"]' for x, y in places)
    return f"""
duration = "{duration} s"
[radio]
standard = "802.11b"
data_rate = "11 Mb/s"
propagation = {{ model = "range", receive = "{RANGE} m", carrier_sense = "300 m" }}
[[nodes]]
name = "n"
count = {len(places)}
placement = {{ shape = "points", at = [{points}] }}
[[flows]]
name = "f"
from = "n0"
to = "n{len(places) - 1}"
start = "10 s"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", rate = "32 kb/s", packet = 200 }}
"""


def address(node: int) -> IPv4Address:
    return IPv4Address("10.0.0.1") + node


class Recorded(link_state.LinkState):  # type: ignore[misc, name-defined]
    """The protocol of the example, whose objects can be asked after a run of one replication."""

    objects: ClassVar[dict[IPv4Address, Any]] = {}

    def __init__(self, node: Node, **parameters: Any) -> None:
        super().__init__(node, **parameters)
        self.objects[node.address] = self


EXTENSIONS = hopcast.Extensions(routing={"link-state": link_state.LinkState, "recorded": Recorded})


def routed(text: str, name: str = "recorded", **parameters: object) -> hopcast.Scenario:
    scenario = hopcast.Scenario.from_toml(text, extensions=EXTENSIONS)
    return scenario.set("nodes.n.routing", {"protocol": "custom", "name": name, "parameters": parameters})


def shortest(places: Sequence[tuple[float, float]], start: int) -> dict[int, int]:
    """Hops to each node that can be reached, by breadth first search over who hears whom."""
    found, waiting = {start: 0}, deque([start])
    while waiting:
        here = waiting.popleft()
        for there in range(len(places)):
            near = Position(*places[here]).distance(Position(*places[there])) <= RANGE
            if near and there not in found:
                found[there] = found[here] + 1
                waiting.append(there)
    return found


def walked(start: int, end: int) -> int:
    """Hops that a packet takes from one node to another, by what the protocol of each node says."""
    hops = 0
    while start != end:
        hop = Recorded.objects[address(start)].next_hop(address(end), 0.0)
        start = int(hop.address) - int(address(0))
        hops += 1
        assert hops < 100, "a loop"
    return hops


def assert_routes_are_shortest(places: Sequence[tuple[float, float]]) -> None:
    for start in range(len(places)):
        expected = shortest(places, start)
        known = {int(to) - int(address(0)) for to in Recorded.objects[address(start)].hops}
        assert known == expected.keys() - {start}, f"node {start}"
        assert {end: walked(start, end) for end in expected} == expected, f"node {start}"


STRING = [(100.0 * place, 0.0) for place in range(6)]
# A ring with a chord, a branch, and a node that nobody hears.
MESH = [(0, 0), (100, 80), (200, 100), (300, 60), (200, -80), (90, -90), (110, 200), (420, 60), (900, 0), (520, 60)]


@pytest.mark.parametrize("places", [STRING, MESH])
def test_the_example_finds_the_shortest_paths(places: Sequence[tuple[float, float]]) -> None:
    ours = hopcast.run(routed(toml(places)))
    assert_routes_are_shortest(places)
    static = hopcast.run(hopcast.Scenario.from_toml(toml(places)))
    sent, received = (ours.flows[f"{what}_packets"][0] for what in ("sent", "received"))
    assert sent == static.flows["sent_packets"][0] == 400
    # A packet is lost where advertisements collide with it, and one may be on its way at the end.
    assert received >= 0.98 * sent
    hops = shortest(places, 0)[len(places) - 1]
    assert ours.nodes["forwarded"].sum() == pytest.approx((hops - 1) * sent, rel=0.03)
    assert static.nodes["forwarded"].sum() == pytest.approx((hops - 1) * sent, rel=0.03)


class Stroll(Mobility):
    """Along the string at 5 m/s in a node's distance, from its far end to where it began, then rests."""

    def __init__(self, place: Position, random: Stream) -> None:
        self.legs = [Leg(place, 10.0), Leg.trip(place, Position(0.0, 100.0), 5.0)]

    def next_leg(self) -> Leg:
        return self.legs.pop(0) if self.legs else Leg(Position(0.0, 100.0), float("inf"))


def test_the_example_follows_a_node_that_moves() -> None:
    text = toml([*STRING, (500.0, 100.0)], 130)
    one, other = text.split("[[flows]]")
    walker = """
[[nodes]]
name = "walker"
placement = { shape = "points", at = [["500 m", "100 m"]] }
mobility = { model = "custom", name = "stroll" }
routing = { protocol = "custom", name = "recorded" }
[[flows]]"""
    one = one.replace("count = 7", "count = 6").replace(', ["500.0 m", "100.0 m"]', "")
    scenario = hopcast.Scenario.from_toml(
        one + walker + other.replace('"n6"', '"walker"'),
        overrides=['nodes.n.routing={ protocol = "custom", name = "recorded" }'],
        extensions=EXTENSIONS | hopcast.Extensions(mobility={"stroll": Stroll}),
    )
    result = hopcast.run(scenario)
    # The walk takes 100 s; 20 s later everybody knows.
    assert_routes_are_shortest([*STRING, (0.0, 100.0)])
    assert result.flows["loss_ratio"][0] < 0.1
    # It comes nearer, hop by hop: from seven nodes away to a neighbour.
    delay = result.series.filter(flow="f").select("time_s", "delay_s")
    far, near = (delay.filter(delay["time_s"].is_between(*times))["delay_s"].mean() for times in ((15, 25), (115, 130)))
    assert far > 4 * near  # type: ignore[operator]


def test_replications_are_the_same_on_any_number_of_threads() -> None:
    scenario = routed(toml(MESH), "link-state", interval=0.5)
    one, two = (hopcast.run(scenario, replications=2, threads=threads) for threads in (1, 2))
    assert one.flows.equals(two.flows)
    assert one.nodes.equals(two.nodes)
    assert one.nodes["routing_bytes"][0] != one.nodes["routing_bytes"][len(MESH)]


def test_advertisements_survive_the_wire_and_others_are_refused() -> None:
    sent = link_state.Advertisement(address(3), 2**32 - 1, frozenset({address(1), address(2)}))
    octets = sent.emit()
    assert link_state.Advertisement.parse(octets) == sent
    for wrong in (b"", octets[:-1], octets + b"\0", octets[:8]):
        assert link_state.Advertisement.parse(wrong) is None


def test_the_example_prints_what_it_measured() -> None:
    done = subprocess.run([sys.executable, EXAMPLE], check=True, capture_output=True, text=True)
    assert "voice" in done.stdout


class Along(Routing):
    """From node to node along a string, by their addresses: with a header before the data, and a copy kept of each packet."""

    encapsulation: routing.Encapsulation = routing.Ip(253)
    is_promiscuous = True
    told: ClassVar[list[object]] = []

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.told.clear()
        self.copies, self.due = 0, 1.0

    def handle_packet(self, packet: Packet, now: float) -> Verdict:
        self.copies += 1
        if self.copies > 1:
            self.outputs.append(routing.Release(self.copies - 1))
        return Forward(self.hop(packet.destination), packet.octets + self.node.address.packed, self.copies)

    def hop(self, destination: IPv4Address) -> NextHop:
        return NextHop(0, self.node.address + (1 if destination > self.node.address else -1))

    def handle_arrival(self, packet: Packet, now: float) -> bool:
        self.told.append(("arrived", packet.octets, packet.ttl, packet.protocol))
        return True

    def handle_message(self, packet: Packet, now: float) -> None:
        self.told.append(("message", packet.octets, packet.source, packet.neighbour))

    def handle_overheard(self, packet: Packet, receiver: IPv4Address, now: float) -> None:
        self.told.append(("overheard", packet.octets, receiver))

    def handle_link_event(self, event: LinkEvent, now: float) -> Verdict:
        self.told.append(type(event))
        return routing.Drop()

    def handle_timeout(self, now: float) -> None:
        assert self.due <= now
        self.due += 0.1 + 1e-10 / 3
        if self.node.address == address(1):
            self.outputs.append(Send(Message.to(NextHop(0, address(0)), b"hello")))

    def poll_timeout(self) -> float | None:
        return self.due

    def next_hop(self, destination: IPv4Address, now: float) -> NextHop | None:
        return self.hop(destination)

    def header_len(self, destination: IPv4Address, now: float) -> int:
        return 4


def along(protocol: type[Routing], places: Sequence[tuple[float, float]]) -> hopcast.Result:
    extensions = hopcast.Extensions(routing={"along": protocol})
    scenario = hopcast.Scenario.from_toml(toml(places, 11), extensions=extensions)
    return hopcast.run(scenario.set("nodes.n.routing", {"protocol": "custom", "name": "along"}))


def test_a_protocol_puts_headers_before_data_and_hears_its_neighbours() -> None:
    result = along(Along, STRING[:3])
    assert result.flows["received_packets"][0] >= 19
    header = address(0).packed + address(1).packed
    assert ("arrived", header, 63, 17) in Along.told
    assert ("overheard", header, address(2)) in Along.told
    assert ("message", b"hello", address(1), NextHop(0, address(1))) in Along.told
    # What is not there gives no acknowledgement.
    along(Along, [*STRING[:2], (600.0, 0.0)])
    assert routing.FrameDropped in Along.told


def wrong(method: str, says: object) -> type[Routing]:
    return type("Wrong", (Along,), {method: lambda *_: says})


@pytest.mark.parametrize(
    ("protocol", "told"),
    [
        (wrong("handle_packet", None), "None is not a Forward, Wait or Drop of hopcast.routing"),
        (wrong("handle_packet", Forward((0, address(1)))), "is not a NextHop of hopcast.routing"),  # type: ignore[arg-type]
        (wrong("handle_packet", Forward(NextHop(0, "::1"))), "::1 is no IPv4 address"),  # type: ignore[arg-type]
        (wrong("handle_packet", Forward(NextHop(-1, address(1)))), "out of range"),
        (wrong("handle_packet", Forward(NextHop(0, address(1)), "text")), "str"),  # type: ignore[arg-type]
        (wrong("poll_output", address(1)), "is not an output"),
        (wrong("poll_timeout", float("nan")), "nan is no time"),
        (wrong("handle_timeout", None), "poll_timeout is 1 after handle_timeout at 1, should be later or None"),
        (wrong("handle_message", None), ""),
        (type("Wrong", (Along,), {"encapsulation": 17}), "17 is not a Udp, Ip or Arp of hopcast.routing"),
    ],
)
def test_what_a_protocol_says_is_checked(protocol: type[Routing], told: str) -> None:
    if not told:
        assert along(protocol, STRING[:3]).flows["received_packets"][0] >= 19
        return
    with pytest.raises(hopcast.RunError, match=r"a routing protocol raised \w+") as failed:
        along(protocol, STRING[:3])
    assert told in str(failed.value.__cause__)


def test_a_protocol_without_what_it_needs_is_an_error_of_the_scenario() -> None:
    with pytest.raises(hopcast.ScenarioError) as refused:
        routed(toml(STRING), interval=0)
    assert refused.value.field == "nodes.n.routing.parameters"
    assert "jitter is 0.02 s" in str(refused.value)
    with pytest.raises(hopcast.ScenarioError, match='did you mean "recorded"'):
        routed(toml(STRING), "recordet")
