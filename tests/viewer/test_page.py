"""The viewer's page in a headless browser, compared with a reader of the recording in Python."""

from __future__ import annotations

import base64
import fcntl
import gzip
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import synthetic

ROOT = Path(__file__).parents[2]
VIEWER = ROOT / "viewer"
PAGE = ROOT / "python/hopcast/view/page.html"
PATIENCE_S = 300.0
MARKER = "<!-- recording -->"

# One browser draws the page for all of these tests.
pytestmark = pytest.mark.xdist_group("page")


def tool(*names: str) -> str:
    """Path of the first of the programs that is installed; skips the test, or fails where tools are required."""
    for name in names:
        if path := shutil.which(name):
            return path
    if "HOPCAST_REQUIRE_TOOLS" in os.environ:
        pytest.fail(f"{names[0]} is missing")
    pytest.skip(f"{names[0]} is missing")


def run(*command: str, cwd: Path = VIEWER) -> str:
    """What the command prints."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def packages() -> None:
    """The packages of package-lock.json in viewer/node_modules."""
    npm = tool("npm")
    tool("node")
    installed, lock = VIEWER / "node_modules/.package-lock.json", VIEWER / "package-lock.json"
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # pytest's workers share the folder
        if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
            run(npm, "ci", "--prefer-offline", "--no-audit", "--no-fund")
            installed.touch()


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recording, broken variants of it, and the page that holds it."""
    folder = tmp_path_factory.mktemp("viewer")
    about = synthetic.write(folder / "run", 3000, 6)
    synthetic.write(folder / "empty", 0, 3)
    for name in ("cut", "old"):
        shutil.copytree(folder / "run", folder / name)
    events = (folder / "run/events.bin").read_bytes()
    (folder / "cut/events.bin").write_bytes(events[: 32 * 1000 + 17])
    (folder / "old/recording.json").write_text(json.dumps(about | {"format": 99}))
    parts = [f'<script id="recording" type="application/json">{json.dumps(about)}</script>']
    for name in ("events.bin", "samples.bin", "positions.bin", "levels.bin"):
        text = base64.b64encode(gzip.compress((folder / "run" / name).read_bytes())).decode()
        parts.append(f'<script class="part" data-name="{name}" type="text/plain">{text}</script>')
    page = PAGE.read_text()
    assert page.splitlines().count(MARKER) == 1
    (folder / "single.html").write_text(page.replace(MARKER, "\n".join(parts)))
    return folder


@pytest.fixture(scope="session")
def seen(packages: None, recording: Path) -> Any:
    """What the browser saw."""
    browser = tool("chromium", "chromium-browser", "google-chrome")
    return json.loads(
        run(tool("node"), str(Path(__file__).with_name("drive.mjs")), browser, str(recording), cwd=recording)
    )


@pytest.fixture(scope="session")
def table(recording: Path) -> Any:
    """The events as Python reads them."""
    return np.fromfile(recording / "run/events.bin", synthetic.EVENT)


def counts(table: Any) -> dict[str, int]:
    return {name: int((table["kind"] == k).sum()) for k, name in enumerate(synthetic.KINDS)}


def test_the_page_is_built_from_these_sources(packages: None, tmp_path: Path) -> None:
    run(tool("node"), "build.mjs", str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_bytes() == PAGE.read_bytes(), "run make page"


def test_types_are_right(packages: None) -> None:
    run(tool("node"), "node_modules/typescript/bin/tsc", "--noEmit")


def test_complains_of_nothing_and_asks_the_network_for_nothing(seen: Any) -> None:
    assert seen["complaints"] == []
    assert seen["file_requests"] == []


def test_counts_the_events(seen: Any, table: Any) -> None:
    assert seen["counts"] == counts(table)
    assert seen["chosen"] == counts(table)


def test_finds_events_by_node_kind_and_time(seen: Any, table: Any) -> None:
    inside = (table["node"] == 1) & (table["kind"] == 0) & (table["time"] >= 2e7) & (table["time"] < 9e7)
    expected = np.flatnonzero(inside)
    assert len(expected) > 10
    assert [event["index"] for event in seen["events"]] == expected.tolist()
    for event, row in zip(seen["events"], table[expected], strict=True):
        for name in ("time", "duration", "node", "peer", "code", "size", "frame", "value"):
            assert event[name] == row[name]
        assert event["flow"] is None
    assert [event["index"] for event in seen["frame"]] == np.flatnonzero(table["frame"] == 42).tolist()


def test_finds_long_events_that_cover_a_time(seen: Any, table: Any) -> None:
    expected = np.flatnonzero((table["node"] == 2) & (table["time"] <= 9e7) & (table["time"] + table["duration"] > 9e7))
    assert table["duration"][expected].max() == 100_000_000
    assert [event["index"] for event in seen["long"]] == expected.tolist()


def test_reads_series_and_positions(seen: Any, recording: Path) -> None:
    samples = np.fromfile(recording / "run/samples.bin", synthetic.SAMPLE)
    queue = samples[samples["series"] == 2]
    (series,) = seen["series"]
    assert series["unit"] == "packets"
    assert series["times"] == queue["time"].tolist()
    assert series["values"] == queue["value"].tolist()
    assert seen["position"]["x"] == pytest.approx(85.0)
    assert seen["position"]["y"] == pytest.approx(60.0)


def test_a_click_picks_the_event_under_it(seen: Any) -> None:
    assert seen["clicked"] == seen["target"]
    assert "Transmission: data" in seen["details"]
    assert "24 Mb/s" in seen["details"]
    assert "420 µs" in seen["details"]
    assert seen["target"] in seen["covering"]


def test_steps_to_the_next_event_of_the_node(seen: Any, table: Any) -> None:
    own = np.flatnonzero(table["node"] == 0).tolist()
    assert seen["next"]["index"] == own[own.index(seen["target"]["index"]) + 1]


def test_says_why_a_frame_was_dropped(seen: Any) -> None:
    assert "retry limit" in seen["why"]
    assert "interference destroyed" in seen["why"]


def test_zooms_and_moves(seen: Any) -> None:
    assert seen["zoomed"] == {"from": 5e7, "to": 6e7}

    def width(name: str) -> float:
        return float(seen[name]["to"] - seen[name]["from"])

    assert width("wheeled") < 0.7 * width("zoomed")
    assert seen["wheeled"]["from"] > seen["zoomed"]["from"]
    assert seen["dragged"]["from"] < seen["wheeled"]["from"]
    assert width("dragged") == pytest.approx(width("wheeled"))
    assert seen["moved"]["from"] == pytest.approx(seen["dragged"]["from"] + width("dragged") / 5)
    assert width("wider") == pytest.approx(2 * width("moved"))
    assert seen["home"] == seen["whole"]
    assert seen["help"]
    assert seen["closed"]


def test_plays_and_pauses(seen: Any) -> None:
    assert seen["playing"] > seen["before"]
    assert seen["playing"] - seen["before"] < 0.01 * 5e9
    assert seen["label"] == "Pause"
    assert seen["paused"]


def test_every_control_has_a_name_and_a_narrow_page_fits(seen: Any) -> None:
    assert seen["unnamed"] == 0
    assert seen["overflow"] <= 0


def test_opens_an_empty_recording(seen: Any) -> None:
    assert seen["empty"]["opened"]
    assert sum(seen["empty"]["counts"].values()) == 0


def test_shows_the_whole_records_of_a_cut_file(seen: Any, table: Any) -> None:
    assert seen["cut"]["opened"]
    assert seen["cut"]["counts"] == counts(table[:1000])
    assert "holds 1,000 of" in seen["cut"]["note"]


def test_refuses_another_format(seen: Any) -> None:
    assert not seen["old"]["opened"]
    assert "format 99 is not one that this page reads (1)" in seen["old"]["problem"]


def test_offers_to_choose_a_folder(seen: Any) -> None:
    assert "Open a recording" in seen["chooser"]
