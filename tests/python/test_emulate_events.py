"""`hopcast emulate --events`: what happens in an emulation, for the viewer. Skipped, and said so, without root."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hopcast
from conftest import ROOT, command
from test_live_models import WANTED

pytestmark = [pytest.mark.skipif(WANTED is not None, reason=f"{WANTED} is missing"), pytest.mark.xdist_group("network")]

PING = "ping -c 20 -i 0.05 -s 1000 10.0.0.2"


def emulate(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [*command(), "emulate", str(ROOT / "examples" / "pair.toml"), "--json", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_an_emulation_is_recorded_and_its_replay_gives_the_same_bytes(tmp_path: Path) -> None:
    frames, live, again = str(tmp_path / "frames"), tmp_path / "live", tmp_path / "again"
    lag = ["--set", "emulation.lag_limit=2 s"]
    result = emulate("--record", frames, "--out", str(live), "--events", "--exec", "n0", PING, *lag)
    recording = hopcast.open_recording(live)
    events = recording.events()
    assert events.filter(pl.col("kind") == "transmit").height == result["totals"]["frames_sent"] > 40
    assert recording.missing_events() == 0
    # The emulation ended with its program, long before the scenario's duration.
    assert recording.about["duration_ns"] < 30e9
    assert events["time_ns"].max() <= recording.about["duration_ns"]
    # A ping and its answer are queued at either end.
    queued = events.filter((pl.col("kind") == "enqueue") & (pl.col("size_bytes") == 1028))
    assert dict(queued.group_by("node").len().rows()) == {"n0": 20, "n1": 20}

    emulate("--replay", frames, "--out", str(again), "--events", *lag)
    for file in ("events.bin", "samples.bin", "positions.bin", "levels.bin", "recording.json"):
        path = Path("recording") / str(recording.seed) / file
        assert (live / path).read_bytes() == (again / path).read_bytes(), file

    emulate("--replay", frames, "--out", str(live), *lag)
    assert not (live / "recording").exists(), "a later emulation removes it"


def test_ctrl_c_ends_a_replay(tmp_path: Path) -> None:
    frames, lag = tmp_path / "frames", ["--set", "emulation.lag_limit=2 s"]
    emulate("--record", str(frames), "--exec", "n0", "ping -c 1 10.0.0.2", *lag)
    *recorded, end = frames.read_text().splitlines()
    # As if it had been emulated for years.
    years = " ".join([f"end {10**17}", *end.split()[2:]])
    frames.write_text("\n".join([*recorded, years, ""]))
    asked = [*command(), "emulate", str(ROOT / "examples" / "pair.toml"), "--json", "--replay", str(frames), *lag]
    running = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    assert running.poll() is None, "it takes far longer"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=10)
    assert (running.returncode, err) == (130, "hopcast: interrupted\n")
    assert json.loads(out)["totals"]["frames_sent"] > 0, "what was replayed until then is told"


def test_events_need_a_folder() -> None:
    done = subprocess.run(
        [*command(), "emulate", str(ROOT / "examples" / "pair.toml"), "--events"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "--out" in done.stderr
