"""The dictionary of results has every field that the live commands print."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import polars
import pytest

from conftest import Hopcast
from declared import check
from hopcast.fields import FIELDS, schemas
from hopcast.stored import open_run

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="live commands need Linux"),
    pytest.mark.xdist_group("network"),
]
AS_ROOT = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or not Path("/dev/net/tun").exists(),
    reason="root's rights or /dev/net/tun are missing",
)

SCENARIO = """
duration = "1 s"
emulation = { lag_limit = "2 s" }
[radio]
standard = "802.11a"
[[nodes]]
name = "n"
count = 2
real = true
placement = { shape = "line", spacing = "20 m" }
"""


def joined(name: str) -> dict[str, Any]:
    """The schema of `run.json` with what a live command adds."""
    known = schemas()
    run, added = deepcopy(known["run"]), known[name]["properties"]
    for field, schema in added.items():
        table = run["properties"].setdefault(field, schema)
        for below in ("properties", "items"):
            if below == "items" and below in schema:
                table["items"]["properties"] |= schema["items"]["properties"]
            elif below in schema:
                table["properties"] |= schema["properties"]
    return run


@contextmanager
def running(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command and the address at which it says that it listens."""
    command = [sys.executable, "-m", "hopcast", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        stream = process.stdout if "--json" in arguments else process.stderr
        assert stream is not None
        found = re.search(r"127\.0\.0\.1:\d+", stream.readline())
        assert found
        yield process, found[0]
    finally:
        process.terminate()
        process.wait(10)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def test_every_field_of_a_stream_is_declared(hopcast: Hopcast, tmp_path: Path) -> None:
    known = schemas()
    media, out = tmp_path / "media.ts", tmp_path / "out.ts"
    null = b"\x47\x1f\xff\x10" + bytes(184)
    media.write_bytes(null * 700)
    with running("stream", "receive", "--json", "--listen", "127.0.0.1:0", "--output", str(out)) as (receiver, address):
        sent = hopcast("stream", "send", "--json", "--to", address, "--input", str(media))
        assert sent.returncode == 0, sent.stderr
        received, _ = receiver.communicate(timeout=20)
    for lines, name in ((sent.stdout, "stream_send"), (received, "stream_receive")):
        records = [json.loads(line) for line in lines.splitlines()]
        assert records[-1]["event"] == "end"
        assert any(record["event"] == "connected" for record in records)
        for record in records:
            check(record, known[name if record["event"] in ("statistics", "end") else "stream_event"])


def test_every_field_of_a_device_and_of_a_play_is_declared(hopcast: Hopcast, tmp_path: Path) -> None:
    known = schemas()
    media, out = tmp_path / "film.bin", tmp_path / "out.bin"
    media.write_bytes(bytes(range(256)) * 400)
    serve = ("cloud", "serve", "--interface", "lo", "--open", "--offer", f"1 Mb/s={media}")
    device = subprocess.Popen([sys.executable, "-m", "hopcast", *serve], stderr=subprocess.PIPE)
    try:
        for _ in range(100):
            status = hopcast("cloud", "status", "--json")
            if status.returncode == 0:
                break
            time.sleep(0.1)
        played = hopcast("cloud", "play", "film", "--output", str(out), "--json")
        assert played.returncode == 0, played.stderr
        assert out.read_bytes() == media.read_bytes()
        status, listed = hopcast("cloud", "status", "--json"), hopcast("cloud", "list", "--json")
        document = json.loads(status.stdout)
        assert [play["outcome"] for play in document["plays"]] == ["completed"]
        assert json.loads(listed.stdout)["clips"] == document["clips"]
        check(document, known["cloud"])
        check(json.loads(played.stdout), known["cloud_play"])
    finally:
        device.terminate()
        device.communicate(timeout=10)


@pytest.mark.parametrize("repetitions", ["1", "2"])
def test_every_field_of_a_measurement_is_declared(hopcast: Hopcast, repetitions: str) -> None:
    with running("probe", "receive", "--listen", "127.0.0.1:0") as (_, address):
        done = hopcast(
            "probe", "send", "--json", "--to", address, "--bytes", "50kB", "--size", "1kB", "--repetitions", repetitions
        )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["flows"][0]["received_packets"] > 0
    check(document, joined("probe"))


@AS_ROOT
def test_every_field_of_an_emulation_is_declared(hopcast: Hopcast, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    ping = f"{sys.executable} -c \"import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('10.0.0.2', 9))\""
    done = hopcast("emulate", str(scenario), "--json", "--out", str(tmp_path / "out"), "--exec", "n0", ping)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["emulation"]["programs"][0]["status"] == 0
    assert [one["to_port"] for one in document["conversations"] if one["protocol"] == "udp"] == [9]
    check(document, joined("emulate"))
    read = open_run(tmp_path / "out")
    for name in ("conversations", "rtp", "conversation_series"):
        assert sorted(getattr(read, name).columns) == sorted(FIELDS[name]), name
    row = read.conversations.filter(polars.col("to_port") == 9).row(0, named=True)
    [one] = [one for one in document["conversations"] if one["to_port"] == 9]
    assert {name: row[name] for name in one.keys() & row.keys()} == {
        name: one[name] for name in one.keys() & row.keys()
    }
    causes = [name for name in row if name.startswith("drop_")]
    assert sum(row[name] for name in causes) + row["held_packets"] == row["lost_packets"]


@AS_ROOT
def test_every_field_of_a_router_is_declared(hopcast: Hopcast) -> None:
    space = f"hopcast-fields-{os.getpid()}"
    for command in (
        f"ip netns add {space}",
        f"ip -n {space} link add d0 type veth peer name d1",
        f"ip -n {space} address add 10.9.0.1/24 dev d0",
        f"ip -n {space} link set d0 up",
        f"ip -n {space} link set d1 up",
    ):
        subprocess.run(command.split(), check=True)
    inside = ["ip", "netns", "exec", space, sys.executable, "-m", "hopcast", "node"]
    router = subprocess.Popen([*inside, "--interface", "d0"], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 10
        while (asked := subprocess.run([*inside, "status", "--json"], capture_output=True, check=False)).returncode:
            assert time.monotonic() < end, asked.stderr
            time.sleep(0.1)
        status = json.loads(asked.stdout)
        check(status, schemas()["node"])
        assert set(status["counters"]) == {
            name.removeprefix("counters.") for name in FIELDS["node"] if name.startswith("counters.")
        }
        assert "`no-address`:" in FIELDS["node"]["interfaces[].state"].meaning
    finally:
        router.terminate()
        router.wait(10)
        subprocess.run(["ip", "netns", "delete", space], check=True)
