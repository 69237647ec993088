"""Write the pages of a run of the studies, and the README's tally.

`docs/verdicts.md` has each judged sentence of the papers with what the run measured, and `docs/differences.md` the notes
of each study on its rows. `hopcast study all --quick --out out && python tools/docs/verdicts.py out`.
"""

from __future__ import annotations

import json
import re
import sys
from collections import ChainMap, Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from hopcast.lab.experiment import Table
from hopcast.lab.rows import Row, experiment_verdict
from hopcast.lab.tally import VALUES, Tally, findings
from hopcast_papers import EXPERIMENTS, PAPERS
from hopcast_papers.register import REGISTER

ROOT = Path(__file__).parents[2]
PAGE, DIFFERENCES, README = ROOT / "docs" / "verdicts.md", ROOT / "docs" / "differences.md", ROOT / "README.md"
TALLY = re.compile(r"(<!-- tally -->\n).*?(\n<!-- end of the tally -->)", re.DOTALL)

HEAD = """\
<!-- Written by tools/docs/verdicts.py from a run; do not edit. -->
# Verdicts

What `hopcast study all --quick` finds of the papers' sentences and numbers. [Studies](studies.md) says how a row is judged, and
[Differences](differences.md) what differs from the papers, and why. [The register](../papers/hopcast_papers/register.toml) has the sentences and their lines.
"""

NOTES_HEAD = """\
<!-- Written by tools/docs/verdicts.py from a run; do not edit. -->
# What differs from the papers, and why

Each study has notes: what agrees with the paper, what does not, and the cause as far as a run shows it. A study computes its notes from its rows, so every
measured number below is one of the run that wrote this page. Numbers of a paper are the paper's own.

`hopcast study all --quick --out out && python tools/docs/verdicts.py out` writes this page and [Verdicts](verdicts.md). The report of a study has the same
notes, with figures and tables. [Studies](studies.md) says how a row is judged, and which parameters the papers do not state.
"""
OTHERS = {
    "N": ("Radios of today", "findings-on-radios-of-today"),
    "Q": ("Queues of an access point", "queues-of-an-access-point"),
    "R": ("Measurements of others", "experiments"),
    "V": ("Congestion control of media", "congestion-control-of-media"),
}
"""By the letter of experiments that repeat none of the papers: what they are about, and the part of the page of studies that
describes them."""


def differences(experiments: Mapping[str, Sequence[Row]]) -> str:
    """The page with the notes of each experiment on its rows."""
    lines = [NOTES_HEAD]
    absent = [name for name in EXPERIMENTS if name not in experiments]
    if absent:
        lines += [
            f"Some studies were not run for this page. `hopcast study {' '.join(absent)} --out more` and "
            "`python tools/docs/verdicts.py out more` add their notes.",
            "",
        ]
    letter, first = "", dict[tuple[str, ...], str]()
    for name in EXPERIMENTS:
        if name not in experiments:
            continue
        notes = tuple(EXPERIMENTS[name].notes(Table(experiments[name])))
        if name[0] != letter:
            letter = name[0]
            lines += _about(letter)
        lines += [f"### {name}: {_markdown(EXPERIMENTS[name].title)}", ""]
        if notes in first:
            lines += [f"As for {first[notes]}.", ""]
        elif notes:
            first[notes] = name
            lines += [*(f"* {_markdown(note)}" for note in notes), ""]
        else:
            lines += ["There are no notes.", ""]
    return "\n".join(lines)


def _about(letter: str) -> list[str]:
    """The heading of the experiments with this letter, and the paper that they repeat."""
    if letter in PAPERS:
        return [f"## Paper {letter}", "", f"{PAPERS[letter][0]}.", ""]
    title, anchor = OTHERS[letter]
    return [f"## {title}", "", f"[Studies](studies.md#{anchor}) describes them.", ""]


def _markdown(text: str) -> str:
    """A note in Markdown: of its signs, only backticks have a meaning in a note."""
    pieces = re.split("(`[^`]*`)", _plain(text))
    return "".join(
        piece if at % 2 else re.sub(r"[\\*<\[\]]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", piece)
        for at, piece in enumerate(pieces)
    )


def page(experiments: Mapping[str, Sequence[Row]]) -> str:
    """The page of verdicts for the rows of each experiment."""
    lines = [HEAD, *(f"* {sentence}" for sentence in Tally.of(experiments.values()).sentences())]
    lines += [
        "",
        "## By experiment",
        "",
        "| id | what | verdict | sentences: hold, fail, open | values: within, differ, open |",
    ]
    lines += ["|---|---|---|---|---|"]
    for name, rows in experiments.items():
        lines.append(
            _line(
                name,
                _plain(EXPERIMENTS[name].title),
                experiment_verdict(rows),
                _counts(rows, "claim"),
                _counts(rows, "value"),
            )
        )
    lines += ["", "The verdict on the values of an experiment is that of the median one.", ""]
    lines += [
        "## By sentence",
        "",
        "| sentence | of the paper | what is measured | line | measured | verdict |",
        "|---|---|---|---|---|---|",
    ]
    for key, said in REGISTER.items():
        row = said.row_among(experiments.get(said.experiment, ()))
        if row is not None:
            cells = _plain(said.measured) + (f" ({said.of})" if said.of else "")
            where = f"“{said.quotation}”" + (f", {said.section}" if said.section else "")
            lines.append(_line(key, where, cells, said.line(), row.measured_text(), row.verdict))
    lines += [
        "",
        "(typical), (hardest) and (best) say how the cells of a sentence are combined. Sentences of A6, H15 and M6, which measure real hosts, and of R, whose "
        "data hopcast may not contain, are judged by `hopcast study A6 H15 M6 R`.",
        "",
    ]
    return "\n".join(lines)


def _counts(rows: Sequence[Row], kind: str) -> str:
    counts = Counter(row.verdict for row in rows if row.kind == kind)
    names = ("holds", "fails", "inconclusive") if kind == "claim" else ("within", "differs", "inconclusive")
    if not any(counts[name] for name in names):
        return ""
    text = ", ".join(str(counts[name]) for name in names)
    return text if kind == "claim" else f"{text}: {findings(rows)[VALUES]}"


def _plain(text: str) -> str:
    """The text in the words of the pages."""
    return text.replace(" beside ", " next to ")


def _line(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '∣') for cell in cells)} |"


def tally(experiments: Mapping[str, Sequence[Row]]) -> str:
    """The README's sentences."""
    return (
        " ".join(Tally.of(experiments.values()).sentences()) + " [docs/verdicts.md](docs/verdicts.md) has each of them."
    )


def main(folder: str, *more: str) -> None:
    """Write the pages and the README's tally from the rows in a folder. Further folders have rows of experiments that
    `all` leaves out; only the page of differences has them.
    """
    experiments = _read(folder)
    PAGE.write_text(page(experiments), encoding="utf-8")
    others = [_read(each) for each in more]
    DIFFERENCES.write_text(differences(dict(ChainMap(experiments, *others))), encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    README.write_text(TALLY.sub(lambda found: found[1] + tally(experiments) + found[2], text), encoding="utf-8")


def _read(folder: str) -> dict[str, list[Row]]:
    """The rows in the folder of a study, by their experiments."""
    experiments: dict[str, list[Row]] = {}
    for fields in json.loads((Path(folder) / "rows.json").read_text(encoding="utf-8"))["rows"]:
        experiments.setdefault(fields["experiment"], []).append(Row(**fields))
    return experiments


if __name__ == "__main__":
    main(*sys.argv[1:])
