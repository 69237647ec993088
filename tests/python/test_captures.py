"""What the command line captures, read by tshark: nothing malformed, and the goodput that anyone can count from it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Hopcast

CHECKED = [f"-o{layer}.check_checksum:TRUE" for layer in ("wlan", "ip", "udp", "tcp")]
BAD = "_ws.malformed || _ws.expert.severity == error || wlan.fcs.status == 0 || ip.checksum.status == 0"


@pytest.fixture
def captured(hopcast: Hopcast, file: Path, tmp_path: Path) -> Path:
    """A folder with a run and its captures, written from another working directory by a relative path."""
    if shutil.which("tshark") is None:
        assert "HOPCAST_REQUIRE_TOOLS" not in os.environ, "tshark is not installed"
        pytest.skip("tshark is not installed")
    done = hopcast("run", file, "--out", "here/captured", "--pcap", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "here" / "captured" / "run.json").read_text()) == json.loads(done.stdout)
    return tmp_path / "here" / "captured"


def tshark(capture: Path, *arguments: str) -> list[list[str]]:
    """The lines that tshark prints, split at tabs."""
    command = ["tshark", "-n", *CHECKED, "-r", str(capture), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def fields(*names: str) -> list[str]:
    return ["-T", "fields", *(part for name in names for part in ("-e", name))]


def test_no_packet_is_malformed(captured: Path) -> None:
    captures = sorted(captured.glob("*.pcapng"))
    assert [capture.name for capture in captures] == ["n0.pcapng", "n1.pcapng", "n2.pcapng"]
    for capture in captures:
        assert len(tshark(capture)) > 100
        assert tshark(capture, "-Y", BAD) == []


def test_goodput_counted_from_a_capture(captured: Path) -> None:
    units, bulk = json.loads((captured / "run.json").read_text())["flows"]
    sink = captured / "n1.pcapng"
    to_sink = "wlan.ra == 02:00:00:00:00:02"
    # A datagram that comes twice, because its acknowledgement was lost, counts once.
    datagrams = {
        line[0]: int(line[1]) - 8 for line in tshark(sink, "-Y", f"udp && {to_sink}", *fields("ip.id", "udp.length"))
    }
    assert units["received_packets"] == len(datagrams)
    assert units["goodput_bps"] == pytest.approx(sum(datagrams.values()) * 8 / 0.3)
    octets: set[int] = set()
    for first, length in tshark(sink, "-Y", f"tcp && {to_sink}", *fields("tcp.seq", "tcp.len")):
        octets.update(range(int(first), int(first) + int(length)))
    assert bulk["received_bytes"] == len(octets)
    # From its start, 10 ms, to the end of the run.
    assert bulk["goodput_bps"] == pytest.approx(len(octets) * 8 / 0.29)
