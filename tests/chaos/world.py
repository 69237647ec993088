"""What the cases work with: commands, namespaces, disks, clocks, and programs that send."""

from __future__ import annotations

import json
import os
import resource
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars

from case import FAKETIME, Broken, check

PATIENCE_S = 120.0
"""A command that takes longer hangs."""

# Commands are interrupted here, and ignore what they are started with ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)


def hopcast(*arguments: object) -> list[str]:
    """The command line as the arguments of a process."""
    return [sys.executable, "-m", "hopcast", *map(str, arguments)]


def finished(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end."""
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, **options)


def succeeds(command: list[str], **options: Any) -> float:
    """Runs a command that must succeed; how many seconds it took."""
    begin = time.monotonic()
    done = finished(command, **options)
    check(done.returncode == 0, command[2:], f"ended with {done.returncode}", done.stderr)
    return time.monotonic() - begin


@contextmanager
def started(command: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A command that runs, and is killed at the end if it still does."""
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | options
    process = subprocess.Popen(command, text=True, **options)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def told(process: subprocess.Popen[str], patience_s: float = PATIENCE_S) -> str:
    """Waits for the end of a command; what it said on standard error."""
    try:
        return process.communicate(timeout=patience_s)[1] or ""
    except subprocess.TimeoutExpired:
        raise Broken(f"{process.args!r} does not end within {patience_s:.0f} s") from None


def wait_until(what: str, patience_s: float, is_so: Callable[[], object]) -> float:
    """Waits for something; how many seconds that took."""
    begin = time.monotonic()
    while not is_so():
        if time.monotonic() - begin > patience_s:
            raise Broken(f"not within {patience_s:.0f} s: {what}")
        time.sleep(0.02)
    return time.monotonic() - begin


def pause(process: subprocess.Popen[str], seconds: float) -> None:
    """Stops a process for some time."""
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)


def memory(process: subprocess.Popen[str]) -> int:
    """Its resident memory in bytes."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    return 1024 * int(text.split("VmRSS:")[1].split()[0])


def address_space(octets: int) -> Callable[[], None]:
    """For `preexec_fn`: no more address space than that."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (octets, octets))


def peak_address_space(command: list[str]) -> int:
    """The most address space in bytes that a command had, if it is left alone."""
    peak = 0
    with started(command, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            with suppress(OSError, IndexError):
                text = Path(f"/proc/{process.pid}/status").read_text()
                peak = max(peak, 1024 * int(text.split("VmPeak:")[1].split()[0]))
            time.sleep(0.005)
    return peak


# --- files ---------------------------------------------------------------------------------------------------------


def names(folder: Path) -> list[str]:
    """The files of a folder that have got their names."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if is_named(path, folder))


def is_named(path: Path, folder: Path) -> bool:
    """Whether it is a file that has its name: drafts begin with a point."""
    return path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)


def check_whole(folder: Path) -> None:
    """Each file that has got its name can be read to its end."""
    for name in names(folder) if folder.exists() else []:
        path = folder / name
        try:
            if path.suffix == ".json":
                json.loads(path.read_text())
            elif path.suffix == ".parquet":
                polars.read_parquet(path)
            elif path.suffix == ".pcapng":
                check_capture(path.read_bytes())
            elif path.suffix == ".html":
                check(path.read_text().rstrip().endswith("</html>"), "no end")
            elif path.suffix == ".svg":
                check(path.read_text().rstrip().endswith("</svg>"), "no end")
        except Exception as error:
            raise Broken(f"{path} is not whole: {error}") from None


def check_capture(octets: bytes) -> None:
    """Blocks of pcapng follow each other up to the end (draft-ietf-opsawg-pcapng, section 3.1)."""
    place = 0
    while place < len(octets):
        (length,) = struct.unpack_from("<I", octets, place + 4)
        check(length >= 12 and place + length <= len(octets), f"a block at {place} is cut")
        check(struct.unpack_from("<I", octets, place + length - 4) == (length,), f"a block at {place} has no end")
        place += length


def contents(folder: Path) -> dict[str, Any]:
    """Files by name, without what a run cost."""
    return {name: content(folder / name) for name in names(folder)}


def content(path: Path) -> Any:
    """What a file says; of a result in JSON without its cost."""
    if path.suffix != ".json":
        return path.read_bytes()
    document = json.loads(path.read_text())
    if isinstance(document, dict):
        document.pop("cost", None)
    return document


def film(path: Path, seconds: int) -> bytes:
    """A transport stream of 2 Mb/s with a clock reference each 0.1 s, each of whose packets is another one."""
    each, octets, state = 133, bytearray(), 1
    for number in range(seconds * 10 * each + 1):
        packet = bytearray(188)
        packet[:6] = bytes([0x47, 1, 0, 0x30, 7, 0])
        state = (state * 1_664_525 + 1_013_904_223) % 2**32
        packet[12:20] = struct.pack(">II", state, number)
        if number % each == 0:
            ticks = number // each * 2_700_000
            packet[5] = 0x10
            packet[6:12] = struct.pack(">Q", ticks // 300 << 15 | 0x3F << 9 | ticks % 300)[2:]
        octets += packet
    path.write_bytes(octets)
    return bytes(octets)


# --- the clock -----------------------------------------------------------------------------------------------------


class SteppedClock:
    """A clock of the day that one process believes in. The machine's own is left alone."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self.step("+0")

    def step(self, offset: str) -> None:
        """Sets the clock, at once."""
        draft = self._file.with_suffix(".draft")
        draft.write_text(offset + "\n")
        draft.replace(self._file)

    def environment(self) -> dict[str, str]:
        """For the process. As when a real clock is stepped, CLOCK_MONOTONIC goes on."""
        return os.environ | {
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


# --- disks ---------------------------------------------------------------------------------------------------------


class Place:
    """A mount namespace, in which disks can be small and `/run` is empty."""

    def __enter__(self) -> Place:
        script = "mount -t tmpfs -o mode=755 tmpfs /run && echo ready && exec sleep 100000"
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script]
        self._holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._holder.stdout is not None
        check(self._holder.stdout.readline() == "ready\n", "no mount namespace")
        return self

    def __exit__(self, *_: object) -> None:
        self._holder.kill()
        self._holder.communicate()

    def command(self, command: list[str]) -> list[str]:
        """The command in this place; it keeps the number of the process that is started."""
        return ["nsenter", "--target", str(self._holder.pid), "--mount", "--", *command]

    def small_disk(self, folder: Path, octets: int) -> None:
        """Mounts an empty disk of this size at a folder."""
        folder.mkdir(exist_ok=True)
        options = f"mode=755,size={octets}"
        done = finished(self.command(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]))
        check(done.returncode == 0, done.stderr)

    def enlarge(self, folder: Path) -> None:
        """Gives the disk at a folder a gigabyte."""
        done = finished(self.command(["mount", "-o", "remount,size=1g", str(folder)]))
        check(done.returncode == 0, done.stderr)

    def outside(self, path: Path) -> Path:
        """Where a path of this place can be read from outside."""
        return Path(f"/proc/{self._holder.pid}/root{path}")


# --- networks ------------------------------------------------------------------------------------------------------


class Net:
    """Network namespaces in a line or a ring, each with one address on all its interfaces."""

    _made = 0

    def __init__(self, count: int, *, is_ring: bool = False) -> None:
        Net._made += 1
        self.spaces = [f"hopcast-chaos-{os.getpid()}-{Net._made}-{node}" for node in range(count)]
        self._links = [(node, (node + 1) % count) for node in range(count if is_ring else count - 1)]

    def __enter__(self) -> Net:
        try:
            for node, space in enumerate(self.spaces):
                run(["ip", "netns", "add", space])
                self.ip(node, "link set lo up")
            for left, right in self._links:
                self.connect(left, right)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for space in self.spaces:
            finished(["ip", "netns", "del", space])

    def connect(self, left: int, right: int) -> None:
        """Makes the link between two nodes: `to` and the number of the other node at each end."""
        peer = f"peer name to{left} netns {self.spaces[right]}"
        self.ip(left, f"link add to{right} type veth {peer}")
        for node, device in ((left, f"to{right}"), (right, f"to{left}")):
            # A prefix of the whole network where there is one way only.
            length = 24 if len(self.spaces) == 2 else 32
            self.ip(node, f"address add {address(node)}/{length} dev {device}")
            self.ip(node, f"link set {device} up")

    def interfaces(self, node: int) -> list[str]:
        """The interfaces of a node."""
        return [f"to{b if a == node else a}" for a, b in self._links if node in (a, b)]

    def ip(self, node: int, words: str) -> str:
        """What `ip` says in a namespace."""
        return run(["ip", "-n", self.spaces[node], *words.split()])

    def within(self, node: int, command: list[str]) -> list[str]:
        """A command in a namespace; it keeps the number of the process that is started."""
        return ["ip", "netns", "exec", self.spaces[node], *command]


def address(node: int) -> str:
    """The address of a node."""
    return f"10.0.0.{1 + node}"


def run(command: list[str]) -> str:
    """Runs a program that must succeed; what it says."""
    done = finished(command)
    check(done.returncode == 0, " ".join(command), done.stderr)
    return done.stdout


ECHO = """
import socket
answers = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
answers.bind(("0.0.0.0", 7))
while True:
    octets, source = answers.recvfrom(100)
    try:
        answers.sendto(octets, source)
    except OSError:
        pass
"""
ASK = """
import socket, sys, time
asks = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asks.settimeout(0.02)
while True:
    sent, until = time.monotonic(), time.monotonic() + 0.02
    print(sent, flush=True)
    try:
        asks.sendto(repr(sent).encode(), (sys.argv[1], 7))
        while (left := until - time.monotonic()) > 0:
            asks.settimeout(left)
            print(asks.recv(100).decode(), time.monotonic(), flush=True)
    except OSError:
        time.sleep(max(0.0, until - time.monotonic()))
"""
FLOOD = """
import os, random, socket, sys, time
draws, seconds, ports = random.Random(int(sys.argv[2])), float(sys.argv[3]), [int(port) for port in sys.argv[4].split(",")]
known = [bytes.fromhex(text) for text in sys.argv[5:]]
floods = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
floods.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
end, count = time.monotonic() + seconds, 0
while time.monotonic() < end:
    octets = bytearray(draws.choice(known)) if known and draws.random() < 0.5 else bytearray(draws.randbytes(draws.choice([1, 12, 24, 60, 200, 1400])))
    if draws.random() < 0.8:
        octets[draws.randrange(len(octets))] = draws.randrange(256)
    try:
        floods.sendto(octets, (sys.argv[1], draws.choice(ports)))
        count += 1
    except OSError:
        pass
    if count % 50 == 0:
        time.sleep(0.005)
print(count)
"""


class Traffic:
    """Packets from one node to another and back, 50 a second."""

    def __init__(self, net: Net, source: int, destination: int, folder: Path) -> None:
        self._file = folder / f"replies-{source}-{destination}"
        python = [sys.executable, "-c"]
        self._echo = subprocess.Popen(net.within(destination, [*python, ECHO]))
        with self._file.open("w") as file:
            self._ask = subprocess.Popen(net.within(source, [*python, ASK, address(destination)]), stdout=file)

    def __enter__(self) -> Traffic:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self._echo, self._ask):
            process.kill()
            process.wait()

    def returns(self, since: float, patience_s: float) -> float:
        """Waits for the first packet sent after an instant that comes back; how long after that instant it came."""
        found: list[tuple[float, float]] = []

        def has_come() -> bool:
            found[:] = [reply for reply in self._replies() if reply[0] >= since]
            return bool(found)

        wait_until("packets come back", patience_s, has_come)
        return found[0][1] - since

    def share(self, seconds: float) -> float:
        """The share of the packets sent in the next seconds that come back."""
        begin = time.monotonic()
        time.sleep(seconds)
        end = time.monotonic()
        time.sleep(0.3)
        sent = {float(words[0]) for words in self._lines() if len(words) == 1}
        sent = {at for at in sent if begin <= at < end}
        check(len(sent) > seconds, f"{len(sent)} packets were sent in {seconds} s")
        return len(sent & {at for at, _ in self._replies()}) / len(sent)

    def _replies(self) -> list[tuple[float, float]]:
        return [(float(words[0]), float(words[1])) for words in self._lines() if len(words) == 2]

    def _lines(self) -> list[list[str]]:
        # The last line may be on its way.
        return [line.split() for line in self._file.read_text().splitlines(keepends=True) if line.endswith("\n")]


def flood(net: Net, node: int, to: str, ports: str, draws: Any, seconds: float, *known: bytes) -> subprocess.Popen[str]:
    """Starts a neighbour that sends garbage, and changed copies of what is `known`, 10 000 datagrams a second at most."""
    arguments = [to, str(draws.randrange(2**31)), str(seconds), ports, *(octets.hex() for octets in known)]
    command = net.within(node, [sys.executable, "-c", FLOOD, *arguments])
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


SNIFF = """
import socket, struct, sys, time
ports, end = [int(port) for port in sys.argv[1].split(",")], time.monotonic() + float(sys.argv[2])
sees, found = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800)), set()
while (left := end - time.monotonic()) > 0:
    sees.settimeout(left)
    try:
        octets = sees.recv(2000)
    except OSError:
        break
    start = 4 * (octets[0] & 15)
    if octets[9] == 17 and struct.unpack_from(">H", octets, start + 2)[0] in ports:
        found.add(octets[start + 8:].hex())
print(*sorted(found)[:30])
"""


def overheard(net: Net, node: int, ports: str, seconds: float) -> list[bytes]:
    """Datagrams to these ports that a node sends or gets in some seconds."""
    words = run(net.within(node, [sys.executable, "-c", SNIFF, ports, str(seconds)])).split()
    return [bytes.fromhex(word) for word in words]
