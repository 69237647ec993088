"""What strangers cost: attacks on a router, a stream and a probe, and what is left for others meanwhile.

`python benches/attacks.py [ATTACK…]`, as root. `--program` names the program; the default is the module's command. It prints the rows of a table in
docs/security.md, and ends with status 1 where a line is crossed: at most a byte out for each byte in, half a core, 4 MB of memory, and others
are served.

Each attack runs against hosts in network namespaces, and so do those that are to be served. All is measured twice, without the attack and with
it. Programs seal and speak as their pages say; what a stranger has recorded is made by the rules of docs/key-protocol.md.
"""

from __future__ import annotations

import argparse
import json
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from load import (
    FILM_RATE,
    RECEIVER_PORT,
    SEALED_PORT,
    Sealed,
    datagram,
    entered,
    flood,
    hardware_of,
    memory,
    namespace,
    pictures,
    processor_time,
    run,
    said,
    started,
    wire,
)

ATTACK_S = 12.0
MOST_BYTES, MOST_SHARE, MOST_MEMORY = 1.0, 0.5, 4.0
"""Bytes out for each byte in, of a core, and in MB."""
PROBE_PORT = 47300
STRANGER = bytes.fromhex("020000000099")


def main() -> None:
    """Measure, and print the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help=f"(default: all) {', '.join(ATTACKS)}")
    parser.add_argument("--program", nargs="+", default=[sys.executable, "-m", "hopcast"])
    options = parser.parse_args()
    if unknown := set(options.attacks) - set(ATTACKS):
        parser.error(f"unknown attack {unknown.pop()}; one of these is expected: {', '.join(ATTACKS)}")
    print(
        "| attack | bytes a second | bytes out for a byte in | processor time | memory, MB more | service without | during |\n"
        "|---|---:|---:|---:|---:|---|---|",
        flush=True,
    )
    held = [row(name, options.program) for name in options.attacks or ATTACKS]
    if not all(held):
        sys.exit("a line was crossed")


@dataclass
class Cost:
    """What was measured in one run."""

    sent: int
    """Bytes of the attack, with headers of Ethernet or TCP."""
    out: int
    """Bytes that the host sent meanwhile."""
    seconds: float
    used: float
    """Processor time of the host's program in seconds."""
    grown: float
    """Memory that it had more at the end, in MB."""
    service: str
    """What others got."""
    is_served: bool


def row(name: str, program: list[str]) -> bool:
    """Measures without the attack and with it, prints the row, and returns whether all lines hold."""
    calm, hit = (ATTACKS[name](program, attacks) for attacks in (False, True))
    ratio = max(hit.out / hit.seconds - calm.out / calm.seconds, 0.0) / (hit.sent / hit.seconds)
    shares = [cost.used / cost.seconds for cost in (calm, hit)]
    grown = hit.grown - calm.grown
    print(
        f"| {name} | {hit.sent / hit.seconds:.0f} | {ratio:.2f} | {100 * shares[1]:.1f} % of a core, {100 * shares[0]:.1f} % without "
        f"| {grown:.1f} | {calm.service} | {hit.service} |",
        flush=True,
    )
    return hit.is_served and ratio <= MOST_BYTES and shares[1] <= MOST_SHARE and grown <= MOST_MEMORY


@contextmanager
def measured(place: str, devices: list[str], process: subprocess.Popen[bytes], cost: Cost) -> Iterator[None]:
    """Fills `cost` with what the program and the devices of its host did meanwhile."""
    out, used, held, begin = (
        sent_by(place, devices),
        processor_time(process),
        memory(process, "VmRSS"),
        time.monotonic(),
    )
    yield
    cost.seconds = time.monotonic() - begin
    cost.out = sent_by(place, devices) - out
    cost.used = processor_time(process) - used
    cost.grown = memory(process, "VmRSS") - held


def nothing() -> Cost:
    """A cost to be filled."""
    return Cost(0, 0, 0.0, 0.0, 0.0, "", False)


def sent_by(place: str, devices: list[str]) -> int:
    """Bytes that these devices have sent."""
    links = json.loads(run("ip", "-n", place, "-s", "-j", "link"))
    return sum(link["stats64"]["tx"]["bytes"] for link in links if link["ifname"] in devices)


@contextmanager
def besides(work: Callable[[], int], cost: Cost) -> Iterator[None]:
    """Does this in a thread meanwhile, and adds the bytes that it has sent to `cost`."""
    done: list[int] = []
    thread = threading.Thread(target=lambda: done.append(work()))
    thread.start()
    try:
        yield
    finally:
        thread.join()
    cost.sent += sum(done)


# --- the router, with a key ----------------------------------------------------------------------------------------


@contextmanager
def router(program: list[str], place: str, links: list[str], key: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A router of AODV with a network key."""
    options = ["--network", "10.0.0.0/24", "--log", "error", "--key", str(key)]
    command = ["ip", "netns", "exec", place, *program, "node", *links, *options]
    with started(command, stderr=subprocess.DEVNULL) as process:
        yield process


@contextmanager
def routers(
    program: list[str], places: dict[str, list[str]], key: Path
) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Such routers, on these devices of these hosts."""
    with ExitStack() as stack:
        running = {}
        for place, devices in places.items():
            links = [word for device in devices for word in ("-i", device)]
            running[place] = stack.enter_context(router(program, place, links, key))
        time.sleep(3)
        yield running


def pings(place: str, to: str, count: int) -> tuple[int, float | None]:
    """How many of these pings, five a second, are answered, and after how many seconds the first one is."""
    command = ["ip", "netns", "exec", place, "ping", "-D", "-c", str(count), "-i", "0.2", "-W", "1", to]
    begin = time.time()
    text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    answers = [float(at) for at in re.findall(r"^\[([\d.]+)\] \d+ bytes from", text, re.MULTILINE)]
    return len(answers), answers[0] - begin if answers else None


def searches(program: list[str], attacks: bool) -> Cost:
    """A stranger sends 300 packets a second, from addresses that are not there to others, through a router that has a key. An owner of the
    router needs a route over two hops.
    """
    cost = nothing()
    with ExitStack() as stack:
        stranger, near, middle, far = (
            stack.enter_context(namespace(name)) for name in ("stranger", "near", "middle", "far")
        )
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        run(*program, "key", folder / "key")
        wire(stranger, "wire", near, "left", ("", "10.0.0.2/32"))
        wire(near, "right", middle, "left", ("10.0.0.2/32", "10.0.0.3/32"))
        wire(middle, "right", far, "left", ("10.0.0.3/32", "10.0.0.4/32"))
        places = {near: ["left", "right"], middle: ["left", "right"], far: ["left"]}
        running = stack.enter_context(routers(program, places, folder / "key"))
        to = hardware_of(near, "left")
        frames = [
            datagram(
                STRANGER, to, IPv4Address(f"10.0.0.{source}"), IPv4Address(f"10.0.0.{there}"), (9, 9), 64, bytes(20)
            )
            for there in range(200, 250)
            for source in range(100, 150)
        ]

        def attack() -> int:
            return flood(stranger, frames if attacks else [], 300.0, ATTACK_S) * len(frames[0])

        with measured(near, ["left", "right"], running[near], cost), besides(attack, cost):
            time.sleep(4)
            answered, first = pings(near, "10.0.0.4", 25)
        cost.service = f"{answered} of 25 pings" + ("" if first is None else f", the first after {first:.1f} s")
        cost.is_served = answered >= 20
    return cost


def meeting(program: list[str], attacks: bool, kind: int) -> Cost:
    """A stranger replays datagrams of 64 earlier lives of nodes, 3000 a second, to a router that has a key: data, or questions. A new node
    comes meanwhile, and an owner of the router reaches it.
    """
    cost = nothing()
    with ExitStack() as stack:
        air, near, new = (stack.enter_context(namespace(name)) for name in ("air", "near", "new"))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        run(*program, "key", folder / "key")
        run("ip", "-n", air, "link", "add", "air", "type", "bridge")
        run("ip", "-n", air, "link", "set", "air", "up")
        run("ip", "-n", air, "link", "add", "wire", "type", "veth", "peer", "name", "stranger")
        run("ip", "-n", air, "link", "set", "wire", "up")
        run("ip", "-n", air, "link", "set", "stranger", "up", "master", "air")
        for place, name, host in ((near, "near", 2), (new, "new", 3)):
            wire(place, "radio", air, name, (f"10.0.0.{host}/32", ""))
            run("ip", "-n", air, "link", "set", name, "master", "air")
        running = stack.enter_context(routers(program, {near: ["radio"]}, folder / "key"))
        sealed = Sealed(bytes.fromhex((folder / "key").read_text().split()[0]), "aodv", has_identities=False)
        to, frames = hardware_of(near, "radio"), []
        for life in range(64):
            source = IPv4Address(f"10.0.0.{100 + life}")
            # A search as AODV has it, or that a host asks who the other one is.
            search = struct.pack(
                ">BBBBI4sI4sI", 1, 0x18, 0, 0, 1, IPv4Address("10.0.0.250").packed, 0, source.packed, 1
            )
            octets = (
                sealed.seal(life, 0x10, source.packed + b"\xff" * 4 + bytes([64]) + search)
                if kind == 0x10
                else sealed.seal(life, 0x11, bytes([1]) + bytes(32))
            )
            frames.append(
                datagram(STRANGER, to, source, IPv4Address("10.0.0.2"), (SEALED_PORT, SEALED_PORT), 64, octets)
            )

        def attack() -> int:
            return flood(air, frames if attacks else [], 3000.0, ATTACK_S) * len(frames[0])

        with measured(near, ["radio"], running[near], cost), besides(attack, cost):
            time.sleep(2)
            stack.enter_context(router(program, new, ["-i", "radio"], folder / "key"))
            answered, first = pings(near, "10.0.0.3", 40)
        cost.service = "no answer" if first is None else f"the first answer after {first:.1f} s, {answered} of 40 pings"
        cost.is_served = first is not None and first <= 3.0
    return cost


def recordings(program: list[str], attacks: bool) -> Cost:
    """Recorded data."""
    return meeting(program, attacks, 0x10)


def questions(program: list[str], attacks: bool) -> Cost:
    """Recorded questions, each of which may be answered."""
    return meeting(program, attacks, 0x11)


# --- the stream, without a key -------------------------------------------------------------------------------------

DELAY_S = 0.025
"""One way between sender and receiver."""
STREAM_S = 20


def delayed(here: str, to: tuple[str, int], over: threading.Event) -> int:
    """Passes datagrams on to an address and back, each after the delay; returns the port at which it takes them."""
    with entered(here):
        inside, outside = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    inside.bind(("127.0.0.1", 0))
    outside.connect(to)

    def work() -> None:
        waiting: list[tuple[float, socket.socket, bytes]] = []
        sender: Any = None
        while not over.is_set():
            now = time.monotonic()
            while waiting and waiting[0][0] <= now:
                _, way, octets = waiting.pop(0)
                with suppress(OSError):
                    _ = outside.send(octets) if way is outside else inside.sendto(octets, sender)
            left = waiting[0][0] - now if waiting else 0.1
            for ready in select.select([inside, outside], [], [], left)[0]:
                with suppress(OSError):
                    octets, came_from = ready.recvfrom(65_536)
                    sender = came_from if ready is inside else sender
                    waiting.append((time.monotonic() + DELAY_S, outside if ready is inside else inside, octets))

    threading.Thread(target=work, daemon=True).start()
    return int(inside.getsockname()[1])


def requests(program: list[str], attacks: bool) -> Cost:
    """A stranger sends 1000 requests a second from addresses that are not there to a receiver without a key. A sender connects, whose round
    trip takes 50 ms.
    """
    cost = nothing()
    with ExitStack() as stack:
        stranger, near, far = (stack.enter_context(namespace(name)) for name in ("stranger", "near", "far"))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm")))
        film, output = folder / "film.ts", folder / "output.ts"
        rate = FILM_RATE // 8
        film.write_bytes(pictures(rate, STREAM_S))
        wire(near, "wire", far, "left", ("10.88.0.1/16", "10.88.0.2/16"))
        wire(stranger, "wire", far, "right", ("10.89.0.1/16", "10.89.0.2/16"))
        first, to = said(program, folder, None), hardware_of(far, "right")
        frames = [
            datagram(
                STRANGER,
                to,
                IPv4Address("10.89.1.0") + number,
                IPv4Address("10.89.0.2"),
                (5000 + number, RECEIVER_PORT),
                64,
                first,
            )
            for number in range(4096)
        ]
        command = ["ip", "netns", "exec", far, *program, "stream", "receive", "--output", str(output)]
        receiver = stack.enter_context(started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        over = threading.Event()
        stack.callback(over.set)
        port = delayed(near, ("10.88.0.2", RECEIVER_PORT), over)
        time.sleep(1)

        def attack() -> int:
            return flood(stranger, frames if attacks else [], 1000.0, ATTACK_S) * len(frames[0])

        # What goes to the sender is no answer to the stranger.
        with measured(far, ["right"], receiver, cost), besides(attack, cost):
            time.sleep(1)
            to_proxy = ["--to", f"127.0.0.1:{port}", "--input", str(film)]
            sender = ["ip", "netns", "exec", near, *program, "stream", "send", *to_proxy]
            stack.enter_context(started(sender, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        came = 8 * output.stat().st_size / rate if output.exists() else 0.0
        cost.service = f"{came:.1f} s of a film in {ATTACK_S - 1:.0f} s"
        # It takes a second to begin.
        cost.is_served = came >= 0.95 * (ATTACK_S - 2)
    return cost


# --- the probe -----------------------------------------------------------------------------------------------------


class Talk:
    """A stranger's control connection, in its namespace."""

    def __init__(self, place: str, to: str) -> None:
        with entered(place):
            self.socket = socket.socket()
        self.socket.settimeout(6)
        self.socket.connect((to, PROBE_PORT))
        self.lines = self.socket.makefile("rb")
        self.sent = 0

    def say(self, message: Any) -> Any:
        """Says something; what is answered, if anything is."""
        octets = json.dumps(message).encode() + b"\n"
        self.sent += len(octets)
        self.socket.sendall(octets)
        line = self.lines.readline()
        return json.loads(line) if line else None


def probed(program: list[str], attacks: bool, attack: Callable[[str], int], tries: int) -> Cost:
    """A relay of the probe with a stranger on one side and an honest host on the other one, which measures a flow a few times meanwhile."""
    cost = nothing()
    with ExitStack() as stack:
        stranger, near, relay = (stack.enter_context(namespace(name)) for name in ("stranger", "near", "relay"))
        wire(near, "wire", relay, "left", ("10.88.0.1/16", "10.88.0.2/16"))
        wire(stranger, "wire", relay, "right", ("10.89.0.1/16", "10.89.0.2/16"))
        command = ["ip", "netns", "exec", relay, *program, "probe", "relay"]
        process = stack.enter_context(started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        time.sleep(1)
        options = ["--to", "10.88.0.2", "--bytes", "50kB", "--json"]
        flow = ["ip", "netns", "exec", near, *program, "probe", "send", *options]
        done, begin = 0, time.monotonic()
        with (
            measured(relay, ["right", "lo"], process, cost),
            besides((lambda: attack(stranger)) if attacks else lambda: 0, cost),
        ):
            time.sleep(2)
            for _ in range(tries):
                with suppress(subprocess.TimeoutExpired):
                    done += subprocess.run(flow, capture_output=True, check=False, timeout=6).returncode == 0
            time.sleep(max(ATTACK_S - (time.monotonic() - begin), 0.0))
        cost.service = f"{done} of {tries} flows"
        cost.is_served = done == tries
    return cost


def opening(session: int, size: int, path: list[str]) -> dict[str, Any]:
    """What opens a flow over UDP in units of this size along the rest of a path."""
    flow = {"version": 1, "session": session, "protocol": "udp", "size": size, "bytes": 32 * 10**9}
    return {"open": flow | {"socket_buffer": None, "path": path}}


def path(program: list[str], attacks: bool) -> Cost:
    """A stranger asks for a path that leads over the relay sixteen times, and sends 200 datagrams a second."""

    def attack(place: str) -> int:
        talk = Talk(place, "10.89.0.2")
        answer = talk.say(opening(7, 1400, [f"10.89.0.2:{PROBE_PORT}"] * 16))
        port = (answer or {}).get("opened", {}).get("port", 9)
        with entered(place):
            link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        link.connect(("10.89.0.2", port))
        unit = b"HP\x01\x00" + struct.pack(">IQQ", 1400, 7, 0) + bytes(1376)
        for number in range(int(200 * ATTACK_S)):
            with suppress(OSError):
                link.send(unit[:16] + struct.pack(">Q", number) + unit[24:])
            time.sleep(1 / 200)
        return talk.sent + int(200 * ATTACK_S) * (42 + len(unit))

    return probed(program, attacks, attack, 3)


def places(program: list[str], attacks: bool) -> Cost:
    """A stranger has 64 connections on which it says nothing, and opens them again when they are closed."""

    def attack(place: str) -> int:
        end, opened, held = time.monotonic() + ATTACK_S, 0, []
        while time.monotonic() < end:
            while len(held) < 64:
                with suppress(OSError):
                    held.append(Talk(place, "10.89.0.2"))
                opened += 1
            ready = select.select([talk.socket for talk in held], [], [], 0.05)[0]
            held = [talk for talk in held if talk.socket not in ready]
        # Three segments without data open a connection, and two close it.
        return opened * 5 * 66

    return probed(program, attacks, attack, 5)


def count(program: list[str], attacks: bool) -> Cost:
    """A stranger opens a flow each second, and sends one unit, the last of 10⁹."""

    def attack(place: str) -> int:
        sent = 0
        for session in range(int(ATTACK_S)):
            with suppress(OSError):
                talk = Talk(place, "10.89.0.2")
                port = talk.say(opening(session, 32, []))["opened"]["port"]
                talk.say({"start": {"at": 0, "offset": 0}})
                with entered(place):
                    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                link.sendto(b"HP\x01\x00" + struct.pack(">IQQQ", 32, session, 10**9 - 1, 0), ("10.89.0.2", port))
                sent += talk.sent + 74 + 10 * 66
            time.sleep(1)
        return sent

    return probed(program, attacks, attack, 3)


ATTACKS = {
    "searches": searches,
    "recordings": recordings,
    "questions": questions,
    "requests": requests,
    "path": path,
    "places": places,
    "count": count,
}
"""By name; each measures what it costs, or the same without it."""

if __name__ == "__main__":
    main()
