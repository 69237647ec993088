"""Tables on the terminal: nothing in them is cut off."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import hopcast as package
from conftest import TOML, Hopcast
from hopcast.cli.tables import print_comparison, print_rows, print_sensitivity
from hopcast.compare import Comparison, Line, Run
from hopcast.lab.rows import Sample, claim, value
from hopcast.lab.sensitivity import Sensitivity

NAMES = [f"download-of-a-film-from-the-box-to-the-{whom}" for whom in ("laptop", "screen")]
"""Of flows, which differ in what is cut off first."""
FLOWS = TOML.replace('"units"', f'"{NAMES[0]}"').replace('"bulk"', f'"{NAMES[1]}"', 1)
SAMPLE = Sample((1234.5, 1236.25, 1239.0))
NUMBER, HALF = "1\u202f236.6", "± 5.6"


def comparison() -> Comparison:
    runs = tuple(Run(f"/a/folder/of/many/runs/{name}", "simulated", {}) for name in ("one", "two"))
    values = (1236.6, 5.6, 1236.6, 5.6)
    of_flows = [Line(name, "goodput", "Mb/s", "goodput_bps", *values) for name in NAMES]
    return Comparison((runs[0], runs[1]), (runs[0].path, runs[1].path), of_flows, ([], []))


def sensitivity(name: str) -> Sensitivity:
    return Sensitivity("X", name, name, name, "", "holds", "fails", 12, 11, 13, [], "depends")


TABLES: dict[str, tuple[Callable[[], None], list[str]]] = {
    "comparison": (lambda: print_comparison(comparison()), [NUMBER, HALF]),
    "rows": (
        lambda: print_rows([claim("X", name, name, "b/s", SAMPLE, low=1.0) for name in NAMES]),
        [NUMBER, f"{HALF} b/s", "≥ 1 b/s"],
    ),
    "sensitivity": (lambda: print_sensitivity([sensitivity(name) for name in NAMES]), ["depends"]),
}


def cells(printed: str) -> list[list[str]]:
    """The cells of a table, those that go on in the next line put together."""
    found: list[list[str]] = []
    for line in re.sub(r"\x1b\[[0-9;]*m", "", printed).splitlines():
        row = [cell.strip() for cell in line.split("│")[1:-1]]
        if not row:
            found.append([])
        elif found and found[-1]:
            found[-1] = [one + other for one, other in zip(found[-1], row, strict=True)]
        else:
            found.append(row)
    return [row for row in found if row]


@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize("places", [40, 80, 300])
@pytest.mark.parametrize("kind", TABLES)
def test_tables_are_whole_however_narrow_it_is(
    kind: str, places: int, is_terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(places))
    monkeypatch.setenv("FORCE_COLOR", "1" if is_terminal else "")
    show, numbers = TABLES[kind]
    show()
    printed = capsys.readouterr().out
    assert "…" not in printed
    assert all(number in printed for number in numbers), "no number goes on in another line"
    whole = cells(printed)
    if is_terminal:
        assert all(any(name in "".join(row) for row in whole) for name in NAMES)
    else:
        assert all(name in printed for name in NAMES), "names have a line where it may be long"


def test_a_terminal_as_wide_as_a_table_folds_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [claim("X", "a", "b", "", SAMPLE, low=1.0)]
    monkeypatch.setenv("COLUMNS", "1")
    monkeypatch.setenv("FORCE_COLOR", "")
    print_rows(rows)
    piped = capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", str(len(piped.splitlines()[0])))
    monkeypatch.setenv("FORCE_COLOR", "1")
    print_rows(rows)
    assert re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out) == piped


def test_measured_values_are_printed_where_an_experiment_has_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        claim("X", "a", "b", "", SAMPLE, low=1.0),
        value("X", "folded", "b", "", SAMPLE),
        value("Y", "own", "b", "", SAMPLE),
    ]
    print_rows(rows)
    printed = capsys.readouterr().out
    assert "own" in printed
    assert "folded" not in printed


@pytest.mark.parametrize(("is_terminal", "places"), [("", 80), ("1", 80), ("1", 40)])
def test_a_run_is_told_whole(is_terminal: str, places: int, hopcast: Hopcast, tmp_path: Path) -> None:
    file = tmp_path / "flows.toml"
    file.write_text(FLOWS)
    audio = f"""flows.{NAMES[0]}.application={{ kind = "audio", rate = "64 kb/s" }}"""
    player = f"""flows.{NAMES[0]}.player={{ start_up_delay = "50 ms" }}"""
    environment = os.environ | {"COLUMNS": str(places), "FORCE_COLOR": is_terminal}
    done = hopcast("run", file, "--replications", 3, "--set", audio, "--set", player, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "…" not in done.stdout
    assert "hiccups" in done.stdout
    flows = re.sub(r"\s", "", "".join(map("".join, cells(done.stdout))))
    document = package.run(package.Scenario.from_toml(file, overrides=[audio, player]), replications=3).json()
    assert all(name in flows for name in NAMES)
    assert all(f"{flow['goodput_bps'] / 1e6:.3g}"[:4] in done.stdout for flow in document["flows"])


@pytest.mark.parametrize(("places", "replications"), [(80, 1), (80, 5), (60, 1)])
def test_the_first_example_fits_a_terminal(places: int, replications: int, hopcast: Hopcast) -> None:
    environment = os.environ | {"COLUMNS": str(places), "FORCE_COLOR": "1"}
    file = Path(__file__).parents[2] / "examples" / "film.toml"
    done = hopcast("run", file, "--replications", replications, env=environment)
    printed = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    assert max(map(len, printed.splitlines())) == places or replications == 5
    assert max(map(len, printed.splitlines())) <= places
    assert "protocol" in printed, "no word is parted"
    assert "laptop" in printed
    assert re.search(r"\d\u202f\d{3}( ± \d+)? frames sent", printed), "thousands stay together"
    assert not re.search(r"\d\n\d{3}\b", printed), "in all lines"
