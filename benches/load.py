"""Load of the live commands: a router with many neighbours and destinations, a receiver of a stream under a flood of strangers, and devices
of a cloud that sign what they pass on.

`python benches/load.py router [PROTOCOL…]`, `python benches/load.py stream [CASE…]` or `python benches/load.py cloud [CASE…]`, as root.
`--program` names the program; the default is the module's command. All print the rows of tables in docs/security.md, and end with status 1
where a line of theirs is crossed.

The router runs in a network namespace, on one core. This program sends what its neighbours would send, each from an address and a hardware
address of the neighbour; with a network key, sealed and signed by the rules of docs/key-protocol.md. The stream runs between two namespaces,
and strangers send from a third one, from invented addresses. In the cloud, a film goes over one device to another one.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import heapq
import itertools
import json
import os
import random
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

NEIGHBOURS = 200
BRANCH = 10
"""Nodes in a chain that begins with each neighbour: 2000 destinations."""
COPIES = 3
"""How often a message that all nodes pass on arrives: over the neighbour that is nearest to its origin, and over two others."""
WARM_UP_S = 40.0
MEASURED_S = 30.0
FILM_RATE = 8_000_000
"""Rate of the film in bit/s."""
FILM_S = 24
FLOOD_FROM_S, FLOOD_S = 6.0, 12.0
FLOOD_RATE = 100_000
"""Datagrams of strangers in a second."""
KEPT = 0.95
"""The share of its rate that the stream is to keep."""
SEALED_PORT = 60654
"""UDP port of sealed messages of all protocols."""
OVERHEAD = 25 + 9 + 16
"""Bytes by which a sealed message is longer."""
SIGNATURE = 64
"""Bytes by which a signature makes it longer."""
CLOUD_RATE, CLOUD_S = 20_000_000, 20
"""Rate of the film in the cloud in bit/s, and its length."""
CLOUD_FROM_S, CLOUD_MEASURED_S = 4.0, 12.0
CLOUD_CASES = {"key": (False, 0), "identities": (True, 0), "key, busy": (False, 2), "identities, busy": (True, 2)}
"""By name: whether the devices have identities, and for each processor, how many other programs use as much of it as they get."""
TICKS = os.sysconf("SC_CLK_TCK")
ROUTER, ROUTER_MAC = IPv4Address("10.0.0.1"), bytes.fromhex("020000000001")


def main() -> None:
    """Measure, and print the rows of one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("load", choices=["router", "stream", "cloud"])
    parser.add_argument(
        "cases", nargs="*", metavar="CASE", help="protocols, floods, or cases of a cloud (default: all)"
    )
    parser.add_argument("--program", nargs="+", default=[sys.executable, "-m", "hopcast"])
    options = parser.parse_args()
    rows = {"router": router, "stream": stream, "cloud": cloud}[options.load]
    held = list(rows(options.program, options.cases))
    if not all(held):
        sys.exit("a line was crossed")


# --- processes and namespaces --------------------------------------------------------------------------------------


def run(*command: object) -> str:
    """Runs a command that must succeed; what it prints."""
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


@contextmanager
def namespace(name: str) -> Iterator[str]:
    """A network namespace."""
    name = f"load-{os.getpid()}-{name}"
    run("ip", "netns", "add", name)
    try:
        run("ip", "-n", name, "link", "set", "lo", "up")
        yield name
    finally:
        run("ip", "netns", "delete", name)


@contextmanager
def started(command: list[str], **options: object) -> Iterator[subprocess.Popen[bytes]]:
    """A command that runs, and is ended at the end."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
        process.kill()
        process.wait()


def processor_time(process: subprocess.Popen[bytes]) -> float:
    """What it has used, in seconds (proc(5): `utime` and `stime`)."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(process: subprocess.Popen[bytes], what: str) -> float:
    """`VmRSS` or `VmHWM` of proc(5), in MB."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    return int(text.partition(f"{what}:")[2].split()[0]) * 1024 / 1e6


def wire(one: str, device: str, other: str, there: str, addresses: tuple[str, str]) -> None:
    """Connects two hosts, which have these addresses there."""
    run("ip", "-n", one, "link", "add", device, "type", "veth", "peer", "name", there, "netns", other)
    for place, name, address in ((one, device, addresses[0]), (other, there, addresses[1])):
        if address:
            run("ip", "-n", place, "address", "add", address, "dev", name)
        run("ip", "-n", place, "link", "set", name, "up")


def hardware_of(place: str, device: str) -> bytes:
    """The hardware address of a device."""
    text = run("ip", "netns", "exec", place, "cat", f"/sys/class/net/{device}/address")
    return bytes.fromhex(text.strip().replace(":", ""))


# --- packets -------------------------------------------------------------------------------------------------------


def datagram(
    hardware: bytes,
    to: bytes,
    source: IPv4Address,
    destination: IPv4Address,
    ports: tuple[int, int],
    ttl: int,
    payload: bytes,
) -> bytes:
    """A frame of Ethernet with a UDP datagram, without a checksum of UDP."""
    udp = struct.pack(">HHHH", *ports, 8 + len(payload), 0)
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 0, 0, ttl, 17, 0, source.packed, destination.packed)
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    head = head[:10] + struct.pack(">H", 0xFFFF - ((total & 0xFFFF) + (total >> 16))) + head[12:]
    return to + hardware + b"\x08\x00" + head + udp + payload


# --- the router ----------------------------------------------------------------------------------------------------


def node(neighbour: int, depth: int) -> IPv4Address:
    """The node at this depth of a neighbour's chain; the neighbour itself is at 0."""
    return IPv4Address(int(ROUTER) + 256 * (depth + 1) + neighbour)


@dataclass
class Event:
    """What a neighbour sends again and again."""

    period_s: float
    say: Callable[[int], Iterator[tuple[int, bytes]]]
    """Neighbours and what they send, the nth time."""


def olsr() -> tuple[int, list[Event]]:
    """Port and events of OLSR (RFC 3626): HELLOs each 2 s, and a TC each 5 s of each node that relays."""
    packets = [0] * NEIGHBOURS

    def packet(
        neighbour: int, kind: int, validity: int, origin: IPv4Address, hops: int, number: int, body: bytes
    ) -> bytes:
        packets[neighbour] += 1
        size = 12 + len(body)
        message = struct.pack(">BBH4sBBH", kind, validity, size, origin.packed, 255 - hops, hops, number & 0xFFFF)
        return struct.pack(">HH", 4 + size, packets[neighbour] & 0xFFFF) + message + body

    def hello(neighbour: int) -> Event:
        def say(nth: int) -> Iterator[tuple[int, bytes]]:
            # 2 s, and the default willingness. The router relays, and so its link is one to an MPR; the chain's next node is a neighbour.
            body = struct.pack(">HBB", 0, 0x05, 3)
            body += struct.pack(">BBH4s", 10, 0, 8, ROUTER.packed) + struct.pack(
                ">BBH4s", 6, 0, 8, node(neighbour, 1).packed
            )
            yield neighbour, packet(neighbour, 1, 0x86, node(neighbour, 0), 0, nth, body)

        return Event(2.0, say)

    def topology(neighbour: int, depth: int) -> Event:
        def say(nth: int) -> Iterator[tuple[int, bytes]]:
            before = ROUTER if depth == 0 else node(neighbour, depth - 1)
            body = struct.pack(">HH4s4s", 1, 0, before.packed, node(neighbour, depth + 1).packed)
            for over, hops in copies(neighbour, depth):
                # Numbers of TCs lie apart from those of HELLOs.
                yield over, packet(over, 2, 0xE7, node(neighbour, depth), hops, 0x8000 + nth, body)

        return Event(5.0, say)

    events = [hello(neighbour) for neighbour in range(NEIGHBOURS)]
    events += [topology(neighbour, depth) for neighbour in range(NEIGHBOURS) for depth in range(BRANCH - 1)]
    return 698, events


def forged() -> tuple[int, list[Event]]:
    """The same with an attacker in the place of the last neighbour: 182 nodes that are not there with 330 links each, and 150 changes a second."""
    port, events = olsr()
    attacker, nodes, links, changes = NEIGHBOURS - 1, 182, 330, 150
    origins = [IPv4Address("11.0.0.0") + 1024 * nth for nth in range(nodes)]
    numbers = {"packet": 0, "message": 0}

    def packet(kind: int, validity: int, origin: IPv4Address, body: bytes) -> tuple[int, bytes]:
        numbers["packet"] += 1
        numbers["message"] += 1
        message = struct.pack(
            ">BBH4sBBH", kind, validity, 12 + len(body), origin.packed, 255, 0, numbers["message"] & 0xFFFF
        )
        return attacker, struct.pack(">HH", 16 + len(body), numbers["packet"] & 0xFFFF) + message + body

    def hello(nth: int) -> Iterator[tuple[int, bytes]]:
        body = struct.pack(">HBB", 0, 0x05, 3) + struct.pack(">BBH4s", 6, 0, 8, ROUTER.packed)
        near = [node(attacker, 1), *origins]
        body += struct.pack(">BBH", 6, 0, 4 + 4 * len(near)) + b"".join(address.packed for address in near)
        yield packet(1, 0x86, node(attacker, 0), body)

    def invent(nth: int) -> Iterator[tuple[int, bytes]]:
        # The numbers of sets are those of `change`, whose origin is the last one.
        for origin in origins[:-1]:
            yield packet(
                2,
                0xE7,
                origin,
                struct.pack(">HH", 1, 0) + b"".join((origin + 1 + link).packed for link in range(links)),
            )

    def change(nth: int) -> Iterator[tuple[int, bytes]]:
        origin = origins[-1]
        body = struct.pack(">HH", nth & 0xFFFF, 0) + b"".join(
            (origin + 1 + 10 * (nth % 2) + link).packed for link in range(5)
        )
        yield packet(2, 0xE7, origin, body)

    # Instead of what the neighbour would say.
    events[attacker] = Event(2.0, hello)
    return port, [*events, Event(5.0, invent), Event(1 / changes, change)]


def copies(neighbour: int, depth: int) -> Iterator[tuple[int, int]]:
    """Neighbours over which a message of a node arrives, and its hops until then: others have it from the router."""
    yield neighbour, depth
    for other in range(1, COPIES):
        yield (neighbour + 67 * other) % NEIGHBOURS, depth + 2


def aodv() -> tuple[int, list[Event]]:
    """Port and events of AODV (RFC 3561): hellos each second, and a search of each other node each 4 s, for nodes that are not there."""

    def hello(neighbour: int) -> Event:
        def say(nth: int) -> Iterator[tuple[int, bytes]]:
            own = node(neighbour, 0).packed
            yield neighbour, struct.pack(">BBBB4sI4sI", 2, 0, 0, 0, own, 1, own, 2000)

        return Event(1.0, say)

    def search(neighbour: int, depth: int) -> Event:
        def say(nth: int) -> Iterator[tuple[int, bytes]]:
            # To be answered by the destination alone, whose number is not known.
            wanted = IPv4Address(int(ROUTER) + 256 * 100 + nth % 200).packed
            for over, hops in copies(neighbour, depth):
                origin = node(neighbour, depth).packed
                yield over, struct.pack(">BBBBI4sI4sI", 1, 0x18, 0, hops, nth, wanted, 0, origin, nth + 1)

        return Event(4.0, say)

    events = [hello(neighbour) for neighbour in range(NEIGHBOURS)]
    events += [search(neighbour, depth) for neighbour in range(NEIGHBOURS) for depth in range(1, BRANCH)]
    return 654, events


def dsdv(overhead: int = 0) -> tuple[int, list[Event]]:
    """Port and events of DSDV: all of its table of each neighbour each 15 s, in messages to which a key adds this number of bytes."""
    told = [0] * NEIGHBOURS
    in_one = (1500 - 28 - 11 - overhead) // 12

    def dump(neighbour: int) -> Event:
        def say(nth: int) -> Iterator[tuple[int, bytes]]:
            told[neighbour] = nth + 1
            entries = []
            for branch in range(NEIGHBOURS):
                # What it has from the router is a period old.
                number = told[branch] if branch == neighbour else told[branch] - 1
                far = 0 if branch == neighbour else 2
                if number >= 0:
                    entries += [
                        struct.pack(">4sII", node(branch, depth).packed, depth + far, 2 * number)
                        for depth in range(BRANCH)
                    ]
            for first in range(0, len(entries), in_one):
                part = b"".join(entries[first : first + in_one])
                size = 11 + len(part)
                yield neighbour, struct.pack(">BBBHHBBH", 0, 224, 3, size - 1, size - 7, 224, 0x18, len(part)) + part

        return Event(15.0, say)

    return 269, [dump(neighbour) for neighbour in range(NEIGHBOURS)]


class Sealed:
    """Neighbours that share a network key with the router: they seal what they say, and answer when it asks who they are. With identities
    they also sign it.
    """

    def __init__(self, key: bytes, protocol: str, has_identities: bool) -> None:
        self.key, self.purpose = key, f"node {protocol}".encode()
        generator = random.Random(2)
        made = (Ed25519PrivateKey.from_private_bytes(generator.randbytes(32)) for _ in range(NEIGHBOURS))
        self.identities = list(made) if has_identities else []
        self.epochs = [generator.randbytes(16) for _ in range(NEIGHBOURS)]
        self.counters = [0] * NEIGHBOURS
        self.ciphers: dict[bytes, ChaCha20Poly1305] = {}
        self.sent: list[deque[tuple[float, int]]] = [deque() for _ in range(NEIGHBOURS)]
        """Of each neighbour, when it sealed which counter in the last two seconds."""

    def cipher(self, epoch: bytes) -> ChaCha20Poly1305:
        """That of an epoch."""
        if epoch not in self.ciphers:
            derived = HKDF(hashes.SHA256(), 32, salt=epoch, info=b"hopcast 1 " + self.purpose).derive(self.key)
            self.ciphers[epoch] = ChaCha20Poly1305(derived)
        return self.ciphers[epoch]

    def message(self, neighbour: int, payload: bytes) -> bytes:
        """The datagram of a message to all."""
        inner = node(neighbour, 0).packed + b"\xff" * 4 + bytes([64]) + payload
        added = (41 if self.identities else 33) - len(inner)
        if added <= 0:
            return self.seal(neighbour, 0x10, inner)
        return self.seal(neighbour, 0x12, inner, bytes(added - 1) + bytes([added]))

    def answer(self, neighbour: int, octets: bytes) -> bytes | None:
        """What a neighbour answers to a datagram of the router, if it asks."""
        header, epoch, number = octets[:25], octets[1:17], octets[17:25]
        asks = octets[0] & ~0x04 == 0x11
        if not asks or not self.cipher(epoch).decrypt(bytes(4) + number, octets[25:], header)[0] & 1:
            return None
        now, sent = time.monotonic(), self.sent[neighbour]
        while sent and sent[0][0] < now - 2:
            sent.popleft()
        floor = sent[0][1] if sent else self.counters[neighbour]
        said = bytes([2]) + epoch + number + floor.to_bytes(8, "big")
        return self.seal(neighbour, 0x11, said + (self.public(neighbour)[:8] if self.identities else b""))

    def public(self, neighbour: int) -> bytes:
        """The public key of a neighbour."""
        return self.identities[neighbour].public_key().public_bytes_raw()

    def seal(self, neighbour: int, kind: int, plain: bytes, padding: bytes = b"") -> bytes:
        """The next datagram of a neighbour."""
        epoch, counter = self.epochs[neighbour], self.counters[neighbour]
        self.counters[neighbour] += 1
        self.sent[neighbour].append((time.monotonic(), counter))
        header = bytes([kind | 0x04 if self.identities else kind]) + epoch + counter.to_bytes(8, "big")
        signature = b""
        if self.identities:
            signed = b"hopcast 1 identity " + self.purpose + b"\x00" + header + plain
            signature = self.identities[neighbour].sign(signed)
        return header + self.cipher(epoch).encrypt(bytes(4) + header[17:], plain + padding + signature, header)


def hardware(neighbour: int) -> bytes:
    """The hardware address of a neighbour."""
    return b"\x02\x00\x00\x01" + struct.pack(">H", neighbour)


def router(program: list[str], protocols: list[str]) -> Iterator[bool]:
    """The rows of the router, and whether each holds: all routes stand, no message is lost before the router, and one core is enough."""
    made = {"olsr": olsr, "aodv": aodv, "dsdv": dsdv, "olsr, forged links": forged}
    made |= {"olsr, key": olsr, "aodv, key": aodv, "dsdv, key": functools.partial(dsdv, OVERHEAD)}
    signed = functools.partial(dsdv, OVERHEAD + SIGNATURE)
    made |= {"olsr, identities": olsr, "aodv, identities": aodv, "dsdv, identities": signed}
    print(
        "| protocol | messages a second | all routes after | routes, least | processor time | memory, MB | lost before the router |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|", flush=True)
    for protocol in protocols or made:
        port, events = made[protocol]()
        with ExitStack() as stack:
            place, device = stack.enter_context(namespace("router")), f"load{os.getpid() % 100_000}"
            run("ip", "link", "add", device, "type", "veth", "peer", "name", "mesh", "netns", place)
            run("ip", "-n", place, "link", "set", "mesh", "address", ROUTER_MAC.hex(":"))
            run("ip", "-n", place, "address", "add", f"{ROUTER}/16", "dev", "mesh")
            run("ip", "-n", place, "link", "set", "mesh", "up")
            run("ip", "link", "set", device, "up")
            on_one_core = f"ip netns exec {place} taskset -c 0".split()
            name = protocol.partition(",")[0]
            options, sealed = f"node -i mesh -p {name} --log warn".split(), None
            if protocol.endswith((", key", ", identities")):
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                key = folder / "key"
                run(*program, "key", key)
                options += ["--key", str(key)]
                has_identities = protocol.endswith("identities")
                port, sealed = SEALED_PORT, Sealed(bytes.fromhex(key.read_text()), name, has_identities)
                if has_identities:
                    own = run(*program, "key", "--identity", folder / "identity").strip()
                    lines = [f"{own} {ROUTER}"]
                    lines += [f"{sealed.public(number).hex()} {node(number, 0)}" for number in range(NEIGHBOURS)]
                    (folder / "members").write_text("\n".join(lines))
                    options += ["--identity", str(folder / "identity"), "--members", str(folder / "members")]
                # Its answers to neighbours go to them alone.
                for neighbour in range(NEIGHBOURS):
                    at = ["to", node(neighbour, 0), "lladdr", hardware(neighbour).hex(":"), "dev", "mesh"]
                    run("ip", "-n", place, "neighbour", "add", *at, "nud", "permanent")
            command = [*on_one_core, *program, *options]
            process = stack.enter_context(started(command, stderr=subprocess.DEVNULL))
            time.sleep(2)
            yield load(protocol, port, events, sealed, process, place, device)


def load(
    protocol: str,
    port: int,
    events: list[Event],
    sealed: Sealed | None,
    process: subprocess.Popen[bytes],
    place: str,
    device: str,
) -> bool:
    """Lets neighbours speak, measures, and prints the row."""
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    # With a key, what the router says is read as well.
    link.bind((device, 0x0800 if sealed else 0))
    generator = random.Random(1)
    begin = time.monotonic()
    queue = [(begin + event.period_s * generator.random(), index, 0) for index, event in enumerate(events)]
    heapq.heapify(queue)
    sent, whole, least = 0, None, None
    look_at, measured_from, end = begin, None, begin + WARM_UP_S + MEASURED_S
    before, lost_before, sent_before = 0.0, 0, 0
    while (now := time.monotonic()) < end:
        if now >= look_at:
            look_at = now + 0.5
            routes = sum(
                line.startswith("10.0.") and "/" not in line.split()[0]
                for line in run("ip", "-n", place, "-4", "route", "show", "table", 654).splitlines()
            )
            if whole is None and routes >= NEIGHBOURS * BRANCH:
                whole = now - begin
            if measured_from is None and now >= begin + WARM_UP_S:
                measured_from, before, lost_before, sent_before = now, processor_time(process), lost(place, port), sent
            if measured_from is not None:
                least = routes if least is None else min(least, routes)
        if sealed:
            answer(link, sealed)
        due, index, nth = queue[0]
        if due > now:
            select.select([link] if sealed else [], [], [], max(min(due, look_at, end) - now, 0.0))
            continue
        for neighbour, message in events[index].say(nth):
            payload = sealed.message(neighbour, message) if sealed else message
            send(link, neighbour, (b"\xff" * 6, IPv4Address("255.255.255.255")), port, payload)
            sent += 1
        heapq.heapreplace(queue, (due + events[index].period_s * generator.uniform(0.95, 1.0), index, nth + 1))
    link.close()
    assert measured_from is not None
    assert least is not None
    seconds = time.monotonic() - measured_from
    share, gone = (processor_time(process) - before) / seconds, lost(place, port) - lost_before
    told = "–" if whole is None else f"{whole:.1f} s"
    print(
        f"| {protocol} | {(sent - sent_before) / seconds:.0f} | {told} | {least} | {100 * share:.1f} % of a core "
        f"| {memory(process, 'VmHWM'):.1f} | {gone} |",
        flush=True,
    )
    return least >= NEIGHBOURS * BRANCH and gone == 0 and share < 1


def send(link: socket.socket, neighbour: int, to: tuple[bytes, IPv4Address], port: int, payload: bytes) -> None:
    """A neighbour sends a datagram to this hardware address and address."""
    there, address = to
    frame = datagram(hardware(neighbour), there, node(neighbour, 0), address, (port, port), 64, payload)
    link.send(frame)


def answer(link: socket.socket, sealed: Sealed) -> None:
    """Neighbours answer what the router has asked them."""
    with suppress(BlockingIOError):
        while True:
            frame = link.recv(2048, socket.MSG_DONTWAIT)
            neighbour = struct.unpack(">H", frame[4:6])[0]
            if frame[:4] != hardware(0)[:4] or neighbour >= NEIGHBOURS or frame[23] != socket.IPPROTO_UDP:
                continue
            if payload := sealed.answer(neighbour, frame[42:]):
                send(link, neighbour, (ROUTER_MAC, ROUTER), SEALED_PORT, payload)


def lost(place: str, port: int) -> int:
    """Datagrams that sockets at a port had no room for (proc(5), `/proc/net/udp`)."""
    lines = run("ip", "netns", "exec", place, "cat", "/proc/net/udp").splitlines()[1:]
    return sum(int(line.split()[-1]) for line in lines if line.split()[1].endswith(f":{port:04X}"))


# --- the stream ----------------------------------------------------------------------------------------------------

RECEIVER_PORT = 6511
CASES = {
    "silence": (False, False),
    "silence --key": (True, False),
    "garbage": (False, True),
    "requests": (False, True),
    "garbage --key": (True, True),
    "handshakes --key": (True, True),
}
"""Floods by name: whether the stream has a key, and whether there is a flood."""


def stream(program: list[str], cases: list[str]) -> Iterator[bool]:
    """The rows of the receiver, and whether each holds: the flood is what it is to be, and the stream keeps its rate."""
    print(
        "| flood | datagrams a second | refused by the receiver | lost before it | rate, Mb/s | kept | processor time |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = Path(name)
        (folder / "film.ts").write_bytes(pictures(FILM_RATE, FILM_S))
        keys = [folder / "key", folder / "other"]
        for key in keys:
            run(*program, "key", key)
        base: dict[bool, float] = {}
        for case in cases or CASES:
            has_key, is_flooded = CASES[case]
            measured = receive(program, folder, case, keys if has_key else None, is_flooded)
            if not is_flooded:
                base[has_key] = measured.rate
            kept = measured.rate / base.get(has_key, FILM_RATE)
            print(
                f"| {case} | {measured.flood:.0f} | {measured.refused} | {measured.lost} | {measured.rate / 1e6:.2f} "
                f"| {100 * kept:.1f} % | {100 * measured.share:.1f} % of a core |",
                flush=True,
            )
            yield kept >= KEPT and (not is_flooded or measured.flood >= 0.95 * FLOOD_RATE)


@dataclass
class Measured:
    """What was measured during a flood."""

    flood: float
    """Datagrams of strangers in a second."""
    refused: int
    """Of them, those that the receiver looked at and refused."""
    lost: int
    """Datagrams for which its socket had no room."""
    rate: float
    """At which media arrived, in bit/s."""
    share: float
    """Processor time of the receiver in a second."""


def pictures(rate: int, seconds: int) -> bytes:
    """A transport stream of this rate with a clock reference each 0.1 s (ISO/IEC 13818-1), each of whose packets is another one."""
    each, packets = rate // 8 // 188 // 10, []
    for number in range(seconds * 10 * each + 1):
        packet = bytearray(188)
        packet[:6] = bytes([0x47, 1, 0, 0x30, 7, 0])
        if number % each == 0:
            ticks = number // each * 2_700_000
            packet[5] = 0x10
            packet[6:12] = struct.pack(">Q", ticks // 300 << 15 | 0x3F << 9 | ticks % 300)[2:]
        packet[12:16] = struct.pack(">I", number)
        packets.append(bytes(packet))
    return b"".join(packets)


def receive(program: list[str], folder: Path, case: str, keys: list[Path] | None, is_flooded: bool) -> Measured:
    """Streams for the time of the film, and measures during the flood."""
    with ExitStack() as stack:
        near, far, strange = (stack.enter_context(namespace(name)) for name in ("sender", "receiver", "stranger"))
        wire(near, "wire", far, "left", ("10.88.0.1/16", "10.88.0.2/16"))
        wire(strange, "wire", far, "right", ("10.89.0.1/16", "10.89.0.2/16"))
        frames = flood_of(case, program, folder, hardware_of(far, "right"), keys)
        key = ["--key", str(keys[0])] if keys else []
        output, lines, film = (folder / name for name in ("output.ts", "lines", "film.ts"))
        output.unlink(missing_ok=True)

        def begin(place: str, out: object, *arguments: object) -> subprocess.Popen[bytes]:
            command = ["ip", "netns", "exec", place, *program, "stream", *map(str, arguments), *key]
            return stack.enter_context(started(command, stdout=out, stderr=subprocess.DEVNULL))

        receiver = begin(far, stack.enter_context(lines.open("wb")), "receive", "--output", output, "--json")
        time.sleep(1)
        begin(near, subprocess.DEVNULL, "send", "--to", "10.88.0.2", "--input", film)
        time.sleep(FLOOD_FROM_S)
        before = (output.stat().st_size, processor_time(receiver), lost(far, RECEIVER_PORT), refused(lines))
        start = time.monotonic()
        sent = flood(strange, frames if is_flooded else [])
        seconds = time.monotonic() - start
        size, used, gone = output.stat().st_size, processor_time(receiver), lost(far, RECEIVER_PORT)
        # It says so once a second.
        time.sleep(2)
        return Measured(
            flood=sent / seconds,
            refused=refused(lines) - before[3],
            lost=gone - before[2],
            rate=8 * (size - before[0]) / seconds,
            share=(used - before[1]) / seconds,
        )


def refused(lines: Path) -> int:
    """What a receiver has refused, by the last of its whole lines that says so."""
    numbers = (json.loads(line).get("rejected") for line in lines.read_text().split("\n")[:-1])
    return max((number for number in numbers if number is not None), default=0)


def flood_of(case: str, program: list[str], folder: Path, to: bytes, keys: list[Path] | None) -> list[bytes]:
    """Frames with what strangers send: bytes without a meaning, or the first datagram of a sender, which has another key."""
    generator = random.Random(1)
    first = None if case.startswith("garbage") else said(program, folder, keys)
    frames = []
    for _ in range(8192):
        payload = first or generator.randbytes(100)
        if first and keys:
            # Each from another sender, whose epoch stands behind the first byte.
            payload = first[:1] + generator.randbytes(16) + first[17:]
        source = IPv4Address(int(IPv4Address("10.89.0.0")) + generator.randrange(256, 65_000))
        ports = (generator.randrange(1024, 65_536), RECEIVER_PORT)
        frames.append(datagram(b"\x02\x00\x00\x00\x00\x02", to, source, IPv4Address("10.89.0.2"), ports, 64, payload))
    return frames


def said(program: list[str], folder: Path, keys: list[Path] | None) -> bytes:
    """The first datagram of a sender."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(20)
        options = ["--key", str(keys[1])] if keys else []
        to = f"127.0.0.1:{listener.getsockname()[1]}"
        command = [*program, "stream", "send", "--to", to, "--input", str(folder / "film.ts"), *options]
        with started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            return listener.recv(2048)


class Message(ctypes.Structure):
    """`struct mmsghdr` of sendmmsg(2), with the parts of `struct msghdr`."""

    _fields_ = (
        ("name", ctypes.c_void_p),
        ("name_length", ctypes.c_uint32),
        ("parts", ctypes.c_void_p),
        ("part_count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_int),
        ("length", ctypes.c_uint),
    )


class Part(ctypes.Structure):
    """`struct iovec`."""

    _fields_ = (("base", ctypes.c_char_p), ("length", ctypes.c_size_t))


@contextmanager
def entered(place: str) -> Iterator[None]:
    """This thread in a namespace: sockets that it makes stay there."""
    libc = ctypes.CDLL(None, use_errno=True)
    # Of this thread, whichever it is.
    with open("/proc/thread-self/ns/net") as here, open(f"/run/netns/{place}") as there:
        assert libc.setns(there.fileno(), 0) == 0
        try:
            yield
        finally:
            assert libc.setns(here.fileno(), 0) == 0


def flood(place: str, frames: list[bytes], rate: float = FLOOD_RATE, seconds: float = FLOOD_S) -> int:
    """Sends frames in a namespace for a while at this rate in a second, again and again; how many. Without frames it only waits."""
    if not frames:
        time.sleep(seconds)
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    parts = (Part * len(frames))(*(Part(frame, len(frame)) for frame in frames))
    messages = (Message * len(frames))()
    for index, message in enumerate(messages):
        message.parts, message.part_count = ctypes.addressof(parts) + index * ctypes.sizeof(Part), 1
    with entered(place):
        link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        link.bind(("wire", 0))
    begin, sent = time.monotonic(), 0
    while (passed := time.monotonic() - begin) < seconds:
        at = sent % len(frames)
        count = min(int(passed * rate) - sent, len(frames) - at, 1024)
        if count <= 0:
            time.sleep(0.0005)
            continue
        done = libc.sendmmsg(link.fileno(), ctypes.byref(messages, at * ctypes.sizeof(Message)), count, 0)
        sent += max(done, 0)
    link.close()
    return sent


# --- the cloud -----------------------------------------------------------------------------------------------------


def cloud(program: list[str], cases: list[str]) -> Iterator[bool]:
    """The rows of devices that a film passes, and whether each holds: it is shown without a stall."""
    print(
        "| sealed with | packets a second | source | relay | display | stalls |\n|---|---:|---:|---:|---:|---:|",
        flush=True,
    )
    for case in cases or CLOUD_CASES:
        has_identities, others = CLOUD_CASES[case]
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm")))
            (folder / "film.ts").write_bytes(pictures(CLOUD_RATE, CLOUD_S))
            run(*program, "key", folder / "key")
            places = [stack.enter_context(namespace(name)) for name in ("source", "relay", "display")]
            for nth, (left, right) in enumerate(itertools.pairwise(places), 1):
                wire(left, "on", right, "back", (f"10.0.0.{nth}/32", f"10.0.0.{nth + 1}/32"))
            options = ["--key", folder / "key", "--admission", "airtime", "--link-rate", "200 Mb/s", "--log", "warn"]
            names = [folder / f"identity{nth}" for nth in range(len(places))]
            if has_identities:
                publics = [run(*program, "key", "--identity", name).strip() for name in names]
                lines = [f"{public} 10.0.0.{nth}" for nth, public in enumerate(publics, 1)]
                (folder / "members").write_text("\n".join(lines))
                options += ["--members", folder / "members"]
            devices = []
            for nth, place in enumerate(places):
                own = ["--identity", names[nth]] if has_identities else []
                own += ["--offer", folder / "film.ts"] if nth == 0 else []
                links = [["-i", "on"], ["-i", "back", "-i", "on"], ["-i", "back"]][nth]
                command = ["ip", "netns", "exec", place, *program, "cloud", "serve", *links, *map(str, options + own)]
                devices.append(stack.enter_context(started(command, stderr=subprocess.DEVNULL)))
            for _ in range(others * (os.cpu_count() or 1)):
                stack.enter_context(started([sys.executable, "-c", "while True: pass"]))
            yield passed(program, case, places, devices)


def passed(program: list[str], case: str, places: list[str], devices: list[subprocess.Popen[bytes]]) -> bool:
    """Plays the film, measures, and prints the row."""

    def status(nth: int) -> dict[str, Any]:
        command = ["ip", "netns", "exec", places[nth], *program, "cloud", "status", "--json"]
        done = subprocess.run(command, capture_output=True, check=False)
        return dict(json.loads(done.stdout)) if done.returncode == 0 else {}

    def count() -> int:
        return int(status(1)["counters"]["media_packets"])

    while not status(2).get("clips"):
        time.sleep(0.5)
    command = ["ip", "netns", "exec", places[2], *program, "cloud", "play", "film.ts"]
    with started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as player:
        while not status(1)["bookings"]:
            time.sleep(0.1)
        time.sleep(CLOUD_FROM_S)
        begin, before, packets = time.monotonic(), [processor_time(device) for device in devices], count()
        time.sleep(CLOUD_MEASURED_S)
        seconds, packets = time.monotonic() - begin, count() - packets
        shares = [(processor_time(device) - used) / seconds for device, used in zip(devices, before, strict=True)]
        player.wait(3 * CLOUD_S)
    play = status(2)["plays"][-1]
    told = " | ".join(f"{100 * share:.1f} %" for share in shares)
    print(f"| {case} | {packets / seconds:.0f} | {told} | {play['stalls']} |", flush=True)
    return (play["outcome"], play["stalls"]) == ("completed", 0)


if __name__ == "__main__":
    main()
