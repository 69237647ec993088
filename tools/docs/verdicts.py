"""Write `docs/verdicts.md`, each judged sentence of the papers with what a run measured, and the README's tally.

`hopcast study all --quick --out out && python tools/docs/verdicts.py out`.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hopcast.lab.rows import Row, experiment_verdict
from hopcast.lab.tally import VALUES, Tally, findings
from hopcast_papers import EXPERIMENTS
from hopcast_papers.register import REGISTER

ROOT = Path(__file__).parents[2]
PAGE, README = ROOT / "docs" / "verdicts.md", ROOT / "README.md"
TALLY = re.compile(r"(<!-- tally -->\n).*?(\n<!-- end of the tally -->)", re.DOTALL)

HEAD = """\
<!-- Written by tools/docs/verdicts.py from a run; do not edit. -->
# Verdicts

What `hopcast study all --quick` finds of the papers' sentences and numbers. [Studies](studies.md) says how a row is judged, what differs from the papers,
and why. [The register](../papers/hopcast_papers/register.toml) has the sentences and their lines.
"""


def page(experiments: dict[str, list[Row]]) -> str:
    """The page for the rows of each experiment."""
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


def tally(experiments: dict[str, list[Row]]) -> str:
    """The README's sentences."""
    return (
        " ".join(Tally.of(experiments.values()).sentences()) + " [docs/verdicts.md](docs/verdicts.md) has each of them."
    )


def main(folder: str) -> None:
    """Write the page and the README's tally from the rows in a folder."""
    experiments: dict[str, list[Row]] = {}
    for fields in json.loads((Path(folder) / "rows.json").read_text(encoding="utf-8"))["rows"]:
        experiments.setdefault(fields["experiment"], []).append(Row(**fields))
    PAGE.write_text(page(experiments), encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    README.write_text(TALLY.sub(lambda found: found[1] + tally(experiments) + found[2], text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
