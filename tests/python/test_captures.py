"""What the command line captures, read by tshark: nothing malformed, and the goodput that anyone can count from it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Hopcast
from hopcast import Captures, Scenario, run

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


def test_the_size_of_captures_is_told_before_they_are_written(hopcast: Hopcast, tmp_path: Path) -> None:
    scenario = tmp_path / "mesh.toml"
    assert hopcast("init", "mesh", "--out", scenario).returncode == 0
    done = hopcast("run", scenario, "--out", tmp_path / "out", "--pcap-medium", "--set", "duration=20 s")
    assert done.returncode == 0
    told = re.fullmatch(r"hopcast: captures take about (\d+(?:\.\d+)?) MB in 1 file\n", done.stderr)
    assert told, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").glob("*.pcapng")) == ["medium.pcapng"]
    size = (tmp_path / "out" / "medium.pcapng").stat().st_size
    assert float(told[1]) == pytest.approx(size / 1e6, rel=0.1)


def test_captures_that_find_no_room_are_refused(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("run", file, "--out", out, "--pcap", "--replications", 1_000_000)
    done = hopcast(*arguments, "--set", "duration=1e5")
    assert done.returncode == 2
    assert re.fullmatch(
        rf"hopcast: captures take about [\d.]+ TB in 3000000 files, but only [\d.]+ [GMk]B are free in {re.escape(str(out))}; "
        r"choose nodes with --pcap-node, or another --out\n",
        done.stderr,
    ), done.stderr
    assert not out.exists()


def test_a_node_that_is_not_there_can_not_be_captured(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    done = hopcast("run", file, "--out", tmp_path / "out", "--pcap-node", "m1")
    assert (done.returncode, done.stderr) == (2, 'hopcast: there is no node "m1"; did you mean "n1"?\n')
    assert not (tmp_path / "out").exists()


def test_captures_of_an_earlier_choice_are_removed(scenario: Scenario, tmp_path: Path) -> None:
    def captured(pcap: bool | Captures) -> list[str]:
        run(scenario, out=tmp_path, pcap=pcap)
        return sorted(path.name for path in tmp_path.glob("*.pcapng"))

    assert captured(Captures(medium=True)) == ["medium.pcapng", "n0.pcapng", "n1.pcapng", "n2.pcapng"]
    assert captured(Captures(nodes=["n2"], addressed=True)) == ["n2.pcapng"]
    assert captured(Captures(nodes=[], medium=True)) == ["medium.pcapng"]
    assert captured(False) == []


def test_the_size_in_python_is_that_of_the_files(scenario: Scenario, tmp_path: Path) -> None:
    captures = Captures(nodes=["n0", "n1"], medium=True)
    size = captures.size(scenario, seed=7, replications=1, patience=60)
    run(scenario, seed=7, out=tmp_path, pcap=captures)
    found = [path.stat().st_size for path in tmp_path.glob("*.pcapng")]
    assert size is not None
    assert (size.bytes, size.files) == (sum(found), 3)
    assert captures.size(scenario, patience=0) is None
    with pytest.raises(ValueError, match='there is no node "x"'):
        Captures(nodes=["x"]).size(scenario)
