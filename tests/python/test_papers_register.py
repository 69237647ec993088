"""The register of the papers' sentences: nothing else holds a line, and each sentence is judged."""

from __future__ import annotations

import ast
import html
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import hopcast_papers
from conftest import ROOT
from hopcast.cli.tables import print_register
from hopcast.lab.register import Change, Register, RegisterError
from hopcast.lab.rows import Row, Sample
from hopcast.report.register import section
from hopcast_papers import EXPERIMENTS
from hopcast_papers.register import REGISTER
from test_studies import made_up, rows_of

FOLDER = Path(hopcast_papers.__file__).parent
MODULES = [path for path in sorted(FOLDER.rglob("*.py")) if path.name != "register.py"]
JUDGES = {"claim", "sentence", "judged", "hardest", "best"}
"""Functions of `hopcast.lab.rows` to which a line is given."""


def judged_rows(measurements: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Row]]:
    """The rows of every experiment that judge a sentence."""
    monkeypatch.setenv("HOPCAST_TRACES", str(measurements))
    return {id_: [row for row in rows_of(one) if row.kind == "claim"] for id_, one in EXPERIMENTS.items()}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_study_holds_a_line(path: Path) -> None:
    """Studies judge through the register, by the ids of its sentences."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("hopcast.lab")
        for alias in node.names
    }
    assert imported & JUDGES == set()
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not {name for name in modules if name.startswith("hopcast.lab")}


def test_studies_name_the_sentences_of_the_file_and_no_others() -> None:
    named: Counter[str] = Counter()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and re.fullmatch(r"[AHMPRW]\d+\.[a-z0-9-]+", node.value)
            ):
                named[node.value] += 1
    assert set(named) - set(REGISTER) == set(), "the register lacks them"
    assert set(REGISTER) - set(named) == set(), "no study judges them"


# The process of the report's tests has these rows.
@pytest.mark.xdist_group("report")
def test_every_sentence_is_judged_once_by_its_line(measurements: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = judged_rows(measurements, monkeypatch)
    for said in REGISTER.values():
        found = [row for row in judged[said.experiment] if row.note == said.text()]
        assert len(found) == 1, said.id
        (row,) = found
        assert said.row_among(judged[said.experiment]) == row
        if said.id != "R2.bias":
            assert (row.paper_low, row.paper_high) == (said.low, said.high)
    assert sum(map(len, judged.values())) == len(REGISTER)


def test_every_sentence_has_its_source() -> None:
    for said in REGISTER.values():
        assert said.quotation
        assert said.measured
        assert said.section or said.id.startswith("R")
        assert re.fullmatch(r"[0-9a-f]{7,40}|[A-Z].{10,}", said.changed), "a commit's hash, or its subject"
        assert said.experiment in EXPERIMENTS


def test_a_sentence_is_judged_by_its_line() -> None:
    level = REGISTER["H2.level"]
    assert level.line() == "0.9 … 1.1"
    assert [level.holds(number) for number in (0.89, 0.9, 1.1, 1.11)] == [False, True, True, False]
    assert REGISTER.limit("H2.rise") == 1.0
    with pytest.raises(ValueError, match=r"H2\.level: has two lines: 0\.9 … 1\.1"):
        REGISTER.limit("H2.level")
    with pytest.raises(ValueError, match="does not say how its cells are combined"):
        REGISTER.rows("H6.one-ms-above-none", "", "", "", {"a": Sample((1.0,)), "b": Sample((2.0,))})
    row = REGISTER.row("R2.bias", "case", "mean error", "dB", Sample((0.5,)), scale=0.4)
    assert (row.paper_low, row.paper_high, row.verdict) == (-0.4, 0.4, "fails")


def test_every_line_that_has_changed_is_in_the_table_of_changes() -> None:
    frozen = tomllib.loads((FOLDER / "frozen.toml").read_text(encoding="utf-8"))["line"]
    now = {said.id: said.line() + (f", {said.of}" if said.of else "") for said in REGISTER.values()}
    changed = {id_ for id_, line in frozen.items() if now.get(id_) != line}
    assert changed - {change.id for change in REGISTER.changes} == set()


def test_the_report_says_what_no_study_repeats() -> None:
    rows = EXPERIMENTS["H4"].rows(made_up(EXPERIMENTS["H4"], False))
    page = html.unescape("\n".join(section([REGISTER], {"H4": rows})))
    assert REGISTER.missing
    for left in REGISTER.missing:
        assert left.what
        assert left.why
        assert (left.what in page) == left.experiment.startswith("H")


ENTRY = {"id": "X1.one", "section": "1", "quotation": "q", "measured": "m", "note": "{quotation}", "changed": "0123456"}


def written(folder: Path, **fields: Any) -> Path:
    """A register with one sentence."""
    path = folder / "register.toml"
    lines = [f"{key} = {value if isinstance(value, float) else repr(value)}" for key, value in fields.items()]
    path.write_text("[[sentence]]\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "X1.one: has neither low nor high"),
        ({"low": "1"}, "sentence[0]: low = '1' has the wrong type"),
        ({"low": 1.0, "of": "mean"}, "sentence[0]: of = 'mean'; one of typical, hardest, best is expected"),
        ({"low": 1.0, "hihg": 2.0}, "sentence[0]: hihg: is no field of a sentence"),
    ],
)
def test_a_wrong_register_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(RegisterError, match=re.escape(message)):
        Register.read(written(tmp_path, **ENTRY | change))


def test_a_register_has_its_changes(tmp_path: Path) -> None:
    path = written(tmp_path, **ENTRY, low=1.0)
    change = {"id": "X1.one", "old": "≥ 2", "new": "≥ 1", "reason": "r", "verdict_old": "fails", "verdict_new": "holds"}
    text = path.read_text() + "[[change]]\n" + "\n".join(f"{key} = {value!r}" for key, value in change.items())
    path.write_text(text)
    assert [found.id for found in Register.read(path).changes] == ["X1.one"]
    path.write_text(text.replace("[[change]]", "[[changes]]"))
    with pytest.raises(RegisterError, match="changes: is no table of a register"):
        Register.read(path)


def test_the_terminal_and_the_report_show_the_register(capsys: pytest.CaptureFixture[str]) -> None:
    rows = EXPERIMENTS["H4"].rows(made_up(EXPERIMENTS["H4"], False))
    print_register([REGISTER], rows)
    out = capsys.readouterr().out
    (verdict,) = (row.verdict for row in rows if row.metric == "off a fair share" and row.kind == "claim")
    assert re.search(rf"H4\.fair .* section III-A, Fig\. 7 .* hardest .* ≤ 0\.1 .* {verdict}", out)
    assert "H2." not in out
    page = "\n".join(section([REGISTER], {"H4": rows}))
    assert "“UDP observes a higher bandwidth because it drops approximately 0.2% of data”" in page
    assert "No line has been changed since the register was frozen." in page
    change = Change("H4.fair", "≤ 0.2", "≤ 0.1", "as the paper has it", "holds", "fails")
    page = "\n".join(section([Register(REGISTER.sentences, {}, (change,))], {"H4": rows}))
    assert "as the paper has it" in page
    assert "No line has been changed" not in page
    assert section([REGISTER], {"HIDDEN": []}) == []


def test_the_page_of_verdicts_has_the_sentences_and_lines_of_the_register_and_the_readme_its_tally() -> None:
    page = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    told = {cells[0]: cells for cells in lines if len(cells) == 6 and cells[0] in REGISTER}
    # Real hosts and measurements of others are no part of `all` on every machine.
    expected = [key for key, said in REGISTER.items() if said.experiment not in ("A6", "H15", "M6", "R1", "R2")]
    assert list(told) == expected
    assert {key: cells[3] for key, cells in told.items()} == {key: REGISTER[key].line() for key in expected}
    verdicts = Counter(cells[5] for cells in told.values())
    tally = f"{verdicts['holds']} of {len(told)} hold"
    assert f"Sentences of the papers: {tally} " in page
    assert f"Sentences of the papers: {tally} " in (ROOT / "README.md").read_text(encoding="utf-8")
