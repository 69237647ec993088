"""`hopcast emulate --view`: the page of an emulation while it runs, in a headless browser. Skipped, and said so, without root."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from test_page import ROOT, packages, run, tool

__all__ = ["packages"]  # a fixture

WANTED = (
    None if sys.platform == "linux" and os.geteuid() == 0 and Path("/dev/net/tun").exists() else "root or a TUN device"
)
if os.environ.get("HOPCAST_REQUIRE_TOOLS") == "1":
    assert WANTED is None, f"HOPCAST_REQUIRE_TOOLS is set, but {WANTED} is missing"
pytestmark = [pytest.mark.skipif(WANTED is not None, reason=f"{WANTED} is missing"), pytest.mark.xdist_group("network")]

PAIR = str(ROOT / "examples" / "pair.toml")
LAG = ("--set", "emulation.lag_limit=2 s")
PING = "ping -c {count} -i 0.02 -s 1000 10.0.0.2"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "hopcast", "emulate", *arguments]


@contextmanager
def emulation(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """An emulation that runs, and the address of its page."""
    running = subprocess.Popen(
        command(PAIR, "--view", "--json", *LAG, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert running.stderr is not None
        for line in running.stderr:
            if found := re.match(r"(http://127\.0\.0\.1:\d+/) shows the emulation while it runs", line):
                yield running, found[1]
                break
        else:
            pytest.fail("it told no address")
    finally:
        if running.poll() is None:
            running.kill()
            running.wait()
            subprocess.run(command("--clean"), check=True, capture_output=True)
        for pipe in (running.stdout, running.stderr):
            assert pipe is not None
            pipe.close()


def result(running: subprocess.Popen[str]) -> dict[str, Any]:
    out, errors = running.communicate(timeout=60)
    assert running.returncode == 0, errors
    answer: dict[str, Any] = json.loads(out)
    return answer


@pytest.fixture(scope="module")
def run_and_seen(
    packages: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """Results of an emulation, what its recording says, and what a browser saw of it."""
    browser, out = tool("chromium", "chromium-browser", "google-chrome"), tmp_path_factory.mktemp("live")
    ping = PING.format(count=1000)
    with emulation("--out", str(out), "--events", "--exec", "n0", ping) as (running, address):
        seen = json.loads(run(tool("node"), str(Path(__file__).with_name("live.mjs")), browser, address))
        answer = result(running)
    (about,) = (out / "recording").glob("*/recording.json")
    return answer, json.loads(about.read_text()), seen


def test_the_page_counts_what_the_emulation_counts(run_and_seen: Any) -> None:
    answer, about, seen = run_and_seen
    assert seen["last"]["counts"] == about["counts"]
    assert seen["last"]["counts"]["transmit"] == answer["totals"]["frames_sent"] > 2000
    assert seen["last"]["missed"] == 0
    assert seen["last"]["events"] == seen["last"]["kept"] == about["events"]
    assert seen["last"]["end"] == about["duration_ns"]
    assert [node["node"] for node in seen["positions"]] == ["n0", "n1"]


def test_the_page_complains_of_nothing_and_asks_only_the_emulation(run_and_seen: Any) -> None:
    _, _, seen = run_and_seen
    assert seen["complaints"] == []
    address = seen["requests"][0]
    assert all(request.startswith((address, "data:")) for request in seen["requests"])
    assert seen["overflow"] <= 0


def test_the_page_follows_and_pauses(run_and_seen: Any) -> None:
    _, _, seen = run_and_seen
    first, second = seen["first"], seen["second"]
    assert first["following"]
    assert second["time"] == second["end"] == second["view"]["to"]
    assert second["time"] - first["time"] > 2e8
    assert second["counts"]["transmit"] > first["counts"]["transmit"]
    assert "live" in seen["status"]
    for name in ("time", "view", "end", "events"):
        assert seen["still"][name] == seen["paused"][name]
    assert seen["pressed"] == "false"
    # Meanwhile it goes on to count.
    assert seen["still"]["counts"]["transmit"] > seen["paused"]["counts"]["transmit"]
    assert seen["again"]["end"] > seen["paused"]["end"]
    assert seen["moving"]["time"] > seen["again"]["time"]
    width = [seen[name]["view"]["to"] - seen[name]["view"]["from"] for name in ("moving", "wheeled")]
    assert width[1] < 0.7 * width[0]
    assert seen["wheeled"]["following"]
    assert seen["wheeled"]["view"]["to"] == seen["wheeled"]["end"]
    assert not seen["dragged"]["following"]
    assert "is over" in seen["end"]


def test_without_root_the_page_is_on_the_loopback_of_the_machine(packages: None, tmp_path: Path) -> None:
    browser, ping = tool("chromium", "chromium-browser", "google-chrome"), PING.format(count=1000)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with emulation("--rootless", "--view-port", str(port), "--exec", "n0", ping) as (running, address):
        assert address == f"http://127.0.0.1:{port}/"
        with pytest.raises(HTTPError, match="403"):
            urlopen(Request(address, headers={"Host": f"example.com:{port}"}), timeout=5)
        seen = json.loads(run(tool("node"), str(Path(__file__).with_name("live.mjs")), browser, address))
        answer = result(running)
    assert seen["complaints"] == []
    assert seen["last"]["counts"]["transmit"] == answer["totals"]["frames_sent"] > 2000
    assert seen["last"]["missed"] == 0


def test_a_replay_keeps_the_pace_and_the_page_follows(packages: None, tmp_path: Path) -> None:
    recorded = tmp_path / "frames"
    arguments = [PAIR, "--json", *LAG, "--record", str(recorded), "--exec", "n0", PING.format(count=500)]
    first = subprocess.run(command(*arguments), capture_output=True, text=True, check=True)
    browser = tool("chromium", "chromium-browser", "google-chrome")
    with emulation("--replay", str(recorded), "--out", str(tmp_path / "out"), "--events") as (running, address):
        began = time.monotonic()
        seen = json.loads(run(tool("node"), str(Path(__file__).with_name("live.mjs")), browser, address))
        answer = result(running)
        took = time.monotonic() - began
    (about,) = (tmp_path / "out" / "recording").glob("*/recording.json")
    described = json.loads(about.read_text())
    assert answer["totals"] == json.loads(first.stdout)["totals"]
    assert seen["complaints"] == []
    assert seen["last"]["counts"] == described["counts"]
    assert seen["last"]["missed"] == 0
    assert seen["first"]["following"]
    # As long as the emulation, up to what the browser needed at the start.
    assert took > described["duration_ns"] / 1e9 - 1.0


def test_ctrl_c_ends_a_replay_that_a_page_follows(tmp_path: Path) -> None:
    recorded = tmp_path / "frames"
    arguments = [PAIR, "--json", *LAG, "--record", str(recorded), "--exec", "n0", PING.format(count=200)]
    subprocess.run(command(*arguments), capture_output=True, check=True)
    with emulation("--replay", str(recorded)) as (running, address):
        assert json.loads(urlopen(address + "recording.json", timeout=5).read())["live"]
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=10)
    assert running.returncode == 130
    assert json.loads(out)["totals"], "what was replayed until then is told"


def test_silent_and_vanished_browsers_stop_nothing(tmp_path: Path) -> None:
    with emulation("--exec", "n0", PING.format(count=150)) as (running, address):
        port = int(address.rsplit(":", 1)[1].rstrip("/"))
        silent = []
        for number in range(40):
            one = socket.create_connection(("127.0.0.1", port))
            # Some say nothing, some read nothing.
            if number % 2:
                one.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            silent.append(one)
        for one in silent[:10]:
            one.close()
        answer = result(running)
        for one in silent[10:]:
            one.close()
    assert answer["emulation"]["programs"][0]["status"] == 0, "every ping was answered"


def test_ctrl_c_ends_both_and_the_page_is_told() -> None:
    with emulation("--forever") as (running, address):
        asked = json.loads(urlopen(address + "recording.json", timeout=5).read())
        assert asked["live"]["run"]
        urlopen(address + "live?from=0&page=1", timeout=5).read()
        running.send_signal(signal.SIGINT)
        began, is_over = time.monotonic(), False
        while not is_over:
            body = urlopen(address + "live?from=0&page=1", timeout=5).read()
            is_over = json.loads(body[4 : 4 + int.from_bytes(body[:4], "little")])["over"]
        assert result(running)
        assert time.monotonic() - began < 5
    with pytest.raises(OSError, match="refused"):
        urlopen(address, timeout=5)


def test_a_page_of_another_site_reads_nothing() -> None:
    with emulation("--forever") as (running, address):
        port = address.rsplit(":", 1)[1].rstrip("/")
        for target in ("", "recording.json", "live?from=0"):
            with pytest.raises(HTTPError, match="403"):
                urlopen(Request(address + target, headers={"Host": f"example.com:{port}"}), timeout=5)
        running.send_signal(signal.SIGTERM)
        result(running)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--view-port", "8000"), "--view"),
        (("--view", "--replay", "nowhere"), "nowhere"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments: tuple[str, ...], said: str) -> None:
    done = subprocess.run(command(PAIR, *arguments), capture_output=True, text=True)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(command(PAIR, "--view", "--view-port", port), capture_output=True, text=True)
    assert done.returncode == 2
    assert "--view: can't listen there" in done.stderr
