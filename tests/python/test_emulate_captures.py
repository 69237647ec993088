"""How large captures of an emulation get: before it runs, with the progress, at the end. Skipped, and said so, without root."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, command
from test_live_models import WANTED

pytestmark = [pytest.mark.skipif(WANTED is not None, reason=f"{WANTED} is missing"), pytest.mark.xdist_group("network")]


def told_sizes(lines: str, pattern: str) -> list[float]:
    """The sizes in bytes that a line of standard error tells, matched as a whole."""
    units = {"kB": 1e3, "MB": 1e6, "GB": 1e9}
    found = [match for line in lines.splitlines() if (match := re.fullmatch(pattern, line))]
    assert len(found) == 1, lines
    sizes = [text.split(" ") for text in found[0].groups()]
    return [float(number) * units[unit] for number, unit in sizes]


SIZE = r"(\d+(?:\.\d+)? [kMG]B)"


def captured(folder: Path, duration: str, *options: str, before: str = ":") -> subprocess.CompletedProcess[str]:
    """Five simulated stations send 10 Mb/s in all to a real access point, and its program does nothing."""
    words = [*command(), "emulate", str(ROOT / "examples" / "wifi.toml"), "--exec", "server", "sleep 100"]
    words += ["--set", f"duration={duration}", "--set", "emulation.lag_limit=5 s", "--out", str(folder), *options]
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", f'set -e; {before}; exec "$@"', "sh", *words],
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_size_of_captures_is_told_before_and_after_an_emulation(tmp_path: Path) -> None:
    done = captured(tmp_path / "out", "3 s", "--pcap")
    assert done.returncode == 0, done.stderr
    written = sum(path.stat().st_size for path in (tmp_path / "out").glob("*.pcapng"))
    forecast = f"hopcast: captures of simulated flows take about {SIZE} in 7 files; what programs send comes on top"
    assert told_sizes(done.stderr, forecast) == [pytest.approx(written, rel=0.1)]
    assert told_sizes(done.stderr, f"hopcast: captures take {SIZE} in 7 files") == [pytest.approx(written, rel=0.006)]


@pytest.mark.slow
def test_the_size_of_captures_is_told_with_the_progress(tmp_path: Path) -> None:
    done = captured(tmp_path / "out", "12 s", "--pcap-medium")
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "out" / "medium.pcapng").stat().st_size
    now, end = told_sizes(done.stderr, rf"10 s: .*; captures {SIZE}, about {SIZE} at the end")
    assert now == pytest.approx(written * 10 / 12, rel=0.1)
    assert end == pytest.approx(written, rel=0.1)


def test_captures_for_which_there_is_no_room_are_refused_before_anything_runs(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    done = captured(folder, "60 s", "--pcap", before=f"mount -t tmpfs -o size=5m tmpfs {folder}")
    assert done.returncode == 2
    refusal = (
        f"hopcast: captures of simulated flows take about {SIZE} in 7 files, but only {SIZE} are free in {folder}; "
    )
    needed, free = told_sizes(done.stderr, refusal + "choose nodes with --pcap-node, or another --out")
    assert needed > 100e6
    assert free == pytest.approx(5 * 2**20, rel=0.1)
    assert "network namespace" not in done.stderr
