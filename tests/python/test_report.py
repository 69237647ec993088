"""The report: the same bytes each time, whole in itself."""

from __future__ import annotations

import copy
import json
import math
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import given, strategies

import hopcast
from conftest import ROOT, Hopcast
from hopcast import cli, film
from hopcast.lab import Study
from hopcast.lab.rows import Sample, claim
from hopcast.report.documents import WrongDocument, load_run
from hopcast.report.page import NothingToReport, write_report
from hopcast.tables import FLOW_COLUMNS, flow_table
from hopcast_papers import EXPERIMENTS, PAPERS
from test_studies import QUICK, made_up, rows_of

# One process draws the page for all of these tests.
pytestmark = pytest.mark.xdist_group("report")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, measurements: Path) -> Path:
    """Rows of every experiment, from made-up measurements, and the film's run."""
    folder = tmp_path_factory.mktemp("study")
    study = Study(QUICK, [], {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPCAST_TRACES", str(measurements))
        for experiment in EXPERIMENTS.values():
            study.rows.extend(rows_of(experiment))
            study.provenance[experiment.id] = {
                name: {"scenario_sha256": case.scenario.sha256, "seeds": list(case.seeds)}
                for name, case in experiment.cases(QUICK).items()
            }
    study.write(folder)
    film.demonstrate(folder)
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return Path(write_report(folder)).read_text()


def test_groups_of_tests_stay_in_one_process(request: pytest.FixtureRequest) -> None:
    assert "PYTEST_XDIST_WORKER" not in os.environ or request.node.nodeid.endswith("@report")


@pytest.mark.slow
def test_the_same_folder_gives_the_same_bytes(folder: Path, page: str) -> None:
    assert Path(write_report(folder)).read_bytes() == page.encode()


@pytest.mark.parametrize("id_", ["Q1", "W6"])
def test_the_same_rows_give_the_same_bytes(id_: str, tmp_path: Path) -> None:
    experiment = EXPERIMENTS[id_]
    Study(QUICK, list(rows_of(experiment)), {}).write(tmp_path)
    first = Path(write_report(tmp_path)).read_bytes()
    assert Path(write_report(tmp_path)).read_bytes() == first


def test_the_page_needs_nothing_from_elsewhere(page: str) -> None:
    assert not re.search(r"<(script|link|img|iframe)\b|@import|url\((?!#)", page)
    assert all(target.startswith("#") for target in re.findall(r'\b(?:href|src)="([^"]*)"', page))


def test_the_page_is_well_formed(page: str) -> None:
    Checker().check(page)
    identifiers = Counter(re.findall(r'\bid="([^"]*)"', page))
    assert [name for name, count in identifiers.items() if count > 1] == []
    targets = re.findall(r'href="#([^"]*)"', page) + re.findall(r"url\(#([^)]*)\)", page)
    assert set(targets) <= set(identifiers)


def test_every_experiment_and_the_film_are_there(page: str) -> None:
    assert all(f'<section id="{name}">' in page for name in (*EXPERIMENTS, "film", "provenance"))
    assert hopcast.__version__ in page
    assert all(film.scenario(radio).sha256 in page for radio in film.RADIOS)
    assert "`" not in page
    assert "<code>use_mac_</code>" in page
    assert "nan" not in re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL).lower().split()


def test_what_was_skipped_is_told(tmp_path: Path) -> None:
    Study(QUICK, [], {}, {"R9": "no <file>"}).write(tmp_path)
    assert "R9 was skipped: no &lt;file&gt;." in Path(write_report(tmp_path)).read_text()


@pytest.mark.parametrize(("measured", "verdict"), [(2.0, "holds"), (0.5, "fails"), (math.nan, "inconclusive")])
def test_claims_are_shown_and_values_without_a_number_folded(tmp_path: Path, measured: float, verdict: str) -> None:
    rows = [claim("A2", "said", "ratio", "", Sample((measured,)), low=1.0, note="“further”")]
    experiment = EXPERIMENTS["A2"]
    rows += [row for row in experiment.rows(made_up(experiment, False)) if row.kind == "value"]
    Study(QUICK, rows, {}).write(tmp_path)
    text = Path(write_report(tmp_path)).read_text()
    shown, folded = text.split('<section id="A2">')[1].split("<details>", 1)
    assert "“further”" in shown
    assert "≥ 1" in shown
    assert "“further”" not in folded
    assert f'<span class="verdict {verdict}">{verdict}</span></h2>' in shown
    line = re.search(r'<tr>(?:(?!</tr>).)*href="#A2".*?</tr>', text, flags=re.DOTALL)
    assert line is not None
    counts = [str(int(verdict == name)) for name in ("holds", "inconclusive", "fails")]
    assert re.findall(r">([^<>]*)</td>", line[0])[-4:] == [*counts, str(len(rows) - 1)]


def test_light_and_dark(page: str) -> None:
    assert "prefers-color-scheme: dark" in page
    assert "currentColor" in page


def test_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(NothingToReport, match=r"run\.json"):
        write_report(tmp_path)
    assert list(tmp_path.iterdir()) == []


RUN: dict[str, Any] = {
    "flows": [{"name": "f", "from": "a", "to": "b", "protocol": "udp"} | {field: 1.0 for _, field, _ in FLOW_COLUMNS}],
    "provenance": {"version": "v", "scenario_sha256": "0", "seed": 1, "seeds": [1, 2]},
}
"""As much of a run as a report shows."""


def changed(document: Any, path: tuple[str | int, ...], value: object) -> Any:
    """A copy with another value in one place."""
    if not path:
        return value
    other = copy.copy(document)
    other[path[0]] = changed(document[path[0]], path[1:], value)
    return other


def test_as_much_of_a_run_as_is_shown_will_do(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    assert "a → b" in Path(write_report(tmp_path)).read_text()


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[[Path], str]:
    """What the command says of a folder that it refuses: its last line. It runs in this process, which has its libraries."""

    def refusal(folder: Path) -> str:
        status = cli._invoke(["report", str(folder)])
        told = capsys.readouterr()
        assert (status, told.out) == (2, "")
        assert not (folder / "report.html").exists()
        return told.err.splitlines()[-1]

    return refusal


GOODPUT = ("flows", 0, "goodput_bps")
WRONG_RUNS = {
    "empty": ({}, "flows is missing: a list"),
    "a list": ([], "is not what hopcast writes: an object"),
    "no provenance": ({"flows": []}, "provenance is missing: an object"),
    "a name alone": ({"flows": [{"name": "f"}]}, "flows.f.goodput_bps is missing: a number or null"),
    "a number": ({"flows": 5}, "flows = 5: a list"),
    "flows of numbers": ({"flows": [5]}, "flows[0] = 5: an object"),
    "a plan": ({"cases": []}, "holds all cases of a plan"),
    "goodput of letters": (changed(RUN, GOODPUT, "x"), "flows.f.goodput_bps = 'x': a number or null"),
    "goodput of 401 digits": (changed(RUN, GOODPUT, 10**400), "flows.f.goodput_bps = 1000"),
    "goodput of none": (changed(RUN, GOODPUT, math.nan), "flows.f.goodput_bps = nan: a finite number"),
    "truth": (changed(RUN, GOODPUT, True), "flows.f.goodput_bps = True: a number or null"),
    "no seeds": (changed(RUN, ("provenance", "seeds"), None), "provenance.seeds = None: a list"),
    "half a seed": (changed(RUN, ("provenance", "seeds", 1), 0.5), "provenance.seeds[1] = 0.5: a whole number"),
    "two lines": (changed(RUN, ("provenance",), {"a\nb": math.inf}), r"provenance.'a\nb' = inf: a finite number"),
}


@pytest.mark.parametrize(("document", "problem"), WRONG_RUNS.values(), ids=WRONG_RUNS)
def test_what_is_no_run_is_told(refused: Callable[[Path], str], tmp_path: Path, document: Any, problem: str) -> None:
    (tmp_path / "run.json").write_text(json.dumps(document))
    assert refused(tmp_path).startswith(f"hopcast: {tmp_path}/run.json: {problem}")


@pytest.mark.parametrize(
    ("octets", "problem"),
    [
        (b"\xff", "is not UTF-8 text: byte 0, in line 1, is wrong"),
        (b"{", "is not JSON: "),
        (b"[" * 100_000, "is not JSON: "),
        (b"", "is empty; a JSON object is expected"),
    ],
    ids=["not UTF-8", "half", "deep", "empty"],
)
def test_what_is_no_json_is_told(refused: Callable[[Path], str], tmp_path: Path, octets: bytes, problem: str) -> None:
    (tmp_path / "run.json").write_bytes(octets)
    assert f"run.json: {problem}" in refused(tmp_path)


VERDICTS = "one of holds, fails, within, differs, inconclusive, measured"
WRONG_ROWS = {
    "empty": (lambda study: {}, "amount is missing: one of quick, full"),
    "rows alone": (lambda study: {"rows": []}, "amount is missing: one of quick, full"),
    "a number": (lambda study: study | {"rows": 5}, "rows = 5: a list"),
    "no row": (lambda study: study | {"rows": [{}]}, "rows[0].experiment is missing: a text"),
    "amount": (lambda study: study | {"amount": "some"}, "amount = 'some': one of quick, full"),
    "verdict": (lambda study: changed(study, ("rows", 0, "verdict"), "so"), f"rows[0].verdict = 'so': {VERDICTS}"),
    "interval": (lambda study: changed(study, ("rows", 0, "ci95"), -1), "rows[0].ci95 = -1: a number from 0 or null"),
    "stranger": (lambda study: changed(study, ("rows", 0), study["rows"][0] | {"x": 1}), "rows[0].x = 1: no field but"),
    "no verdict": (lambda study: study | {"verdicts": {}}, f"verdicts.A2 is missing: {VERDICTS}"),
    "trial": (lambda study: study | {"sensitivity": [{}]}, "sensitivity[0].experiment is missing: a text"),
    "skipped": (lambda study: study | {"skipped": {"R9": 1}}, "skipped.R9 = 1: a text"),
    "seeds": (
        lambda study: changed(study, ("provenance", "experiments"), {"A2": {"c": {"scenario_sha256": "0"}}}),
        "provenance.experiments.A2.c.seeds is missing: a list",
    ),
}


@pytest.mark.parametrize(("change", "problem"), WRONG_ROWS.values(), ids=WRONG_ROWS)
def test_what_are_no_rows_is_told(
    refused: Callable[[Path], str], tmp_path: Path, change: Callable[[dict[str, Any]], Any], problem: str
) -> None:
    Study(QUICK, [claim("A2", "said", "ratio", "", Sample((2.0,)), low=1.0)], {}).write(tmp_path)
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps(change(json.loads(rows.read_text()))))
    assert refused(tmp_path).startswith(f"hopcast: {rows}: {problem}")


def test_rows_that_are_missing_are_told(refused: Callable[[Path], str], tmp_path: Path) -> None:
    Study(QUICK, [claim("H3", "said", "ratio", "", Sample((2.0,)), low=1.0)], {}).write(tmp_path)
    told = refused(tmp_path)
    assert "H3: can't be reported" in told
    assert "all rows of the experiment are expected" in told


def test_a_film_without_its_flows_is_told(refused: Callable[[Path], str], tmp_path: Path) -> None:
    Study(QUICK, [claim("H3", "case", "ratio", "", Sample((1.0,)), low=0.0)], {}).write(tmp_path)
    (tmp_path / "film").mkdir()
    of_the_film = changed(RUN, ("provenance", "scenario_sha256"), film.scenario("802.11a").sha256)
    (tmp_path / "film" / "run.json").write_text(json.dumps(of_the_film))
    assert f"{tmp_path}/film/run.json: flows.film is missing" in refused(tmp_path)


def test_a_folder_named_film_with_another_run_is_the_users(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["H3"]
    Study(QUICK, experiment.rows(made_up(experiment, False)), {}).write(tmp_path)
    (tmp_path / "film").mkdir()
    (tmp_path / "film" / "run.json").write_text(json.dumps(RUN))
    assert '<section id="film">' not in Path(write_report(tmp_path)).read_text()


def test_a_folder_named_film_beside_a_run_is_the_users(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    for out in (tmp_path / "out", tmp_path / "out" / "film"):
        assert hopcast("run", file, "--out", out).returncode == 0
    assert hopcast("report", tmp_path / "out").returncode == 0


def test_a_page_that_cannot_be_written_is_told_first(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert hopcast("run", file, "--out", out).returncode == 0
    assert hopcast("report", out, "--figures").returncode == 2
    assert not (out / "report.html").exists(), "a run has no figures of a study"
    (out / "report.html").mkdir()
    done = hopcast("report", out)
    assert done.returncode == 2
    assert "report.html: can't be written: a folder is there" in done.stderr


def test_a_series_that_is_none_is_told(
    refused: Callable[[Path], str], hopcast: Hopcast, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert hopcast("run", file, "--out", out).returncode == 0
    path = out / "series.parquet"
    series = polars.read_parquet(path)
    path.write_bytes((out / "flows.parquet").read_bytes())
    assert f"{path}: has no column flow" in refused(out)
    for column, wrong, problem in (
        ("time_s", series["time_s"].cast(polars.String), "holds String; numbers are expected"),
        ("time_s", polars.Series([None] * len(series), dtype=polars.Float64), "has rows without a time"),
        ("rate_bps", polars.Series([math.inf] * len(series)), "a finite number"),
        ("rate_bps", series["flow"], "holds String; numbers are expected"),
        ("node", series["seed"], "holds UInt64; texts are expected"),
    ):
        series.with_columns(wrong.alias(column)).write_parquet(path)
        told = refused(out)
        assert told.startswith(f"hopcast: {path}: column {column}")
        assert problem in told


JSON = strategies.recursive(
    strategies.none()
    | strategies.booleans()
    | strategies.integers()
    | strategies.floats()
    | strategies.text(max_size=3),
    lambda inner: strategies.lists(inner, max_size=3) | strategies.dictionaries(strategies.text(max_size=3), inner),
    max_leaves=4,
)
PLACES = [
    (), ("flows",), ("flows", 0), GOODPUT, ("flows", 0, "name"), ("flows", 0, "to"), ("provenance",), ("provenance", "seeds"),
]  # fmt: skip


@given(strategies.sampled_from(PLACES), JSON)
def test_any_run_is_shown_or_refused(path: tuple[str | int, ...], value: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.json"
        file.write_text(json.dumps(changed(RUN, path, value)))
        told = ""
        try:
            flow_table(load_run(file)).encode()
        except WrongDocument as error:
            told = str(error)
        assert not told or told.startswith(f"{file}: ")
        assert len(told.splitlines()) <= 1


class Checker(HTMLParser):
    """Fails where tags do not nest."""

    EMPTY = frozenset({"meta", "br", "hr", "path", "use", "rect"})

    def check(self, text: str) -> None:
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


def test_the_report_names_each_paper_in_full_as_the_readme_does(page: str) -> None:
    readme = re.sub(r"\*", "", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert sorted(PAPERS) == ["A", "H", "M", "P", "W"]
    for letter, (paper, tested) in PAPERS.items():
        assert f"| {letter} | {paper} |" in readme
        assert f"<td>{letter}</td><td>{paper}</td><td>{tested}</td>" in page
