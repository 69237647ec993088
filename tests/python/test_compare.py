"""Two runs side by side."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Hopcast
from hopcast.compare import NotComparable, compare


def flow(name: str, **fields: Any) -> dict[str, Any]:
    """A flow of a run's object, as far as it is compared."""
    numbers = {"goodput_bps": 2e6, "loss_ratio": 0.5, "delay_mean_s": 0.002, "delay_p99_s": 0.004}
    missing = {"jitter_mean_s": None, "jitter_max_s": None}
    return {"name": name, "from": "a", "to": "b", "protocol": "udp", **numbers, **missing, **fields}


def write(path: Path, *flows: dict[str, Any], kind: str | None = None) -> Path:
    """A run's object in a file."""
    provenance = {"version": "v", "seed": 1} | ({"kind": kind} if kind else {})
    path.write_text(json.dumps({"flows": flows, "provenance": provenance}))
    return path


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """A measured run in a folder, and a simulated one in a file."""
    folder = tmp_path / "measured"
    folder.mkdir()
    write(folder / "run.json", flow("one", goodput_bps=1e6, goodput_bps_ci95=2e4), flow("mine"), kind="measured")
    return folder, write(tmp_path / "simulated.json", flow("theirs"), flow("one", delay_mean_s=None))


def test_flows_are_paired_by_name(runs: tuple[Path, Path]) -> None:
    comparison = compare(*runs)
    assert comparison.labels == ("measured", "simulated")
    assert comparison.lonely == (["mine"], ["theirs"])
    assert {line.flow for line in comparison.lines} == {"one"}
    lines = {line.field: line for line in comparison.lines}
    goodput = lines["goodput_bps"]
    assert (goodput.unit, goodput.first, goodput.first_ci95, goodput.second) == ("Mb/s", 1.0, 0.02, 2.0)
    assert goodput.ratio == 0.5
    assert (lines["loss_ratio"].unit, lines["loss_ratio"].first) == ("%", 50.0)
    # What one of them could not measure has no ratio.
    assert (lines["delay_mean_s"].second, lines["delay_mean_s"].ratio) == (None, None)


def test_nothing_is_divided_by_zero(tmp_path: Path) -> None:
    first, second = (write(tmp_path / name, flow("one", loss_ratio=0)) for name in ("a.json", "b.json"))
    comparison = compare(first, second)
    assert comparison.labels == (str(first), str(second)), "of one kind, they are told apart by where they are"
    assert [line.ratio for line in comparison.lines if line.field == "loss_ratio"] == [None]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "is not what hopcast writes"),
        ("{}", "flows is missing"),
        ('{"flows": 5}', "flows = 5"),
        ('{"flows": [3]}', "flows[0] = 3"),
        ('{"flows": [{"name": 1}]}', "flows[0].name = 1"),
        ('{"flows": [{"name": "one"}, {"name": "one"}]}', "flows.one.name = 'one'"),
        ('{"flows": [{"name": "one", "goodput_bps_ci95": -1}]}', "flows.one.goodput_bps_ci95 = -1"),
        ('{"flows": [{"name": "\\ud800"}]}', "a text of whole characters"),
        ('{"cases": []}', "holds all cases of a plan"),
        ('{"flows": [{"name": "other"}]}', "no flow is in both runs"),
        ('{"flows": [{"name": "one", "goodput_bps": "fast"}]}', "flows.one.goodput_bps = 'fast'"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_what_is_no_run_is_told(runs: tuple[Path, Path], tmp_path: Path, text: str, problem: str) -> None:
    other = tmp_path / "other.json"
    other.write_text(text)
    with pytest.raises(NotComparable, match=re.escape(problem)):
        compare(runs[0], other)


NO_NUMBERS = ["NaN", "-Infinity", "1e400", "1" + 400 * "0", "1" + 5000 * "0", "1e301"]
"""As Python and others write them in JSON, and larger than a double, or than a double in another unit."""


@pytest.mark.parametrize("number", NO_NUMBERS, ids=lambda number: number[:12])
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["table", "json"])
def test_a_number_that_is_not_finite_is_told(
    hopcast: Hopcast, runs: tuple[Path, Path], tmp_path: Path, number: str, options: list[str]
) -> None:
    other = tmp_path / "other.json"
    other.write_text(f'{{"flows": [{{"name": "one", "goodput_bps": {number}}}]}}')
    done = hopcast("compare", runs[0], other, *options)
    assert (done.returncode, done.stdout) == (2, "")
    told = done.stderr.strip()
    assert told.startswith(f"hopcast: {other}: flows.one.goodput_bps = ")
    assert told.endswith("a finite number, of at most 1e+300, is expected")


def test_a_ratio_that_no_number_can_say_is_none(hopcast: Hopcast, tmp_path: Path) -> None:
    first, second = (write(tmp_path / f"{value}.json", flow("one", goodput_bps=value)) for value in (1e299, 1e-299))
    done = hopcast("compare", first, second, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["rows"][0]["ratio"] is None


def test_the_command_prints_a_table_and_draws(hopcast: Hopcast, runs: tuple[Path, Path], tmp_path: Path) -> None:
    figure = tmp_path / "figures" / "both.svg"
    done = hopcast("compare", *runs, "--out", figure)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(word in done.stdout for word in ("measured", "simulated", "goodput, Mb/s", "1.000 ± 0.020", "0.5"))
    assert "Only in measured: mine" in done.stdout
    first = figure.read_bytes()
    assert b"<svg" in first
    hopcast("compare", *runs, "--out", figure)
    assert figure.read_bytes() == first


def test_a_folder_gets_figure_and_object(hopcast: Hopcast, runs: tuple[Path, Path], tmp_path: Path) -> None:
    done = hopcast("compare", *runs, "--json", "--out", tmp_path / "both")
    document = json.loads(done.stdout)
    assert document == json.loads((tmp_path / "both" / "compare.json").read_text())
    assert (tmp_path / "both" / "compare.svg").is_file()
    assert [run["kind"] for run in document["runs"]] == ["measured", "simulated"]
    assert document["rows"][0]["ratio"] == 0.5


def test_wrong_input_is_told(hopcast: Hopcast, runs: tuple[Path, Path], tmp_path: Path) -> None:
    for arguments in ([runs[0], tmp_path / "nowhere"], [runs[0]], [*runs, "--out", "/dev/null/x"]):
        assert hopcast("compare", *arguments).returncode == 2


def test_a_simulated_run_is_compared_with_itself(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert hopcast("run", file, "--replications", 2, "--out", out).returncode == 0
    comparison = compare(out, out)
    assert {line.flow for line in comparison.lines} == {"units", "bulk"}
    assert {line.ratio for line in comparison.lines} <= {1.0, None}
    assert comparison.lines[0].first_ci95 is not None


def test_names_of_runs_and_flows_are_drawn_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hopcast: Hopcast
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("_a", "$^$"):
        Path(name).mkdir()
        write(Path(name) / "run.json", flow("$^$"), flow("_x"))
    figure = compare("_a", "$^$").plot()
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["_a", "$^$"]
    done = hopcast("compare", "_a", "$^$", "--out", "compare.svg")
    assert (done.returncode, done.stderr) == (0, "")
