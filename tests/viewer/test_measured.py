"""`hopcast stream --record`: a stream between programs, as a recording and on the viewer's page."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
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


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    command = [sys.executable, "-m", "hopcast", "stream", "receive", "--listen", "127.0.0.1:0", "--output", "/dev/null"]
    done = subprocess.run([*command, "--record", str(tmp_path / "file")], capture_output=True, text=True, timeout=20)
    assert done.returncode == 2
    assert str(tmp_path / "file") in done.stderr
