"""Faults on the commands of real hosts: node, stream, probe, cloud, emulate."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from case import CLOCK, MOUNTS, NETWORK, Trial, case, check
from world import (
    Net,
    Place,
    SteppedClock,
    Traffic,
    address,
    address_space,
    film,
    finished,
    flood,
    hopcast,
    memory,
    overheard,
    pause,
    peak_address_space,
    started,
    succeeds,
    told,
    wait_until,
)

Process = subprocess.Popen[str]
PATIENCE_S = 30.0
"""After that a command has not recovered. AODV forgets a route after 3 s, and a search takes up to 2.8 s and is repeated (RFC 3561)."""
GROWTH = 1 << 24
"""Bytes by which garbage may make a command grow."""
FULL_DISK = 'mkdir -p "$1" && mount -t tmpfs -o mode=755,size="$0" tmpfs "$1" && shift && exec "$@"'
"""A script that starts a command which sees a small disk at a folder: mounts within `ip netns exec` are seen there alone."""


def make_key(trial: Trial) -> Path:
    """A network key."""
    path = trial.folder / "key"
    succeeds(hopcast("key", path))
    return path


def answers(command: list[str]) -> Any:
    """What a command prints as JSON; an empty object if it fails."""
    done = finished(command)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def goes_on(process: Process, log: Path | None = None) -> None:
    """It still runs."""
    status = process.poll()
    check(status is None, f"{process.args!r} has ended with {status}", log.read_text() if log else "")


# --- node ----------------------------------------------------------------------------------------------------------


class Routers:
    """A network whose nodes run `hopcast node`."""

    def __init__(self, trial: Trial, count: int, *options: object, is_ring: bool = False) -> None:
        self.trial, self.options = trial, options
        self.net = Net(count, is_ring=is_ring)
        self.processes: dict[int, Process] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Routers:
        with ExitStack() as stack:
            stack.enter_context(self.net)
            for node in range(len(self.net.spaces)):
                stack.enter_context(self.spawned(node))
            for node in self.processes:
                self.wait_for(node)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        # In order, so that none leaves a record.
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in self.processes.values():
            told(process, 20.0)
        self._stack.close()

    def command(self, node: int) -> list[str]:
        interfaces = [word for name in self.net.interfaces(node) for word in ("--interface", name)]
        return hopcast("node", *interfaces, "--network", "10.0.0.0/24", *self.options)

    @contextmanager
    def spawned(self, node: int, *before: str, **options: Any) -> Iterator[Process]:
        """A router that has been started."""
        with self.log(node).open("a") as log:
            command = self.net.within(node, [*before, *self.command(node)])
            with started(command, stderr=log, **options) as process:
                self.processes[node] = process
                yield process

    def again(self, node: int, *before: str, **options: Any) -> None:
        """Starts a router where there was one."""
        self._stack.enter_context(self.spawned(node, *before, **options))

    def log(self, node: int) -> Path:
        return self.trial.folder / f"node-{node}.log"

    def status(self, node: int) -> Any:
        return answers(self.net.within(node, hopcast("node", "status", "--json")))

    def wait_for(self, node: int) -> None:
        """Waits until a router runs on its interfaces."""

        def runs() -> bool:
            goes_on(self.processes[node], self.log(node))
            interfaces = self.status(node).get("interfaces", [])
            return bool(interfaces) and all(interface["state"] == "running" for interface in interfaces)

        wait_until(f"router {node} runs", PATIENCE_S, runs)

    @contextmanager
    def traffic(self, source: int = 0, destination: int = 2) -> Iterator[Traffic]:
        """Packets that go and come back, from the moment when they do."""
        with Traffic(self.net, source, destination, self.trial.folder) as packets:
            packets.returns(time.monotonic(), PATIENCE_S)
            yield packets
            for node, process in self.processes.items():
                goes_on(process, self.log(node))


ROUTE = "packets come back"


@case("node", "kill -9 of the router on the way", f"the next one starts; {ROUTE}", needs=NETWORK, trials=4)
def node_killed(trial: Trial) -> None:
    with Routers(trial, 3) as routers, routers.traffic() as packets:
        time.sleep(trial.draws.uniform(0.0, 2.0))
        routers.processes[1].kill()
        time.sleep(trial.draws.uniform(0.0, 6.0))
        begin = time.monotonic()
        routers.again(1)
        routers.wait_for(1)
        packets.returns(time.monotonic(), PATIENCE_S)
        trial.recovered(time.monotonic() - begin)


@case("node", "SIGSTOP of the router on the way, then SIGCONT", f"no router ends; {ROUTE}", needs=NETWORK, trials=3)
def node_stopped(trial: Trial) -> None:
    with Routers(trial, 3) as routers, routers.traffic() as packets:
        pause(routers.processes[1], trial.draws.uniform(1.0, 8.0))
        trial.recovered(packets.returns(time.monotonic(), PATIENCE_S))


@case("node", "an interface on the way goes down, then up", f"no router ends; {ROUTE}", needs=NETWORK, trials=3)
def node_link_down(trial: Trial) -> None:
    with Routers(trial, 3) as routers, routers.traffic() as packets:
        device = trial.draws.choice(["to0", "to2"])
        routers.net.ip(1, f"link set {device} down")
        time.sleep(trial.draws.uniform(0.2, 6.0))
        routers.net.ip(1, f"link set {device} up")
        trial.recovered(packets.returns(time.monotonic(), PATIENCE_S))


@case("node", "an interface on the way is removed, and made again", f"no router ends; {ROUTE}", needs=NETWORK, trials=3)
def node_interface_gone(trial: Trial) -> None:
    with Routers(trial, 3) as routers, routers.traffic() as packets:
        left = trial.draws.choice([0, 1])
        routers.net.ip(left, f"link del to{left + 1}")
        time.sleep(trial.draws.uniform(0.2, 6.0))
        routers.net.connect(left, left + 1)
        trial.recovered(packets.returns(time.monotonic(), PATIENCE_S))


@case("node", "a link of a ring goes down, and stays so", f"{ROUTE} the other way round", needs=NETWORK, trials=3)
def node_ring(trial: Trial) -> None:
    with Routers(trial, 4, is_ring=True) as routers, routers.traffic() as packets:
        way = re.search(r"10\.0\.0\.3 via 10\.0\.0\.(\d)", routers.net.ip(0, "route show table 654"))
        check(way, "there is no route")
        assert way
        routers.net.ip(0, f"link set to{int(way[1]) - 1} down")
        trial.recovered(packets.returns(time.monotonic(), PATIENCE_S))


def node_flooded(trial: Trial, *options: object, least: float) -> None:
    """The neighbour behind the destination sends garbage to it, and changed copies of what it has heard."""
    with Routers(trial, 4, *options) as routers, routers.traffic() as packets:
        heard = overheard(routers.net, 3, "654,60654", 3.0)
        check(heard, "no message of the routers is heard")
        before = memory(routers.processes[2])
        sends = flood(routers.net, 3, address(2), "654,60654", trial.draws, 5.0, *heard)
        share = packets.share(4.0)
        said = told_count(sends)
        trial.recovered(packets.returns(time.monotonic(), PATIENCE_S))
        grown = memory(routers.processes[2]) - before
        check(grown < GROWTH, f"memory has grown by {grown} bytes with {said} datagrams")
        check(share >= least, f"{share:.0%} of the packets came back during the flood")


def told_count(process: Process) -> int:
    """The number of datagrams that a flood has sent."""
    said = process.communicate(timeout=60.0)[0]
    check(said.strip(), "the neighbour has sent nothing")
    return int(said)


@case("node --key", "garbage from a neighbour without the key, 5 s", f"half of the packets come back meanwhile at least; memory grows by 16 MB at most; {ROUTE}", needs=NETWORK, trials=2)  # fmt: skip
def node_garbage_key(trial: Trial) -> None:
    node_flooded(trial, "--key", make_key(trial), least=0.5)


@case("node", "garbage from a neighbour, 5 s, without a key", f"no router ends; memory grows by 16 MB at most; {ROUTE}", needs=NETWORK, trials=2)  # fmt: skip
def node_garbage(trial: Trial) -> None:
    node_flooded(trial, least=0.0)


@case("node", "steps of the clock of the router on the way", f"{ROUTE}, nine of ten meanwhile", needs=(*NETWORK, *CLOCK), trials=2)  # fmt: skip
def node_clock(trial: Trial) -> None:
    clock = SteppedClock(trial.folder)
    with Routers(trial, 3) as routers:
        routers.processes[1].terminate()
        told(routers.processes[1])
        routers.again(1, env=clock.environment())
        routers.wait_for(1)
        with routers.traffic() as packets:
            shares = []
            for _ in range(4):
                clock.step(trial.draws.choice(["-30y", "+30y", "-1h", "+1h"]))
                shares.append(packets.share(1.0))
            check(min(shares) >= 0.9, f"{min(shares):.0%} of the packets came back after a step")
            trial.recovered(packets.returns(time.monotonic(), PATIENCE_S))


@case("node", "a second one in the same namespace", "it ends with 1 and says that another one runs, which goes on", needs=NETWORK, trials=1)  # fmt: skip
def node_two(trial: Trial) -> None:
    with Routers(trial, 2) as routers, routers.traffic(0, 1) as packets:
        done = finished(routers.net.within(1, routers.command(1)))
        is_told = "runs in this network namespace already" in done.stderr
        check(done.returncode == 1 and is_told, done.returncode, done.stderr)
        trial.recovered(packets.returns(time.monotonic(), PATIENCE_S))


@case("node", "full disk under /run", f"the router starts; {ROUTE}", needs=NETWORK, trials=1)
def node_disk(trial: Trial) -> None:
    with Routers(trial, 3) as routers:
        routers.processes[1].terminate()
        told(routers.processes[1])
        fill = 'head -c 8192 /dev/zero > "$1/rest" 2>/dev/null; shift && exec'
        script = FULL_DISK.replace("shift && exec", f"{{ {fill.removesuffix(' && exec')}; }} && exec")
        begin = time.monotonic()
        routers.again(1, "sh", "-c", script, "4k", "/run/hopcast")
        routers.wait_for(1)
        with routers.traffic():
            trial.recovered(time.monotonic() - begin)


@case("node", "too little memory", f"a failure is told; without the limit, {ROUTE}", needs=NETWORK, trials=3)
def node_memory(trial: Trial) -> None:
    with Routers(trial, 3) as routers:
        routers.processes[1].terminate()
        told(routers.processes[1])
        most = peak_address_space(hopcast("node", "--help"))
        limit = address_space(int(trial.draws.uniform(0.3, 1.0) * most))
        with started(routers.net.within(1, routers.command(1)), preexec_fn=limit) as process:
            time.sleep(3.0)
            is_up = process.poll() is None
            process.terminate()
            text = told(process)
            check(is_up or text.strip(), f"it ended with {process.returncode} and said nothing")
        begin = time.monotonic()
        routers.again(1)
        routers.wait_for(1)
        with routers.traffic():
            trial.recovered(time.monotonic() - begin)


# --- stream --------------------------------------------------------------------------------------------------------

PACKET = 188
SECONDS = 8


class Stream:
    """A film that goes from one node to another."""

    def __init__(self, trial: Trial, *options: object, keep: bool = False) -> None:
        self.trial, self.options, self.keep = trial, options, keep
        self.film = trial.folder / "film.ts"
        self.media = film(self.film, SECONDS)
        self.net = Net(2)
        self.stack = ExitStack()

    def __enter__(self) -> Stream:
        self.stack.enter_context(self.net)
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def receive(self, name: str, *before: str, **options: Any) -> tuple[Process, Path]:
        """Starts a receiver that writes a file."""
        path = self.trial.folder / name
        more = ["--keep"] if self.keep else []
        command = [*before, *hopcast("stream", "receive", "--output", path, *more, *self.options)]
        return self._start(1, command, f"{name}.log", **options), path

    def send(self, name: str = "send", **options: Any) -> Process:
        """Starts a sender."""
        command = hopcast("stream", "send", "--to", address(1), "--input", self.film, *self.options)
        return self._start(0, command, f"{name}.log", **options)

    def begin(self, name: str) -> tuple[Process, Process, Path]:
        """A receiver that writes a file and a sender, once media arrive."""
        receiver, path = self.receive(name)
        sender = self.send()
        self.arrives(path)
        return receiver, sender, path

    def _start(self, node: int, command: list[str], log: str, **options: Any) -> Process:
        said = self.stack.enter_context((self.trial.folder / log).open("w"))
        return self.stack.enter_context(started(self.net.within(node, command), stderr=said, **options))

    def ends(self, process: Process, status: int = 0) -> None:
        """Waits for the end of one."""
        told(process, 60.0)
        logs = "".join(f"--- {path.name}\n{path.read_text()}" for path in self.trial.folder.glob("*.log"))
        check(process.returncode == status, f"it ends with {process.returncode}, not {status}", logs)

    def arrives(self, path: Path, more: int = 1) -> float:
        """Waits until a file has grown by this many bytes; how long it took."""
        before = size(path)
        return wait_until("media arrive", PATIENCE_S, lambda: size(path) >= before + more)

    def check_same(self, path: Path) -> None:
        """All of the film is there."""
        check(path.read_bytes() == self.media, f"{size(path)} of {len(self.media)} bytes came, or others")

    def share(self, path: Path) -> float:
        """The share of the film in a file, whose packets must be those of the film in their order."""
        octets = path.read_bytes()
        check(len(octets) % PACKET == 0, "the file ends within a packet")
        place = 0
        for at in range(0, len(octets), PACKET):
            place = self.media.find(octets[at : at + PACKET], place)
            check(place >= 0, "a packet is not one of the film, or not in its place")
            place += PACKET
        return len(octets) / len(self.media)


def size(path: Path) -> int:
    """Bytes of a file, if there is one."""
    return path.stat().st_size if path.exists() else 0


@case("stream", "kill -9 of the receiver", "the sender goes on; the next receiver gets the rest; both files have whole packets of the film in order", needs=NETWORK, trials=3)  # fmt: skip
def stream_receiver_killed(trial: Trial) -> None:
    receiver_killed(Stream(trial))


@case("stream --key", "kill -9 of the receiver", "the same, in a new session", needs=NETWORK, trials=3)
def stream_receiver_killed_key(trial: Trial) -> None:
    receiver_killed(Stream(trial, "--key", make_key(trial)))


def receiver_killed(begun: Stream) -> None:
    """Kills the receiver, and starts another one."""
    trial = begun.trial
    with begun as stream:
        receiver, sender, first = stream.begin("first.ts")
        time.sleep(trial.draws.uniform(0.0, 2.0))
        receiver.kill()
        time.sleep(trial.draws.uniform(0.0, 1.5))
        goes_on(sender)
        receiver, second = stream.receive("second.ts")
        trial.recovered(stream.arrives(second))
        stream.ends(sender)
        stream.ends(receiver)
        check(stream.share(first) + stream.share(second) > 0.3)
        check(stream.media.endswith(second.read_bytes()[-PACKET:]), "the end of the film is missing")


@case("stream", "kill -9 of the sender", "the receiver goes on; the next stream arrives whole", needs=NETWORK, trials=3)
def stream_sender_killed(trial: Trial) -> None:
    with Stream(trial, keep=True) as stream:
        receiver, sender, path = stream.begin("film-received.ts")
        time.sleep(trial.draws.uniform(0.0, 2.0))
        sender.kill()
        time.sleep(trial.draws.uniform(0.0, 1.0))
        goes_on(receiver)
        sender = stream.send("again")
        trial.recovered(stream.arrives(path))
        stream.ends(sender)
        time.sleep(1.0)
        goes_on(receiver)
        check(path.read_bytes().endswith(stream.media), "the second stream is not whole")


@case("stream", "SIGSTOP of one end, then SIGCONT", "all of the film arrives", needs=NETWORK, trials=3)
def stream_stopped(trial: Trial) -> None:
    with Stream(trial) as stream:
        receiver, sender, path = stream.begin("received.ts")
        pause(trial.draws.choice([receiver, sender]), trial.draws.uniform(0.5, 4.0))
        trial.recovered(stream.arrives(path))
        stream.ends(sender)
        stream.ends(receiver)
        stream.check_same(path)


@case("stream", "the interface goes down, then up", "neither end ends; media arrive again, in order, up to the end", needs=NETWORK, trials=3)  # fmt: skip
def stream_link_down(trial: Trial) -> None:
    with Stream(trial) as stream:
        receiver, sender, path = stream.begin("received.ts")
        node = trial.draws.choice([0, 1])
        stream.net.ip(node, f"link set to{1 - node} down")
        time.sleep(trial.draws.uniform(0.2, 3.0))
        goes_on(sender)
        goes_on(receiver)
        stream.net.ip(node, f"link set to{1 - node} up")
        trial.recovered(stream.arrives(path))
        stream.ends(sender)
        stream.ends(receiver)
        share = stream.share(path)
        check(path.read_bytes().endswith(stream.media[-PACKET:]), "the end of the film is missing")
        trial.lost = "packets on the way when it went down"
        check(share > 0.3, f"{share:.0%} of the film arrived")


def stream_flooded(trial: Trial, *options: object) -> None:
    """A host sends garbage to the receiver, and changed copies of what it has heard."""
    with Stream(trial, *options) as stream:
        receiver, sender, path = stream.begin("received.ts")
        heard = overheard(stream.net, 1, "6511", 0.5)
        before = memory(receiver)
        said = told_count(flood(stream.net, 0, address(1), "6511", trial.draws, 4.0, *heard))
        grown = memory(receiver) - before
        trial.recovered(stream.arrives(path))
        stream.ends(sender)
        stream.ends(receiver)
        share = stream.share(path)
        check(grown < GROWTH, f"memory has grown by {grown} bytes with {said} datagrams")
        check(share >= 0.95, f"{share:.0%} of the film arrived")
        trial.lost = "nothing" if share == 1.0 else "packets: at most 5 %"


@case("stream --key", "garbage to the receiver, 4 s", "95 % of the film arrives at least, and nothing else; memory grows by 16 MB at most", needs=NETWORK, trials=2)  # fmt: skip
def stream_garbage_key(trial: Trial) -> None:
    stream_flooded(trial, "--key", make_key(trial))


@case("stream", "full disk at the receiver", "status 1 and the name of the file; the sender goes on; the next receiver gets the rest", needs=NETWORK, trials=2)  # fmt: skip
def stream_disk(trial: Trial) -> None:
    with Stream(trial) as stream:
        disk = trial.folder / "disk"
        disk.mkdir()
        room = trial.draws.randrange(100_000, 600_000)
        receiver, _ = stream.receive("disk/full.ts", "sh", "-c", FULL_DISK, str(room), str(disk))
        sender = stream.send()
        stream.ends(receiver, 1)
        text = (trial.folder / "disk" / "full.ts.log").read_text()
        check("No space left on device" in text and "full.ts" in text, text)
        goes_on(sender)
        receiver, path = stream.receive("second.ts")
        trial.recovered(stream.arrives(path))
        stream.ends(sender)
        stream.ends(receiver)
        stream.share(path)


@case("stream", "steps of the clocks of both ends", "all of the film arrives", needs=(*NETWORK, *CLOCK), trials=2)
def stream_clock(trial: Trial) -> None:
    with Stream(trial) as stream:
        clock = SteppedClock(trial.folder)
        receiver, path = stream.receive("received.ts", env=clock.environment())
        sender = stream.send(env=clock.environment())
        while sender.poll() is None:
            clock.step(trial.draws.choice(["-30y", "+30y", "-1h", "+1h", "+0"]))
            time.sleep(trial.draws.uniform(0.1, 1.0))
        stream.ends(sender)
        stream.ends(receiver)
        stream.check_same(path)


@case("stream", "a second receiver at the same port", "it ends and says so; all of the film arrives at the first", needs=NETWORK, trials=1)  # fmt: skip
def stream_two(trial: Trial) -> None:
    with Stream(trial) as stream:
        receiver, sender, path = stream.begin("received.ts")
        done = finished(stream.net.within(1, hopcast("stream", "receive", "--output", trial.folder / "second.ts")))
        check(done.returncode in (1, 2) and "6511" in done.stderr and "in use" in done.stderr, done.stderr)
        stream.ends(sender)
        stream.ends(receiver)
        stream.check_same(path)


# --- probe ---------------------------------------------------------------------------------------------------------


def probe_receives(stack: ExitStack, net: Net) -> Process:
    """Starts a receiver of measurements, and waits until it listens."""
    process = stack.enter_context(started(net.within(1, hopcast("probe", "receive")), stderr=subprocess.DEVNULL))

    def listens() -> bool:
        goes_on(process)
        return "47300" in subprocess.run(net.within(1, ["cat", "/proc/net/tcp"]), capture_output=True, text=True).stdout.replace(f"{47300:04X}", "47300")  # fmt: skip

    wait_until("the receiver listens", PATIENCE_S, listens)
    return process


def probe_sends(net: Net, *options: object) -> list[str]:
    return net.within(0, hopcast("probe", "send", "--to", address(1), "--json", *options))


def check_measures(trial: Trial, net: Net) -> None:
    """A measurement finds all that it sends."""
    done = finished(probe_sends(net, "--bytes", "100 kB", "--wait", "1 ms"))
    check(done.returncode == 0, done.stderr)
    (flow,) = json.loads(done.stdout)["flows"]
    check(flow["received_packets"] == flow["sent_packets"] == 100, flow)


@case("probe", "kill -9 of the receiver", "the sender ends within 30 s and says why; with the next receiver it measures again", needs=NETWORK, trials=2)  # fmt: skip
def probe_killed(trial: Trial) -> None:
    transport = trial.draws.choice(["udp", "tcp"])
    with ExitStack() as stack:
        net = stack.enter_context(Net(2))
        receiver = probe_receives(stack, net)
        options = ("--bytes", "10 MB", "--wait", "1 ms", "--transport", transport)
        sender = stack.enter_context(started(probe_sends(net, *options)))
        time.sleep(trial.draws.uniform(1.0, 4.0))
        goes_on(sender)
        receiver.kill()
        text = told(sender, 30.0)
        check(sender.returncode == 1 and address(1) in text, sender.returncode, text)
        begin = time.monotonic()
        probe_receives(stack, net)
        check_measures(trial, net)
        trial.recovered(time.monotonic() - begin)
    trial.lost = "the measurement that ran"


@case("probe", "SIGSTOP of the receiver, then SIGCONT", "over TCP all units arrive", needs=NETWORK, trials=2)
def probe_stopped(trial: Trial) -> None:
    with ExitStack() as stack:
        net = stack.enter_context(Net(2))
        receiver = probe_receives(stack, net)
        options = ("--bytes", "3 MB", "--wait", "1 ms", "--transport", "tcp")
        sender = stack.enter_context(started(probe_sends(net, *options), stdout=subprocess.PIPE))
        time.sleep(trial.draws.uniform(0.5, 2.0))
        pause(receiver, trial.draws.uniform(0.5, 3.0))
        begin = time.monotonic()
        said, text = sender.communicate(timeout=60.0)
        check(sender.returncode == 0, text)
        (flow,) = json.loads(said)["flows"]
        check(flow["received_packets"] == flow["sent_packets"] == 3000, flow)
        trial.recovered(time.monotonic() - begin)


@case("probe", "the interface goes down, then up", "over TCP all units arrive", needs=NETWORK, trials=2)
def probe_link_down(trial: Trial) -> None:
    with ExitStack() as stack:
        net = stack.enter_context(Net(2))
        probe_receives(stack, net)
        options = ("--bytes", "3 MB", "--wait", "1 ms", "--transport", "tcp")
        sender = stack.enter_context(started(probe_sends(net, *options), stdout=subprocess.PIPE))
        time.sleep(trial.draws.uniform(1.0, 2.0))
        net.ip(1, "link set to0 down")
        time.sleep(trial.draws.uniform(0.5, 3.0))
        net.ip(1, "link set to0 up")
        begin = time.monotonic()
        said, text = sender.communicate(timeout=60.0)
        check(sender.returncode == 0, text)
        (flow,) = json.loads(said)["flows"]
        check(flow["received_packets"] == flow["sent_packets"] == 3000, flow)
        trial.recovered(time.monotonic() - begin)


GARBAGE = """
import random, socket, sys
draws, held = random.Random(int(sys.argv[2])), []
for number in range(400):
    try:
        connection = socket.create_connection((sys.argv[1], 47300), 2.0)
        connection.sendall(draws.choice([b"", b"hopcast-probe ", b"{", b"\\0" * 4]) + draws.randbytes(draws.choice([1, 40, 3000])))
        (held.append if number % 10 == 0 else lambda connection: connection.close())(connection)
    except OSError:
        pass
"""


@case("probe", "garbage over its control connections, silent connections, garbage datagrams", "the receiver goes on and measures; memory grows by 16 MB at most", needs=NETWORK, trials=2)  # fmt: skip
def probe_garbage(trial: Trial) -> None:
    with ExitStack() as stack:
        net = stack.enter_context(Net(2))
        receiver = probe_receives(stack, net)
        before = memory(receiver)
        sends = flood(net, 0, address(1), "47300", trial.draws, 3.0)
        finished(net.within(0, [sys.executable, "-c", GARBAGE, address(1), str(trial.draws.randrange(2**31))]))
        told_count(sends)
        begin = time.monotonic()
        check_measures(trial, net)
        trial.recovered(time.monotonic() - begin)
        grown = memory(receiver) - before
        check(grown < GROWTH, f"memory has grown by {grown} bytes")
        goes_on(receiver)


# --- cloud ---------------------------------------------------------------------------------------------------------


class Cloud:
    """Two devices, the second of which offers a film of some seconds."""

    def __init__(self, trial: Trial) -> None:
        self.trial, self.key = trial, make_key(trial)
        self.film = trial.folder / "film.ts"
        self.media = film(self.film, 5)
        self.copy = trial.folder / "copy.ts"
        self.net, self.stack = Net(2), ExitStack()
        self.devices: dict[int, Process] = {}

    def __enter__(self) -> Cloud:
        with ExitStack() as stack:
            self.stack = stack
            stack.enter_context(self.net)
            self.start(0)
            self.start(1, "--offer", self.film)
            self.wait_for_clip()
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def command(self, node: int, *options: object) -> list[str]:
        words = ("cloud", "serve", "--interface", f"to{1 - node}", "--key", self.key, *options)
        return self.net.within(node, hopcast(*words))

    def start(self, node: int, *options: object, **more: Any) -> None:
        """Starts a device."""
        log = self.stack.enter_context((self.trial.folder / f"cloud-{node}.log").open("a"))
        command = self.command(node, *options)
        self.devices[node] = self.stack.enter_context(started(command, stderr=log, **more))

    def wait_for_clip(self) -> float:
        """Waits until the first device knows the film."""

        def is_known() -> bool:
            goes_on(self.devices[0], self.trial.folder / "cloud-0.log")
            return bool(answers(self.net.within(0, hopcast("cloud", "list", "--json"))).get("clips"))

        return wait_until("the clip is known", PATIENCE_S, is_known)

    def play(self) -> list[str]:
        return self.net.within(0, hopcast("cloud", "play", "film", "--output", self.copy))

    def plays(self) -> float:
        """Plays the film, all of which must arrive."""
        seconds = succeeds(self.play())
        check(self.copy.read_bytes() == self.media, "the copy is another one")
        self.copy.unlink()
        return seconds


@case("cloud", "kill -9 of the device that sends", "`play` ends and says why, and leaves no file; the next device is found, and the film arrives whole", needs=NETWORK, trials=2)  # fmt: skip
def cloud_killed(trial: Trial) -> None:
    with Cloud(trial) as cloud:
        with started(cloud.play()) as play:
            time.sleep(trial.draws.uniform(2.0, 5.0))
            cloud.devices[1].kill()
            text = told(play, 60.0)
            check(play.returncode == 0 or text.strip(), f"it ends with {play.returncode} and says nothing")
            check(play.returncode == 0 or not cloud.copy.exists(), "a file is there that is not whole")
        begin = time.monotonic()
        cloud.start(1, "--offer", cloud.film)
        cloud.wait_for_clip()
        trial.recovered(time.monotonic() - begin)
        cloud.plays()
    trial.lost = "the clip that played"


@case("cloud", "SIGSTOP of the device that sends, then SIGCONT", "the film arrives whole", needs=NETWORK, trials=2)
def cloud_stopped(trial: Trial) -> None:
    command = ("cloud", "play", "film")
    with Cloud(trial) as cloud, cloud.copy.open("wb") as copy:
        with started(cloud.net.within(0, hopcast(*command)), stdout=copy) as play:
            wait_until("media arrive", PATIENCE_S, lambda: size(cloud.copy))
            time.sleep(trial.draws.uniform(0.0, 2.0))
            pause(cloud.devices[1], trial.draws.uniform(0.3, 1.5))
            before = size(cloud.copy)
            trial.recovered(wait_until("media arrive", PATIENCE_S, lambda: size(cloud.copy) > before))
            text = told(play, 60.0)
        check(play.returncode == 0, text)
        check(cloud.copy.read_bytes() == cloud.media, "the copy is another one")


@case("cloud", "the interface goes down, then up", "`play` ends; a file that it leaves is whole; afterwards the film arrives whole", needs=NETWORK, trials=2)  # fmt: skip
def cloud_link_down(trial: Trial) -> None:
    with Cloud(trial) as cloud:
        with started(cloud.play()) as play:
            time.sleep(trial.draws.uniform(2.0, 4.0))
            cloud.net.ip(1, "link set to0 down")
            time.sleep(trial.draws.uniform(0.3, 3.0))
            cloud.net.ip(1, "link set to0 up")
            trial.recovered(cloud.wait_for_clip())
            text = told(play, 60.0)
            check(play.returncode == 0 or text.strip(), f"it ends with {play.returncode} and says nothing")
            check(not cloud.copy.exists() or cloud.copy.read_bytes() == cloud.media, "the copy is not whole")
        trial.lost = "nothing" if play.returncode == 0 else "the clip that played"
        cloud.copy.unlink(missing_ok=True)
        cloud.plays()


@case("cloud", "garbage from a neighbour without the key, 6 s", "the film arrives whole meanwhile; memory grows by 16 MB at most", needs=NETWORK, trials=2)  # fmt: skip
def cloud_garbage(trial: Trial) -> None:
    with Cloud(trial) as cloud:
        heard = overheard(cloud.net, 0, "48653", 2.0)
        before = memory(cloud.devices[0])
        sends = flood(cloud.net, 1, address(0), "48653", trial.draws, 6.0, *heard)
        cloud.plays()
        said = told_count(sends)
        grown = memory(cloud.devices[0]) - before
        check(grown < GROWTH, f"memory has grown by {grown} bytes with {said} datagrams")
        trial.recovered(cloud.wait_for_clip())


@case("cloud", "a second device in the same namespace", "it ends with 1 or 2 and says so; the first one goes on", needs=NETWORK, trials=1)  # fmt: skip
def cloud_two(trial: Trial) -> None:
    with Cloud(trial) as cloud:
        done = finished(cloud.command(0))
        check(done.returncode in (1, 2) and "Traceback" not in done.stderr, done.returncode, done.stderr)
        check("runs in this network namespace" in done.stderr, done.stderr)
        cloud.plays()


# --- emulate -------------------------------------------------------------------------------------------------------

EMULATED = """
duration = "DURATION"
emulation = { lag_limit = "LAG" }
[radio]
standard = "802.11a"
data_rate = "24 Mb/s"
[[nodes]]
name = "n"
count = 2
real = true
placement = { shape = "line", spacing = "20 m" }
"""
EMULATION = (*NETWORK, *MOUNTS, "ping")


def emulate(trial: Trial, *arguments: object, duration: str = "3 s", lag: str = "5 s") -> list[str]:
    """An emulation of two real hosts."""
    path = trial.folder / "pair.toml"
    path.write_text(EMULATED.replace("DURATION", duration).replace("LAG", lag))
    return hopcast("emulate", path, *arguments)


def spaces(place: Place) -> list[str]:
    """Namespaces that emulations have made there."""
    folder = place.outside(Path("/run/netns"))
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


PING = "ping -c 3 -i 0.2 -W 5 10.0.0.2"


@case(
    "emulate", "kill -9", "`--clean` leaves no namespace and no program; the next one runs", needs=EMULATION, trials=3
)
def emulate_killed(trial: Trial) -> None:
    with Place() as place:
        program = f"exec sleep {trial.draws.randrange(10_000, 10**6)}"
        with started(place.command(emulate(trial, "--exec", "n1", program, duration="1000 s"))) as process:
            wait_until("namespaces are there", PATIENCE_S, lambda: len(spaces(place)) >= 2)
            time.sleep(trial.draws.uniform(0.0, 2.0))
            process.kill()
            process.wait()
        trial.recovered(succeeds(place.command(hopcast("emulate", "--clean"))))
        check(not spaces(place), spaces(place))
        left = finished(["ps", "-e", "-o", "args"]).stdout
        check(program.removeprefix("exec ") not in left, "the program goes on")
        succeeds(place.command(emulate(trial, "--exec", "n0", PING)))


@case("emulate", "SIGSTOP, then SIGCONT", "status 1, and it says that it fell behind real time; nothing is left", needs=EMULATION, trials=2)  # fmt: skip
def emulate_stopped(trial: Trial) -> None:
    with Place() as place:
        command = emulate(trial, "--exec", "n1", "exec sleep 6", "--forever", lag="1 s")
        with started(place.command(command)) as process:
            wait_until("namespaces are there", PATIENCE_S, lambda: len(spaces(place)) >= 2)
            time.sleep(1.0)
            pause(process, trial.draws.uniform(2.0, 3.0))
            begin, text = time.monotonic(), told(process)
            check(process.returncode == 1 and "fell behind real time" in text, process.returncode, text)
            trial.recovered(time.monotonic() - begin)
        check(not spaces(place), spaces(place))


@case("emulate --record", "full disk", "status 1 and the name of the file; nothing is left; with room again, it is recorded and replayed", needs=EMULATION, trials=2)  # fmt: skip
def emulate_disk(trial: Trial) -> None:
    with Place() as place:
        disk = trial.folder / "disk"
        place.small_disk(disk, trial.draws.choice([4096, 8192, 16_384]))
        record = disk / "recording"
        command = place.command(
            emulate(trial, "--exec", "n0", "ping -q -s 1000 -c 100 -i 0.02 10.0.0.2", "--record", record)
        )
        done = finished(command)
        check(done.returncode in (1, 2) and "No space left on device" in done.stderr, done.returncode, done.stderr)
        check(str(disk) in done.stderr, "it does not name the file", done.stderr)
        check(not spaces(place), spaces(place))
        place.enlarge(disk)
        trial.recovered(succeeds(command))
        succeeds(place.command(emulate(trial, "--replay", record)))


@case("emulate --out", "two at once on one folder", "the second one ends with 2 and says who writes; the first one finishes", needs=EMULATION, trials=2)  # fmt: skip
def emulate_two(trial: Trial) -> None:
    out = trial.folder / "out"
    with Place() as place:
        command = place.command(emulate(trial, "--exec", "n0", "exec sleep 4", "--out", out, "--forever"))
        with started(command) as first:
            wait_until("namespaces are there", PATIENCE_S, lambda: len(spaces(place)) >= 2)
            done = finished(command)
            check(done.returncode == 2 and "writing results there" in done.stderr, done.returncode, done.stderr)
            text = told(first)
            check(first.returncode == 0 and (out / "run.json").exists(), text)


@case("emulate", "steps of the clock", "hosts reach each other; status 0", needs=(*EMULATION, *CLOCK), trials=2)
def emulate_clock(trial: Trial) -> None:
    clock = SteppedClock(trial.folder)
    with Place() as place:
        command = place.command(emulate(trial, "--exec", "n0", "ping -c 20 -i 0.2 -W 5 10.0.0.2"))
        with started(command, env=clock.environment()) as process:
            while process.poll() is None:
                clock.step(trial.draws.choice(["-30y", "+30y", "-1h", "+1h", "+0"]))
                time.sleep(trial.draws.uniform(0.1, 0.5))
            text = told(process)
            check(process.returncode == 0, text)


FRAMES = """
import random, socket, sys
draws = random.Random(int(sys.argv[1]))
sends = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sends.bind(("wlan0", 0))
for _ in range(20_000):
    octets = draws.randbytes(draws.choice([14, 20, 60, 400, 1500]))
    head = draws.choice([b"", b"\\xff" * 6, sends.getsockname()[4] * 2]) + draws.choice([b"", b"\\x08\\x00\\x45", b"\\x08\\x06"])
    try:
        sends.send((head + octets)[:1500])
    except OSError:
        pass
"""


@case("emulate", "20 000 garbage frames from a program of a node", "status 0; the recording replays the same", needs=EMULATION, trials=2)  # fmt: skip
def emulate_garbage(trial: Trial) -> None:
    script = trial.folder / "frames.py"
    script.write_text(FRAMES)
    trial.folder.chmod(0o755)
    program = f"{sys.executable} {script} {trial.draws.randrange(2**31)}"
    record = trial.folder / "recording"
    with Place() as place:
        programs = ("--exec", "n0", program)
        succeeds(place.command(emulate(trial, *programs, "--record", record, lag="30 s", duration="10 s")))
        begin = time.monotonic()
        succeeds(place.command(emulate(trial, "--replay", record, lag="30 s", duration="10 s")))
        trial.recovered(time.monotonic() - begin)
        check(not spaces(place), spaces(place))
