"""`--record` of `hopcast stream`, `probe` and `cloud`: what they measure, as a recording and on the viewer's page."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_page import packages, run, tool

import hopcast
from hopcast.stream import rtp_packet

__all__ = ["packages"]  # a fixture

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live commands need Linux")

LOST, LATE, PAUSE, FRAMES = range(40, 45), range(60, 62), 90, 150
"""Numbers of frames that are never sent, that are sent 0.3 s later, before which nothing is sent for 1.5 s, and of all."""


def ports(count: int) -> list[int]:
    taken = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in taken:
        one.bind(("127.0.0.1", 0))
    found = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    return found


def play(port: int) -> None:
    """Send 25 frames of media per second to the sender's port."""
    schedule = []
    for number in range(FRAMES):
        due = number * 0.04 + (0.3 if number in LATE else 0.0) + (1.5 if number >= PAUSE else 0.0)
        packet = rtp_packet(
            bytes(500), sequence=number, timestamp=number * 3600, source=7, payload_type=96, marker=True
        )
        if number not in LOST:
            schedule.append((due, packet))
    began = time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as program:
        for due, packet in sorted(schedule):
            time.sleep(max(0.0, began + due - time.monotonic()))
            program.sendto(packet, ("127.0.0.1", port))


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """A folder with recordings of both ends, and the last lines of their statistics."""
    folder = tmp_path_factory.mktemp("stream")
    listen, source, program = ports(3)
    command = [sys.executable, "-m", "hopcast", "stream"]
    receiver = [*command, "receive", "--variant", "udp", "--listen", f"127.0.0.1:{listen}", "--json"]
    receiver += ["--jitter-buffer", "adaptive:20ms..500ms", "--output", f"rtp://127.0.0.1:{program}"]
    sender = [*command, "send", "--variant", "udp", "--to", f"127.0.0.1:{listen}", "--json"]
    sender += ["--input", f"rtp://127.0.0.1:{source}"]
    ends = []
    for name, arguments in (("receive", receiver), ("send", sender)):
        arguments += ["--record", str(folder / name)]
        ends.append(subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    time.sleep(1.5)
    play(source)
    time.sleep(1.0)
    lines: list[dict[str, Any]] = []
    for end in reversed(ends):
        # The sender tells the receiver that this was all.
        if not lines:
            end.send_signal(signal.SIGINT)
        out, errors = end.communicate(timeout=20)
        assert end.returncode == (0 if lines else 130), errors
        lines.append(json.loads(out.splitlines()[-1]))
    assert [line["event"] for line in lines] == ["end", "end"]
    return folder, lines[1], lines[0]


def test_frames_and_stalls_are_those_of_the_statistics(stream: Any) -> None:
    folder, received, _ = stream
    recording = hopcast.open_recording(folder / "receive")
    events = recording.events()
    fates = dict(events.filter(kind="media").group_by("fate").len().rows())
    reported = {name: received[f"frames_{name.replace(' ', '_')}"] for name in ("on time", "late", "lost")}
    assert fates == {name: count for name, count in reported.items() if count}
    # Packets that are missing one after the other are one frame for the receiver, which knows no more of them.
    assert min(reported.values()) >= 1
    assert reported["on time"] > FRAMES / 2
    stalls = events.filter(kind="stall")
    assert stalls.filter(fate="begins").height == received["hiccups"] > 0
    assert int(stalls["duration_ns"].sum()) / 1e9 == pytest.approx(received["stalled_s"], abs=1e-6)
    assert events["node"].unique().to_list() == ["receiver"]
    assert events["time_ns"].is_sorted()


def test_series_add_up_to_what_was_carried(stream: Any) -> None:
    folder, received, sent = stream
    for name, octets in (("receive", received["octets_delivered"]), ("send", sent["octets_sent"])):
        recording = hopcast.open_recording(folder / name)
        rate = recording.samples().filter(pl.col("series") == "rate")
        assert rate.height > 50
        lengths = rate["time_ns"].diff().fill_null(rate["time_ns"][0]) / 1e9
        assert (rate["value"] * lengths).sum() / 8 == pytest.approx(octets, rel=1e-6)


def test_the_page_shows_the_strip_and_no_map(packages: None, stream: Any, tmp_path: Path) -> None:
    folder, _, _ = stream
    browser = tool("chromium", "chromium-browser", "google-chrome")
    for name, series in (("receive", "interarrival jitter"), ("send", "queue")):
        page = tmp_path / f"{name}.html"
        subprocess.run([sys.executable, "-m", "hopcast", "view", str(folder / name), "--out", str(page)], check=True)
        seen = json.loads(run(tool("node"), str(Path(__file__).with_name("look.mjs")), browser, str(page)))
        assert seen["complaints"] == []
        assert seen["counts"] == hopcast.open_recording(folder / name).about["counts"]
        assert {"rate", series} <= set(seen["series"])
        assert seen["title"] == f"stream {name} measured"
        assert not seen["map"]
        assert seen["strip"] == (name == "receive")


def look(folder: Path, page: Path, *options: str) -> dict[str, Any]:
    """What a browser shows of a recording."""
    browser = tool("chromium", "chromium-browser", "google-chrome")
    command = [sys.executable, "-m", "hopcast", "view", str(folder), "--out", str(page), *options]
    subprocess.run(command, check=True)
    seen = json.loads(run(tool("node"), str(Path(__file__).with_name("look.mjs")), browser, str(page)))
    assert seen["complaints"] == []
    assert not seen["map"]
    return dict(seen)


def test_a_probe_over_a_relay_on_the_page_and_as_tables(packages: None, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hopcast", "probe"]
    hosts, addresses = [], []
    for part in ("receive", "relay"):
        arguments = [*command, part, "--listen", "127.0.0.1:0", "--record", str(tmp_path / part)]
        hosts.append(subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True))
        assert hosts[-1].stderr is not None
        addresses.append(hosts[-1].stderr.readline().removeprefix("hopcast: listening at ").strip())
    to, via = addresses
    plan = ["--to", to, "--via", via, "--size", "1 kB", "--wait", "2 ms", "--bytes", "1 MB", "--json"]
    done = subprocess.run(
        [*command, "send", *plan, "--record", str(tmp_path / "send")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    flow = json.loads(done.stdout)["flows"][0]
    for host in hosts:
        host.send_signal(signal.SIGINT)
        host.communicate(timeout=20)
        assert host.returncode == 130

    received = hopcast.open_recording(tmp_path / "receive")
    events = received.events()
    assert dict(events.group_by("kind").len().rows()) == {"send": 1000, "deliver": 1000}
    delivered = events.filter(kind="deliver")
    assert delivered["node"].unique().to_list() == ["here"]
    assert delivered["value"].mean() == pytest.approx(flow["delay_mean_s"] * 1e6, abs=5)
    # Each unit was sent its delay before it came.
    sent = events.filter(kind="send").sort("value")
    assert sent["value"].to_list() == list(range(1000))
    assert delivered["size_bytes"].sum() == flow["received_bytes"]
    samples = hopcast.open_recording(tmp_path / "send").samples()
    last = samples.group_by("series", "node").last()
    for name, node in (("sent", "here"), ("received", via), ("sent", via), ("received", to)):
        assert last.filter(series=name, node=node)["value"].to_list() == [1000]
    assert last.filter(series="lost on the path")["value"].to_list() == [0]
    for part, series in (("receive", "one-way delay"), ("relay", "units held"), ("send", "missing before")):
        seen = look(tmp_path / part, tmp_path / f"{part}.html")
        assert seen["title"] == f"probe {part} measured"
        assert series in seen["series"]
        assert not seen["strip"]
        assert seen["counts"] == hopcast.open_recording(tmp_path / part).about["counts"]


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


@pytest.fixture
def two_hosts() -> Iterator[list[str]]:
    """Two network namespaces with a wire between their devices `wire`, whose addresses are 10.0.0.1 and 10.0.0.2."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        assert os.environ.get("HOPCAST_REQUIRE_TOOLS") != "1", "root or iproute2 is missing"
        pytest.skip("root or iproute2 is missing")
    names = [f"hopcast-record-{os.getpid()}-{end}" for end in range(2)]
    try:
        for name in names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        near = ["link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", names[1]]
        ip("-n", names[0], *near)
        for end, name in enumerate(names):
            ip("-n", name, "address", "add", f"10.0.0.{1 + end}/24", "dev", "wire")
            ip("-n", name, "link", "set", "wire", "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False)


@pytest.mark.xdist_group("network")
def test_a_cloud_on_the_page_and_as_tables(packages: None, two_hosts: list[str], tmp_path: Path) -> None:
    (tmp_path / "film.bin").write_bytes(bytes(range(256)) * 3000)

    def command(host: str, *arguments: str) -> list[str]:
        return ["ip", "netns", "exec", host, sys.executable, "-m", "hopcast", "cloud", *arguments]

    devices: list[subprocess.Popen[bytes]] = []
    options = ["--open", "--interface", "wire", "--admission", "all", "--log", "warn"]
    for host, more in zip(two_hosts, ([], ["--offer", f"1 Mb/s={tmp_path / 'film.bin'}"]), strict=True):
        record = ["--record", str(tmp_path / f"device-{len(devices)}")]
        devices.append(subprocess.Popen(command(host, "serve", *options, *more, *record)))
    try:
        clips: list[Any] = []
        while not clips:
            time.sleep(0.5)
            listed = subprocess.run(command(two_hosts[0], "list", "--json"), capture_output=True, text=True)
            clips = json.loads(listed.stdout)["clips"] if listed.returncode == 0 else []
        play = command(two_hosts[0], "play", "film", "--record", str(tmp_path / "play"))
        done = subprocess.run(play, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout) == 768_000
    finally:
        for device in devices:
            device.send_signal(signal.SIGINT)
            device.wait(timeout=20)
    events = hopcast.open_recording(tmp_path / "device-0").events()
    media = events.filter(kind="receive", frame_type="media")
    # 584 packets, of which some may have come twice; the type, the stream and the neighbour of each are known.
    assert media.height >= 584
    assert media["flow"].unique().to_list() == ["film.bin for 10.0.0.1 number 0"]
    assert media["peer"].unique().to_list() == ["10.0.0.2"]
    assert {"probe", "reserve", "feedback", "release"} <= set(events.filter(kind="transmit")["frame_type"])
    shown = hopcast.open_recording(tmp_path / "device-0").samples().filter(series="shown")
    assert max(shown["value"].to_list()) == pytest.approx(6.144, abs=0.2)
    played = hopcast.open_recording(tmp_path / "play")
    assert played.events().filter(kind="deliver")["size_bytes"].sum() == 768_000
    assert played.events().filter(kind="deliver")["value"].unique().to_list() == [None]
    buffer = played.samples().filter(series="buffer")["value"]
    assert 0.5 < max(buffer.to_list()) < 6.2
    for name, title, series in (
        ("device-0", "cloud serve", "buffer"),
        ("device-1", "cloud serve", "reserved airtime"),
        ("play", "cloud play", "shown"),
    ):
        seen = look(tmp_path / name, tmp_path / f"{name}.html")
        assert seen["title"] == f"{title} measured"
        assert series in seen["series"]
        assert seen["counts"] == hopcast.open_recording(tmp_path / name).about["counts"]


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    command = [sys.executable, "-m", "hopcast", "stream", "receive", "--listen", "127.0.0.1:0", "--output", "/dev/null"]
    done = subprocess.run([*command, "--record", str(tmp_path / "file")], capture_output=True, text=True, timeout=20)
    assert done.returncode == 2
    assert str(tmp_path / "file") in done.stderr
