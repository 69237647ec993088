"""Models written in Python where real hosts take part: in an emulation and in the router. Skipped, and said so, without root."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import ROOT, Hopcast


def missing() -> str | None:
    if sys.platform != "linux" or os.geteuid() != 0:
        return "root's rights"
    if not Path("/dev/net/tun").exists():
        return "/dev/net/tun"
    return next((tool for tool in ("ip",) if shutil.which(tool) is None), None)


WANTED = missing()
if os.environ.get("HOPCAST_REQUIRE_TOOLS") == "1":
    assert WANTED is None, f"HOPCAST_REQUIRE_TOOLS is set, but {WANTED} is missing"
pytestmark = [pytest.mark.skipif(WANTED is not None, reason=f"{WANTED} is missing"), pytest.mark.xdist_group("network")]

SCENARIO = """
duration = "20 s"
emulation = { lag_limit = "2 s" }
[radio]
standard = "802.11a"
propagation = { model = "custom", name = "disc", parameters = { radius = 120 } }
errors = { model = "custom", name = "some", parameters = { share = 0.0 } }
[[nodes]]
name = "r"
real = true
placement = { shape = "points", at = [["0 m", "0 m"]] }
[[nodes]]
name = "s"
placement = { shape = "points", at = [["50 m", "0 m"]] }
[[flows]]
name = "requests"
from = "r"
to = "s"
transport = { protocol = "udp" }
application = { kind = "bulk" }
[[flows]]
name = "readings"
from = "s"
to = "r"
listens_to = "requests"
transport = { protocol = "udp" }
application = { kind = "custom", name = "sensor", parameters = { size = 123 } }
"""

MODELS = '''
import hopcast
from hopcast.error_model import ErrorModel
from hopcast.extensions import load
from hopcast.propagation import Propagation


class Disc(Propagation):
    """The same within a radius in metres, nothing beyond."""

    def __init__(self, frequency, *, radius):
        self.radius = radius

    def gain(self, sender, receiver):
        return 1e-6 if sender.distance(receiver) <= self.radius else 0.0

    def reach(self, gain):
        return float("inf") if gain == 0.0 else self.radius if gain <= 1e-6 else 0.0


class Some(ErrorModel):
    """Loses this share; the hundredth frame is one too many if there are so many."""

    def __init__(self, streams, *, share):
        self.share = share

    def loss(self, frame):
        if self.share > 1:
            raise ArithmeticError(f"a share of {self.share}")
        return self.share


EXTENSIONS = hopcast.Extensions(errors={"some": Some}, propagation={"disc": Disc}) | load("EXAMPLE")
'''.replace("EXAMPLE", str(ROOT / "examples" / "sensor_poll.py"))

PROGRAM = """
import socket
host = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
host.bind(("", 49152))
host.settimeout(5)
for poll in range(5):
    host.sendto(bytes(20), ("10.0.0.2", 49152))
    print("reading", len(host.recv(2000)))
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("scenario.toml", SCENARIO), ("models.py", MODELS), ("program.py", PROGRAM)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def emulate(hopcast: Hopcast, files: Path, *more: str) -> subprocess.CompletedProcess[str]:
    models = ("--extension", str(files / "models.py"))
    return hopcast("emulate", str(files / "scenario.toml"), *models, "--json", *more)


def test_an_emulation_runs_models_in_python_and_can_be_replayed(hopcast: Hopcast, files: Path) -> None:
    record = str(files / "recording")
    program = f"{sys.executable} {files / 'program.py'}"
    done = emulate(hopcast, files, "--exec", "r", program, "--record", record)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("reading 123") == 5
    live = json.loads(done.stdout)
    requests, readings = live["flows"]
    assert (requests["received_packets"], requests["received_bytes"]) == (5, 100)
    assert (readings["sent_packets"], readings["received_bytes"]) == (5, 5 * 123)
    again = emulate(hopcast, files, "--replay", record)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["flows"] == live["flows"]
    # The models decide: out of reach, nothing arrives.
    far = emulate(hopcast, files, "--exec", "r", program, "--set", "radio.propagation.parameters.radius=20")
    assert "TimeoutError" in far.stderr
    assert json.loads(far.stdout)["flows"][0]["received_packets"] == 0


def test_an_exception_of_a_model_ends_the_emulation(hopcast: Hopcast, files: Path) -> None:
    start = time.monotonic()
    lossy = ("--set", "radio.errors.parameters.share=2")
    done = emulate(hopcast, files, "--exec", "r", f"{sys.executable} {files / 'program.py'}", *lossy)
    assert time.monotonic() - start < 15
    assert done.returncode == 1
    assert "hopcast: an error model raised ArithmeticError: a share of 2 (" in done.stderr
    assert "models.py, line " in done.stderr
    # What was measured is told all the same.
    assert "flows" in json.loads(done.stdout)


def test_wrong_extensions_are_told_before_anything_runs(hopcast: Hopcast, files: Path) -> None:
    for text, told in (
        ("x = 1", "EXTENSIONS is None; expected a hopcast.Extensions"),
        ("raise ArithmeticError('no')", "models.py:1: ArithmeticError: no"),
    ):
        (files / "models.py").write_text(text, encoding="utf-8")
        done = emulate(hopcast, files)
        assert done.returncode == 2
        assert told in done.stderr
    done = hopcast("emulate", str(files / "scenario.toml"))
    assert done.returncode == 2
    assert "there is no propagation model of this name" in done.stderr


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def until(what: str, is_so: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.1)


@pytest.fixture
def string() -> Iterator[list[str]]:
    """Three namespaces in a row, with the addresses 10.0.0.1 to 10.0.0.3."""
    names = [f"hopcast-models-{os.getpid()}-{node}" for node in range(3)]
    try:
        for name in names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        for node in range(2):
            ip(
                "-n",
                names[node],
                "link",
                "add",
                f"r{node}",
                "type",
                "veth",
                "peer",
                f"l{node + 1}",
                "netns",
                names[node + 1],
            )
            for here, device in ((node, f"r{node}"), (node + 1, f"l{node + 1}")):
                ip("-n", names[here], "address", "add", f"10.0.0.{here + 1}/32", "dev", device)
                ip("-n", names[here], "link", "set", device, "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False)


INTERFACES = (("r0",), ("l1", "r1"), ("l2",))


def node(name: str, interfaces: tuple[str, ...], *more: str) -> subprocess.Popen[str]:
    command = ["ip", "netns", "exec", name, sys.executable, "-m", "hopcast", "node", "--network", "10.0.0.0/24", *more]
    for interface in interfaces:
        command += ["--interface", interface]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def test_the_router_runs_a_protocol_in_python(string: list[str], tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run([sys.executable, "-m", "hopcast", "key", str(key)], check=True)
    example = str(ROOT / "examples" / "link_state.py")
    options = (
        "--extension",
        example,
        "--protocol",
        "link-state",
        "--parameters",
        "{ interval = 0.2 }",
        "--key",
        str(key),
    )
    routers = [node(name, interfaces, *options) for name, interfaces in zip(string, INTERFACES, strict=True)]

    def far_is_reached() -> bool:
        # Nobody listens there: the host is reached if it says so.
        knock = "import socket; socket.create_connection(('10.0.0.3', 9), 1)"
        knocked = ["ip", "netns", "exec", string[0], sys.executable, "-c", knock]
        return "ConnectionRefusedError" in subprocess.run(knocked, capture_output=True, text=True, check=False).stderr

    try:
        until("the far node is reached", far_is_reached)
        status = subprocess.run(
            ["ip", "netns", "exec", string[0], sys.executable, "-m", "hopcast", "node", "status", "--json"],
            check=True,
            capture_output=True,
            text=True,
        )
        told = json.loads(status.stdout)
        assert told["protocol"] == "link-state"
        routes = {route["destination"]: (route["next_hop"], route["hops"]) for route in told["routes"]}
        assert routes == {"10.0.0.2": ("10.0.0.2", 1), "10.0.0.3": ("10.0.0.2", 2)}
        assert all(route["installed"] for route in told["routes"])
    finally:
        for router in routers:
            router.send_signal(signal.SIGTERM)
        ends = [router.communicate(timeout=30) for router in routers]
    assert [router.returncode for router in routers] == [0, 0, 0], ends


FAULTY = """
import hopcast
from hopcast import routing


class Faulty(routing.Routing):
    encapsulation = routing.Udp(1022)

    def handle_packet(self, packet, now):
        return routing.Drop()

    def handle_message(self, packet, now):
        pass

    def handle_link_event(self, event, now):
        return routing.Drop()

    def handle_timeout(self, now):
        raise ArithmeticError("at last")

    def poll_timeout(self):
        return 0.5

    def next_hop(self, destination, now):
        return None


class Bare(Faulty):
    encapsulation = routing.Ip(253)


EXTENSIONS = hopcast.Extensions(routing={"faulty": Faulty, "bare": Bare})
"""


def test_the_router_ends_with_its_protocol_and_refuses_what_it_cannot_run(string: list[str], tmp_path: Path) -> None:
    (tmp_path / "faulty.py").write_text(FAULTY, encoding="utf-8")
    extension = ("--extension", str(tmp_path / "faulty.py"))
    for options, status, told in (
        (("--protocol", "faulty"), 1, "a routing protocol raised ArithmeticError: at last ("),
        (("--protocol", "bare"), 2, "its messages don't travel in UDP"),
        (("--protocol", "faulti"), 2, 'there are "aodv", "dsdv", "olsr", "bare", "faulty"'),
        (("--protocol", "faulty", "--parameters", "{ x = 1 }"), 2, "unexpected keyword argument 'x'"),
        (("--protocol", "aodv", "--parameters", "{ x = 1 }"), 2, '"aodv" takes none'),
    ):
        router = node(string[0], ("r0",), *extension, *options)
        _, stderr = router.communicate(timeout=30)
        assert router.returncode == status, stderr
        assert told in stderr
