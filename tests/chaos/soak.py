"""Soak: router, stream and emulation under load with churn, at once. Memory, descriptors and logs must not grow.

`python tests/chaos/soak.py [--seconds N] [--seed N] [--page FILE]`, or `make soak`, as root. Churn is drawn from the seed. It ends with
status 1 if something grows that must not.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import hopcast
from case import MOUNTS, NETWORK, Broken, Trial, missing
from live import Routers, goes_on, make_key
from world import Net, Place, address, film, memory, told
from world import hopcast as command

WARM_UP = 0.4
"""Share of the time after which memory counts: until then caches and tables fill."""
GROWTH = 2 << 20
"""Bytes by which the resident memory of a process may grow after that, up to the highest that is seen."""
SPARE = 4
"""Descriptors that a process may have above the most during the warm-up: of a connection or device that is being opened."""
LOG = 1024
"""Bytes of log for each disturbance; a process that is not disturbed may write as much as for ten."""
TICK_S = 0.25


@dataclass
class Watched:
    """A process that is measured."""

    name: str
    process: subprocess.Popen[str]
    log: Path
    disturbances: int = 0
    samples: list[tuple[int, int]] = field(default_factory=list)
    """Resident memory in bytes, and descriptors."""

    def sample(self) -> None:
        """Measures it now."""
        goes_on(self.process, self.log)
        self.samples.append((memory(self.process), len(os.listdir(f"/proc/{self.process.pid}/fd"))))

    def row(self) -> str:
        """Its row of the table."""
        begin = self._begin()
        (rss, _), (last, _) = self.samples[begin], self.samples[-1]
        fds = [count for _, count in self.samples]
        log = self.log.stat().st_size
        return (
            f"| {self.name} | {self.disturbances} | {rss / 2**20:.2f} | {self.grown() / 2**20:+.2f} | {(last - rss) / 2**20:+.2f} "
            f"| {max(fds[: begin + 1])} | {max(fds[begin:])} | {fds[-1]} | {log / 1000:.1f} |"
        )

    def grown(self) -> int:
        """Bytes by which its memory has grown after the warm-up, at most."""
        begin = self._begin()
        return max(rss for rss, _ in self.samples[begin:]) - self.samples[begin][0]

    def complaints(self) -> Iterator[str]:
        """What has grown that must not."""
        begin = self._begin()
        if self.grown() > GROWTH:
            yield f"{self.name}: memory has grown by {self.grown()} bytes"
        fds = [count for _, count in self.samples]
        # An interface that is down has none, so those at one instant say little.
        before, later = max(fds[: begin + 1]), fds[begin:]
        if max(later) > before + SPARE or fds[-1] > before + SPARE // 2:
            yield f"{self.name}: descriptors were {before} at most, then {max(later)}, at the end {fds[-1]}"
        if (log := self.log.stat().st_size) > LOG * (10 + self.disturbances):
            yield f"{self.name}: {log} bytes of log after {self.disturbances} disturbances"

    def _begin(self) -> int:
        return int(len(self.samples) * WARM_UP)


class Soak:
    """What runs, and what is measured of it."""

    def __init__(self, seed: int, folder: Path, pace_s: float, exchanges: int) -> None:
        self.pace_s = pace_s
        """Mean time between two disturbances of each command."""
        self.exchanges = exchanges
        """Datagrams, and segments, to each connection through the emulation."""
        self.watched: list[Watched] = []
        self.events = 0
        self.trial = Trial(folder, random.Random(seed))
        self.key = make_key(self.trial)
        self._stack = ExitStack()

    def __enter__(self) -> Soak:
        with ExitStack() as stack:
            self._stack = stack
            self._kinds = [self._routers(), self._streams(), self._emulation()]
            for kind in self._kinds:
                next(kind)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, seconds: float) -> None:
        """Disturbs and measures."""
        draws = self.trial.draws
        begin = time.monotonic()
        due = [begin + draws.uniform(0.0, self.pace_s) for _ in self._kinds]
        while time.monotonic() < begin + seconds:
            time.sleep(TICK_S)
            for place in range(len(due)):
                if time.monotonic() >= due[place]:
                    self.disturb(place)
                    due[place] = time.monotonic() + draws.uniform(0.5, 1.5) * self.pace_s
            for one in self.watched:
                one.sample()
        self.settle()

    def disturb(self, place: int) -> None:
        """Does what comes next to routers, streams or the emulation."""
        next(self._kinds[place])
        self.events += 1

    def settle(self) -> None:
        """Starts what was killed, since all has to go on at the end."""
        for kind in self._kinds:
            kind.close()

    def complaints(self) -> list[str]:
        """What has grown that must not."""
        return [text for one in self.watched for text in one.complaints()]

    def _watch(self, name: str, process: subprocess.Popen[str], log: Path) -> Watched:
        self.watched.append(Watched(name, process, log))
        return self.watched[-1]

    def _routers(self) -> Generator[None, None, None]:
        """A ring of six with a key, packets across it both ways, 50 a second each."""
        routers = self._stack.enter_context(Routers(self.trial, 6, "--key", self.key, is_ring=True))
        packets = self._stack.enter_context(routers.traffic(0, 3))
        back = self._stack.enter_context(routers.traffic(1, 4))
        watched = [self._watch(f"`node` {node}", routers.processes[node], routers.log(node)) for node in (0, 1, 3)]
        draws = self.trial.draws
        killed = None
        try:
            for number in itertools.count():
                yield
                # Those that are measured stay; their neighbours and links come and go.
                kind = number % 4
                if kind == 0:
                    node, device = draws.choice([(2, "to1"), (2, "to3"), (4, "to3"), (5, "to0")])
                    routers.net.ip(node, f"link set {device} down")
                elif kind == 1:
                    routers.net.ip(node, f"link set {device} up")
                elif kind == 2:
                    killed = draws.choice([2, 4, 5])
                    routers.processes[killed].kill()
                    routers.processes[killed].wait()
                elif killed is not None:
                    routers.again(killed)
                    killed = None
                    since = time.monotonic()
                    packets.returns(since, 60.0)
                    back.returns(since, 60.0)
                for one in watched:
                    one.disturbances += 1
        finally:
            if killed is not None:
                routers.again(killed)

    def _streams(self) -> Generator[None, None, None]:
        """Receivers that stay, with and without a key, for senders that come, and are killed or finish."""
        source = self.trial.folder / "soak.ts"
        film(source, 20)
        net = self._stack.enter_context(Net(2))
        ends: dict[str, tuple[int, tuple[object, ...]]] = {
            "`stream receive`": (6511, ()),
            "`stream receive --key`": (6512, ("--key", self.key)),
        }
        watched: dict[str, Watched] = {}
        senders: dict[str, subprocess.Popen[str]] = {}
        for name, (port, options) in ends.items():
            words = ("stream", "receive", "--listen", f"0.0.0.0:{port}", "--output", "/dev/null", "--keep", *options)
            watched[name] = self._watch(name, *self._process(net.within(1, command(*words)), f"receive-{port}"))
        for number in itertools.count():
            yield
            name = [*ends][number % 2]
            port, options = ends[name]
            if (old := senders.get(name)) is not None:
                old.send_signal(self.trial.draws.choice([signal.SIGKILL, signal.SIGTERM]))
                old.communicate()
            words = ("stream", "send", "--to", f"{address(1)}:{port}", "--input", source, *options)
            senders[name], _ = self._process(net.within(0, command(*words)), f"send-{number}")
            watched[name].disturbances += 1

    def _emulation(self) -> Generator[None, None, None]:
        """An emulation whose hosts send datagrams and open connections, while programs come and go."""
        place = self._stack.enter_context(Place())
        path = self.trial.folder / "soak.toml"
        path.write_text(EMULATED)
        program = self.trial.folder / "load.py"
        program.write_text(LOAD)
        serves = f"exec {sys.executable} {program} serve"
        asks = f"exec {sys.executable} {program} ask {self.exchanges} {self.pace_s}"
        words = ("--exec", "n1", serves, "--exec", "n0", asks, "--forever")
        process, log = self._process(place.command(command("emulate", path, *words)), "emulate")
        watched = self._watch("`emulate`", process, log)
        while True:
            yield
            # The program at n0 begins again by itself.
            watched.disturbances += 1

    def _process(self, words: list[str], name: str) -> tuple[subprocess.Popen[str], Path]:
        log = self.trial.folder / f"{name}.log"
        with log.open("w") as said:
            process = subprocess.Popen(
                words, text=True, stdout=subprocess.DEVNULL, stderr=said, stdin=subprocess.DEVNULL
            )

        def end() -> None:
            process.terminate()
            with suppress(Broken):
                told(process, 20.0)
            process.kill()
            process.wait()

        self._stack.callback(end)
        return process, log


EMULATED = """
duration = "1 s"
emulation = { lag_limit = "20 s" }
[radio]
standard = "802.11a"
data_rate = "24 Mb/s"
[[nodes]]
name = "n"
count = 2
real = true
placement = { shape = "line", spacing = "20 m" }
[[nodes]]
name = "walker"
count = 4
placement = { shape = "uniform", width = "60 m", height = "60 m" }
mobility = { model = "random-waypoint", speed = ["1 m/s", "3 m/s"] }
[[flows]]
name = "voice"
from = "walker0"
to = "walker1"
transport = { protocol = "udp" }
application = { kind = "cbr", rate = "64 kb/s", packet = "160 B" }
"""
LOAD = """
import socket, socketserver, subprocess, sys, threading, time

def serve():
    class Echo(socketserver.BaseRequestHandler):
        def handle(self):
            while octets := self.request.recv(4096):
                self.request.sendall(octets)
    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True
        def handle_error(self, request, client_address):
            pass
    threading.Thread(target=Server(("0.0.0.0", 7), Echo).serve_forever, daemon=True).start()
    answers = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    answers.bind(("0.0.0.0", 7))
    while True:
        octets, source = answers.recvfrom(2000)
        answers.sendto(octets, source)

def once():
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while True:
        try:
            with socket.create_connection(("10.0.0.2", 7), 2.0) as connection:
                for _ in range(int(sys.argv[2])):
                    datagrams.sendto(bytes(1000), ("10.0.0.2", 7))
                    connection.sendall(bytes(1000))
                    connection.recv(4096)
                    time.sleep(0.02)
        except OSError:
            time.sleep(0.1)

if sys.argv[1] == "serve":
    serve()
elif sys.argv[1] == "once":
    once()
else:
    while True:
        asks = subprocess.Popen([sys.executable, __file__, "once", sys.argv[2]])
        time.sleep(float(sys.argv[3]))
        asks.kill()
        asks.wait()
"""
HEAD = """# Soak: what grows in time

`make soak` runs router, stream and emulation at once, with load and churn, and measures each process four times a second. A run of it
writes this page.

```
{command}
```

{seconds:.0f} s with {events} disturbances: {told}. hopcast {version}, {cores} cores, {system}, processor load {load:.1f} with all that ran there.

| process | disturbances | memory after the warm-up, MiB | at most, more | at the end, more | descriptors in the warm-up, at most | after it | at the end | log, kB |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
"""
FOOT = f"""
* The warm-up is the first two fifths of the time. After it, the resident memory of a process may grow by {GROWTH >> 20} MiB at most.
* A process may have {SPARE} descriptors more than at most during the warm-up, and at the end {SPARE // 2} more. Its log may have {LOG} bytes for each
  disturbance, and for ten more.
* Routers: six in a ring with a key, and packets between two pairs of them, 50 a second each way. A link goes down and up, a router is
  killed and started again, in turn. Those in the table are not killed themselves. After each start of a router, packets of both pairs must come back.
* Receivers of streams: a film of 2 Mb/s whose sender is killed or terminated, and another one that begins, again and again.
* The emulation: two real hosts with datagrams and TCP connections between them, a datagram and a segment to each connection. The
  program that opens them is killed and started again. hopcast keeps [1024 conversations](conversations.md).
  Four simulated nodes walk, and two of them send voice.
"""


def page(soak: Soak, seconds: float, seed: int) -> str:
    """The page with the table."""
    complaints = soak.complaints()
    version = ".".join(platform.release().split(".")[:2])
    head = HEAD.format(
        command=f"make soak SOAK_SECONDS={seconds:g} SOAK_SEED={seed}",
        seconds=seconds,
        events=soak.events,
        told="nothing grows" if not complaints else f"**{'; '.join(complaints)}**",
        version=hopcast.__version__,
        cores=os.cpu_count(),
        system=f"{platform.system()} {version}",
        load=os.getloadavg()[2],
    )
    return head + "".join(f"{one.row()}\n" for one in soak.watched) + FOOT


def main() -> None:
    """Runs it, and prints or writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=3600.0, help="how long (default: 3600)")
    parser.add_argument("--seed", type=int, default=1, help="what churn is drawn from (default: 1)")
    parser.add_argument("--page", type=Path, help="write the page to this file, instead of printing it")
    options = parser.parse_args()
    if reason := hindrance():
        parser.error(reason)
    with (
        tempfile.TemporaryDirectory(prefix="hopcast-soak-", ignore_cleanup_errors=True) as folder,
        Soak(options.seed, Path(folder), pace_s=5.0, exchanges=1) as soak,
    ):
        soak.run(options.seconds)
        text, complaints = page(soak, options.seconds, options.seed), soak.complaints()
    if options.page:
        options.page.write_text(text)
    else:
        print(text)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    sys.exit(1 if complaints else 0)


def hindrance() -> str | None:
    """Why it can't run here."""
    return next((reason for need in (*NETWORK, *MOUNTS) if (reason := missing(need))), None)


if __name__ == "__main__":
    main()
