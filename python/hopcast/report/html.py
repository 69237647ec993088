"""Pieces of a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from hopcast.numbers import with_interval

FLOW_COLUMNS = (
    ("goodput, Mb/s", "goodput_bps", 1e-6),
    ("lost, %", "loss_ratio", 1e2),
    ("mean delay, ms", "delay_mean_s", 1e3),
    ("99 % delay, ms", "delay_p99_s", 1e3),
    ("mean jitter, ms", "jitter_mean_s", 1e3),
    ("largest jitter, ms", "jitter_max_s", 1e3),
)


def page(title: str, body: Iterable[str]) -> str:
    """A whole page that needs nothing from elsewhere."""
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            "<main>",
            *body,
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def prose(text: str) -> str:
    """A text as HTML; what stands between backticks is code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = (), kind: str = "") -> str:
    """A table of cells that are HTML already; the columns of `numbers` are set flush right. `kind` is a class of the style sheet."""

    def cells(tag: str, row: Sequence[str]) -> str:
        kinds = [' class="number"' if column in numbers else "" for column in range(len(row))]
        return "".join(f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, row, strict=True))

    lines = [f"<tr>{cells('td', row)}</tr>" for row in rows]
    return "\n".join(
        [
            f'<div class="{f"wide {kind}".rstrip()}"><table>',
            f"<thead><tr>{cells('th', head)}</tr></thead>",
            "<tbody>",
            *lines,
            "</tbody></table></div>",
        ]
    )


def flow_table(document: dict[str, Any]) -> str:
    """What a run measured of each flow, from the object of `hopcast run --json`."""

    def cell(flow: dict[str, Any], field: str, factor: float) -> str:
        value, interval = flow.get(field), flow.get(f"{field}_ci95")
        if value is None:
            return "–"
        return with_interval(value * factor, None if interval is None else interval * factor)

    head = ["flow", "from → to", "protocol", *(name for name, _, _ in FLOW_COLUMNS)]
    rows = [
        [
            escape(flow["name"]),
            f"{escape(flow['from'])} → {escape(flow['to'])}",
            escape(flow["protocol"]),
            *(cell(flow, field, factor) for _, field, factor in FLOW_COLUMNS),
        ]
        for flow in document["flows"]
    ]
    return table(head, rows, numbers=range(3, len(head)))


def figure(title: str, drawing: str) -> str:
    """A drawing with its caption."""
    return f"<figure>\n{drawing}\n<figcaption>{escape(title)}</figcaption>\n</figure>"


def verdict(name: str, text: str | None = None) -> str:
    """A verdict, or another text in its colour."""
    return f'<span class="verdict {escape(name)}">{escape(name if text is None else text)}</span>'
