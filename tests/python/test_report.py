"""The report: the same bytes each time, whole in itself."""

from __future__ import annotations

import math
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

import hopcast
from hopcast.report import NothingToReport, film, write_report
from hopcast.studies import EXPERIMENTS, Study
from hopcast.studies.rows import Sample, claim, remark
from test_studies import QUICK, made_up


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, measurements: Path) -> Path:
    """Rows of every experiment, from made-up measurements, and the film's run."""
    folder = tmp_path_factory.mktemp("study")
    study = Study(QUICK, [], {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPCAST_TRACES", str(measurements))
        for experiment in EXPERIMENTS.values():
            study.rows.extend(experiment.rows(made_up(experiment, lossless=False)))
            study.provenance[experiment.id] = {
                name: {"scenario_sha256": case.scenario.sha256, "seeds": list(case.seeds)}
                for name, case in experiment.cases(QUICK).items()
            }
    study.write(folder)
    film.demonstrate(folder / "film")
    return folder


def test_the_same_folder_gives_the_same_bytes(folder: Path) -> None:
    first = Path(write_report(folder)).read_bytes()
    assert Path(write_report(folder)).read_bytes() == first


def test_the_page_needs_nothing_from_elsewhere(folder: Path) -> None:
    text = Path(write_report(folder)).read_text()
    assert not re.search(r"<(script|link|img|iframe)\b|@import|url\((?!#)", text)
    assert all(target.startswith("#") for target in re.findall(r'\b(?:href|src)="([^"]*)"', text))


def test_the_page_is_well_formed(folder: Path) -> None:
    text = Path(write_report(folder)).read_text()
    Checker().check(text)
    identifiers = Counter(re.findall(r'\bid="([^"]*)"', text))
    assert [name for name, count in identifiers.items() if count > 1] == []
    targets = re.findall(r'href="#([^"]*)"', text) + re.findall(r"url\(#([^)]*)\)", text)
    assert set(targets) <= set(identifiers)


def test_every_experiment_and_the_film_are_there(folder: Path) -> None:
    text = Path(write_report(folder)).read_text()
    assert all(f'<section id="{name}">' in text for name in (*EXPERIMENTS, "film", "provenance"))
    assert hopcast.__version__ in text
    assert film.scenario().sha256 in text
    assert "`" not in text
    assert "<code>use_mac_</code>" in text
    assert "nan" not in re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL).lower().split()


def test_what_was_skipped_is_told(tmp_path: Path) -> None:
    Study(QUICK, [], {}, {"R9": "no <file>"}).write(tmp_path)
    assert "R9 was skipped: no &lt;file&gt;." in Path(write_report(tmp_path)).read_text()


@pytest.mark.parametrize(("measured", "remarked"), [(2.0, "holds"), (0.5, "fails"), (math.nan, "inconclusive")])
def test_remarks_are_told_from_claims_and_have_their_colours(tmp_path: Path, measured: float, remarked: str) -> None:
    rows = [
        claim("A2", "said", "ratio", "", Sample((2.0,)), low=1.0, note="about"),
        remark(claim("A2", "in passing", "ratio", "", Sample((measured,)), low=1.0, note="“further”")),
    ]
    experiment = EXPERIMENTS["A2"]
    rows += [row for row in experiment.rows(made_up(experiment, False)) if row.kind == "value" and row.remark is None]
    Study(QUICK, rows, {}).write(tmp_path)
    text = Path(write_report(tmp_path)).read_text()
    shown, folded = text.split('<section id="A2">')[1].split("<details>", 1)
    assert f'<span class="verdict {remarked}">remark: {remarked}</span>' in shown
    assert "“further”" in shown
    assert "≥ 1" in shown
    assert "“further”" not in folded
    # The experiment's own verdict is that of its claim, and its line at the head counts one of each.
    assert '<span class="verdict holds">holds</span></h2>' in shown
    line = re.search(r'<tr>(?:(?!</tr>).)*href="#A2".*?</tr>', text, flags=re.DOTALL)
    assert line is not None
    assert re.findall(r">([^<>]*)</td>", line[0])[-5:] == [
        "1", "0", "0", str(len(rows) - 2), f"{int(remarked == 'holds')} of 1 hold",
    ]  # fmt: skip


def test_light_and_dark(folder: Path) -> None:
    text = Path(write_report(folder)).read_text()
    assert "prefers-color-scheme: dark" in text
    assert "currentColor" in text


def test_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(NothingToReport, match=r"run\.json"):
        write_report(tmp_path)
    assert list(tmp_path.iterdir()) == []


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
