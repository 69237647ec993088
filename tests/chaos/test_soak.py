"""The short form of `make soak`, and that it finds what grows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from soak import GROWTH, LOG, SPARE, Soak, Watched, hindrance, page

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are measured as on Linux")


@pytest.mark.xdist_group("network")
def test_nothing_grows_in_a_few_seconds(tmp_path: Path) -> None:
    if reason := hindrance():
        assert "HOPCAST_REQUIRE_TOOLS" not in os.environ, reason
        pytest.skip(reason)
    # Few connections through the emulation: hopcast keeps a record of each of the first 1024.
    with Soak(1, tmp_path, pace_s=1.5, exchanges=50) as soak:
        soak.run(8.0)
    assert soak.complaints() == []
    assert all(one.disturbances >= 2 for one in soak.watched)
    assert "nothing grows" in page(soak, 8.0, 1)


@pytest.mark.xdist_group("network")
def test_a_router_that_is_killed_last_of_all_is_started_again(tmp_path: Path) -> None:
    if reason := hindrance():
        assert "HOPCAST_REQUIRE_TOOLS" not in os.environ, reason
        pytest.skip(reason)
    with Soak(1, tmp_path, pace_s=5.0, exchanges=1) as soak:
        # A link goes and comes back, and a router is killed.
        for _ in range(3):
            soak.disturb(0)
        soak.settle()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    log = tmp_path / "log"
    log.write_text("")
    sleeps = "import time; print(1, flush=True); time.sleep(100)"
    with subprocess.Popen([sys.executable, "-c", sleeps], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield Watched("`sleep`", process, log)
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="processes are measured by /proc")
def test_a_process_is_measured(watched: Watched) -> None:
    watched.sample()
    ((rss, descriptors),) = watched.samples
    assert rss > 1 << 20
    assert descriptors == 3


@pytest.mark.parametrize(
    ("samples", "log", "said"),
    [
        ([(0, 9)] * 5 + [(GROWTH, 9)] * 5, 0, ""),
        ([(0, 9)] * 6 + [(GROWTH + 1, 9)] + [(0, 9)] * 3, 0, "memory has grown"),
        ([(0, 9)] + [(GROWTH + 1, 9)] * 9, 0, ""),
        ([(0, 9)] * 5 + [(0, 9 + SPARE)] + [(0, 9)] * 4, 0, ""),
        ([(0, 9)] * 5 + [(0, 10 + SPARE)] + [(0, 9)] * 4, 0, "descriptors were 9 at most, then 14"),
        ([(0, 9)] * 9 + [(0, 9 + SPARE)], 0, "at the end 13"),
        ([(0, 9)] * 2 + [(0, 6)] * 5 + [(0, 9)] * 3, 0, ""),
        ([(0, 9)] * 10, 11 * LOG, ""),
        ([(0, 9)] * 10, 11 * LOG + 1, "bytes of log after 1 disturbances"),
    ],
)
def test_what_grows_is_found(watched: Watched, samples: list[tuple[int, int]], log: int, said: str) -> None:
    watched.samples, watched.disturbances = samples, 1
    watched.log.write_text("x" * log)
    complaints = "".join(watched.complaints())
    assert said in complaints
    assert bool(said) == bool(complaints)
