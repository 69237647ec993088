"""The report's section on the register: every judged sentence with its line, the lines that were changed, and what of
the papers no study repeats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopcast.lab.register import Register
from hopcast.lab.rows import Row
from hopcast.report import html


def section(registers: Sequence[Register], rows: Mapping[str, Sequence[Row]]) -> list[str]:
    """The sentences of the experiments of these rows; empty if no register has any."""
    sentences = []
    for said in (said for register in registers for said in register.values() if said.experiment in rows):
        row = said.row_among(rows[said.experiment])
        sentences.append((said, None if row is None else row.verdict))
    changes = [change for register in registers for change in register.changes if change.experiment in rows]
    papers = {experiment[0] for experiment in rows}
    missing = [left for register in registers for left in register.missing if left.experiment[0] in papers]
    return [html.filled("register.html", sentences=sentences, changes=changes, missing=missing)] if sentences else []
