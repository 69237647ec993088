"""Real Linux hosts for studies: network namespaces, joined by veth or by the emulated radio.

What is measured there takes real time and differs from run to run.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

HOPCAST = f"{shlex.quote(sys.executable)} -m hopcast"
"""The command."""
TOOLS = ("ip", "ping")


def missing() -> str | None:
    """What real hosts need and this machine lacks."""
    if not sys.platform.startswith("linux"):
        return "real hosts need Linux"
    if os.geteuid() != 0:
        return "network namespaces need root"
    for tool in TOOLS:
        if shutil.which(tool) is None:
            return f"{tool} isn't installed"
    if not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode != 0:
        return "network namespaces are forbidden here"
    return None


def address(node: int) -> str:
    """The address of a host, as emulations give it."""
    return f"10.0.0.{node + 1}"


def router(node: int, interfaces: Sequence[str]) -> str:
    """The command of AODV at a host."""
    options = " ".join(f"--interface {name}" for name in interfaces)
    return f"{HOPCAST} node {options} --address {address(node)} --network 10.0.0.0/24 --log error"


@contextlib.contextmanager
def namespaces(links: Sequence[tuple[int, int]]) -> Iterator[list[str]]:
    """Hosts with these links between them, over veth; yields their names. Host a has the interface `to{b}` for its link
    to b.
    """
    count = 1 + max(max(ends) for ends in links)
    names = [f"study-{os.getpid()}-{time.monotonic_ns() % 10**9}-{node}" for node in range(count)]
    made: list[str] = []
    try:
        for name in names:
            _ip("netns", "add", name)
            made.append(name)
            _ip("-n", name, "link", "set", "lo", "up")
        for a, b in links:
            _ip("-n", names[a], "link", "add", f"to{b}", "type", "veth", "peer", "name", f"to{a}", "netns", names[b])
            for node, other in ((a, b), (b, a)):
                _ip("-n", names[node], "address", "add", f"{address(node)}/32", "dev", f"to{other}")
                _ip("-n", names[node], "link", "set", f"to{other}", "up")
        yield names
    finally:
        for name in made:
            _ip("netns", "delete", name)


@contextlib.contextmanager
def routed(links: Sequence[tuple[int, int]]) -> Iterator[list[str]]:
    """The same, with AODV at each host."""
    with namespaces(links) as names, contextlib.ExitStack() as started:
        for node, name in enumerate(names):
            interfaces = [f"to{b if a == node else a}" for a, b in links if node in (a, b)]
            process = subprocess.Popen(within(name, router(node, interfaces)), stderr=subprocess.DEVNULL)
            started.callback(_end, process)
        time.sleep(SETTLE_S)
        yield names


SETTLE_S = 4.0
"""Seconds in which routers exchange hellos before anything is sent."""


def within(name: str, command: str) -> list[str]:
    """A shell's command in a namespace, as arguments."""
    return ["ip", "netns", "exec", name, "sh", "-c", f"exec {command}"]


def emulated(scenario: str, programs: Sequence[tuple[str, str]], changes: Mapping[str, str], folder: Path) -> None:
    """Run programs at the real nodes of a scenario (TOML), with `changes` as of `--set`, until its end."""
    path = folder / "scenario.toml"
    path.write_text(scenario, encoding="utf-8")
    command = [sys.executable, "-m", "hopcast", "emulate", str(path)]
    for key, changed in changes.items():
        command += ["--set", f"{key}={changed}"]
    for node, program in programs:
        command += ["--exec", node, program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 0 and "measured" not in done.stdout and "frames from real hosts" not in done.stdout:
        raise RuntimeError(f"the emulation failed: {done.stderr.strip()[-500:]}")


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder for what programs write."""
    with tempfile.TemporaryDirectory(prefix="hopcast-study-") as folder:
        yield Path(folder)


def pinged(text: str) -> dict[int, float]:
    """Seconds until the answer to each ping, by its number from 1, from the output of `ping`."""
    answers: dict[int, float] = {}
    for number, milliseconds in re.findall(r"icmp_seq=(\d+) .*?time=([\d.]+) ms", text):
        answers.setdefault(int(number), float(milliseconds) / 1e3)
    return answers


def median(samples: Sequence[float]) -> float:
    """Median of what was measured; NaN if nothing was."""
    return statistics.median(samples) if samples else float("nan")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
