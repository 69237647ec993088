"""The example of a call and a film from a walking phone: hopcast's numbers are those that the programs have counted."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import ROOT, command, environment

EXAMPLE = ROOT / "examples" / "call"
AWAY = (26.0, 30.0)
"""Seconds in which the phone is farthest."""


def missing() -> str | None:
    """What the example needs and this machine has not."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "root's rights"
    if not Path("/dev/net/tun").exists():
        return "/dev/net/tun"
    if importlib.util.find_spec("aiortc") is None:
        return "aiortc"
    return next((tool for tool in ("ip", "ffmpeg") if shutil.which(tool) is None), None)


WANTED = missing()
if os.environ.get("HOPCAST_REQUIRE_TOOLS") == "1":
    assert WANTED is None, f"HOPCAST_REQUIRE_TOOLS is set, but {WANTED} is missing"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(WANTED is not None, reason=f"{WANTED} is missing"),
    pytest.mark.xdist_group("network"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example has run. The machine may be slow, since other tests run."""
    folder = tmp_path_factory.mktemp("call")
    for file in EXAMPLE.iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for arguments in (
        ["emulate", "call.toml", "--programs", "--set", "emulation.lag_limit=5 s", "--out", "result"],
        ["report", "result"],
    ):
        done = subprocess.run(
            command(*arguments), cwd=folder, env=environment(PATH=path), capture_output=True, text=True, timeout=180
        )
        assert done.returncode == 0, done.stderr
    return folder


def counted(folder: Path, name: str) -> dict[str, Any]:
    """What a program has counted, with the row of hopcast that has the same SSRC under `rtp` and its conversation's name."""
    program: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    for conversation in json.loads((folder / "result" / "run.json").read_text())["conversations"]:
        for row in conversation["rtp"]:
            if row["ssrc"] == program["ssrc"]:
                return program | {"rtp": row, "conversation": conversation["name"]}
    raise AssertionError(f"hopcast has no row for SSRC {program['ssrc']}")


def test_the_film_has_lost_what_its_receiver_misses(folder: Path) -> None:
    film = counted(folder, "film")
    assert film["packets_lost"] > 20, "the phone is away for seconds"
    assert film["rtp"]["received_packets"] == film["packets_received"]
    assert film["rtp"]["lost_packets"] == film["packets_lost"]


def test_the_call_has_the_packets_of_aiortc(folder: Path) -> None:
    call = counted(folder, "call")
    row = call["rtp"]
    # What comes before aiortc has its keys, and copies, are no packets for it: SRTP drops them (RFC 3711, section 3.3.2).
    assert row["received_packets"] == pytest.approx(call["packets_received"], abs=10)
    assert row["lost_packets"] == pytest.approx(call["packets_lost"], abs=5)
    assert row["frames"] > 300


@pytest.mark.parametrize("name", ["call", "film"])
def test_rate_delay_loss_and_freezes_change_as_the_phone_walks(folder: Path, name: str) -> None:
    row = counted(folder, name)
    series = pl.read_parquet(folder / "result" / "conversation_series.parquet")
    series = series.filter(pl.col("conversation") == row["conversation"])
    near = series.filter(pl.col("time_s").is_between(6.0, 14.0))
    away = series.filter(pl.col("time_s").is_between(*AWAY))

    def mean(rows: pl.DataFrame, column: str) -> float:
        return float(rows[column].drop_nulls().to_numpy().mean())

    assert mean(near, "rate_bps") > 200e3
    assert mean(away, "delay_s") > 5 * mean(near, "delay_s")
    assert near["lost_packets"].sum() == 0
    assert away["lost_packets"].sum() > 0
    assert row["rtp"]["freezes"] > 0
    assert away["freeze_time_s"].sum() > 0


@pytest.mark.parametrize("name", ["call", "film"])
def test_the_report_shows_the_same_numbers(folder: Path, name: str) -> None:
    row = counted(folder, name)
    page = (folder / "result" / "report.html").read_text(encoding="utf-8")
    found = re.search(rf"<tr>(?:(?!</tr>).)*{row['rtp']['ssrc']:x}.*?</tr>", page, re.DOTALL | re.IGNORECASE)
    assert found, "no row with this SSRC"
    shown = re.sub(r"\s|\u202f|\u00a0", "", re.sub(r"<[^>]*>", " | ", found[0]))
    for number in (row["rtp"]["received_packets"], row["rtp"]["lost_packets"], row["rtp"]["frames"]):
        assert f"|{number}|" in shown
    for caption in ("Rate over time", "one-way delay", "Packets lost", "frozen"):
        assert re.search(rf"<figcaption>[^<]*{caption}", page), caption
