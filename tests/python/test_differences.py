"""The pages that `tools/docs/verdicts.py` writes of a run, on made-up rows."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from conftest import documentation_tool
from hopcast.lab.experiment import Table
from hopcast.lab.rows import Row
from hopcast_papers import EXPERIMENTS
from test_studies import made_up

VERDICTS = documentation_tool("verdicts")
PROSE = documentation_tool("prose")
WORDS = tomllib.loads(PROSE.WORDS.read_text(encoding="utf-8"))


def rows_of(*ids: str) -> dict[str, list[Row]]:
    """Made-up rows of experiments."""
    return {id_: EXPERIMENTS[id_].rows(made_up(EXPERIMENTS[id_], False)) for id_ in ids}


def test_the_page_of_differences_has_the_notes_of_each_study_under_its_title() -> None:
    rows = rows_of("H4", "A5", "V1", "V2")
    page = VERDICTS.differences(rows)
    lines = page.splitlines()
    assert lines[0] == "<!-- Written by tools/docs/verdicts.py from a run; do not edit. -->"
    assert [line for line in lines if line.startswith("## ")] == [
        "## Paper A",
        "## Paper H",
        "## Congestion control of media",
    ]
    assert [line.split(":")[0] for line in lines if line.startswith("### ")] == ["### A5", "### H4", "### V1", "### V2"]
    told = [VERDICTS._markdown(note) for id_ in ("A5", "H4", "V1") for note in EXPERIMENTS[id_].notes(Table(rows[id_]))]
    assert [line.removeprefix("* ") for line in lines if line.startswith("* ")] == told
    assert lines[lines.index(f"### V2: {EXPERIMENTS['V2'].title}") + 2] == "As for V1."


def test_the_page_of_differences_names_the_studies_that_were_not_run() -> None:
    page = VERDICTS.differences(rows_of("H4"))
    assert "Some studies were not run for this page. `hopcast study A1 A2 " in page
    assert "### A1" not in page


def test_the_page_of_differences_is_written_as_the_other_pages_are() -> None:
    page = VERDICTS.differences(rows_of("H4", "M7", "N1", "P1", "Q1", "V1", "W4"))
    assert PROSE.check(page, WORDS) == []


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("`a_b *` of a_b", "`a_b *` of a_b"),
        ("2 * 3 < 7", r"2 \* 3 \< 7"),
        ("_a_ as in [22]", r"\_a\_ as in \[22\]"),
        ("two beside three", "two next to three"),
    ],
)
def test_a_note_is_plain_text_with_code_between_backticks(note: str, expected: str) -> None:
    assert VERDICTS._markdown(note) == expected


def written(folder: Path, rows: dict[str, list[Row]]) -> str:
    """A folder of a study with these rows."""
    folder.mkdir()
    every = [row.as_dict() for of_one in rows.values() for row in of_one]
    (folder / "rows.json").write_text(json.dumps({"rows": every}), encoding="utf-8")
    return str(folder)


def test_pages_come_from_the_rows_of_a_folder_and_the_notes_from_further_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {name: tmp_path / f"{name}.md" for name in ("PAGE", "DIFFERENCES", "README")}
    for name, path in pages.items():
        monkeypatch.setattr(VERDICTS, name, path)
    pages["README"].write_text("<!-- tally -->\nold\n<!-- end of the tally -->\n")
    out, more = written(tmp_path / "out", rows_of("H4")), written(tmp_path / "more", rows_of("A5"))
    VERDICTS.main(out, more)
    found = {name: path.read_text(encoding="utf-8") for name, path in pages.items()}
    assert found["DIFFERENCES"] == VERDICTS.differences(rows_of("A5", "H4"))
    assert "| H4 |" in found["PAGE"]
    assert "| A5 |" not in found["PAGE"]
    assert "\nold\n" not in found["README"]
