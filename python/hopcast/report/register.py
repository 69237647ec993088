"""The report's section on the register: every judged sentence with its line, and the lines that were changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from hopcast import tables
from hopcast.lab.register import Register
from hopcast.lab.rows import Row
from hopcast.report import html


def section(registers: Sequence[Register], rows: Mapping[str, Sequence[Row]]) -> list[str]:
    """The sentences of the experiments of these rows; empty if no register has any."""
    lines = []
    for register in registers:
        for said in register.values():
            if said.experiment not in rows:
                continue
            row = said.row_among(rows[said.experiment])
            lines.append(
                [
                    f'<a href="#{said.experiment}">{escape(said.id)}</a>',
                    escape(said.section),
                    f"“{escape(said.quotation)}”",
                    escape(said.measured),
                    escape(said.of or ""),
                    escape(said.line()),
                    "–" if row is None else html.verdict(row.remark or row.verdict),
                    f"<code>{escape(said.changed)}</code>",
                ]
            )
    if not lines:
        return []
    head = ["sentence", "where", "words", "measured", "cells", "line", "verdict", "last changed"]
    return [
        '<section id="register">',
        "<h2>The register: what each sentence is judged by</h2>",
        "<p>Studies read their lines from this register, and nothing else holds one. Of several cells a sentence is judged by the median "
        "(<em>typical</em>, for a tendency), by the one furthest beyond the line (<em>hardest</em>, for “never” or “all”), or by the one "
        "furthest within (<em>best</em>, for “in some cases”). The last column names the commit that last changed the sentence's entry or what it "
        "measures.</p>",
        f"<details><summary>Sentences ({len(lines)})</summary>",
        tables.table(head, lines, numbers=(5,), kind="rows"),
        "</details>",
        *_changes(registers, rows),
        "</section>",
    ]


def _changes(registers: Sequence[Register], rows: Mapping[str, Sequence[Row]]) -> list[str]:
    lines = [
        [
            escape(change.id),
            escape(change.old),
            escape(change.new),
            escape(change.reason),
            html.verdict(change.verdict_old),
            html.verdict(change.verdict_new),
        ]
        for register in registers
        for change in register.changes
        if change.experiment in rows
    ]
    if not lines:
        return ["<p>No line has been changed since the register was frozen.</p>"]
    head = ["sentence", "old line", "new line", "reason", "under the old line", "under the new line"]
    return [
        "<p>Lines that were changed after the register was frozen, with the verdicts of the quick form under both:</p>",
        tables.table(head, lines, kind="rows"),
    ]
