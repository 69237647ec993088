"""Columns of results, and HTML tables for pages and notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from hopcast.numbers import with_interval

if TYPE_CHECKING:
    import polars

FLOW_COLUMNS = (
    ("goodput, Mb/s", "goodput_bps", 1e-6),
    ("lost, %", "loss_ratio", 1e2),
    ("mean delay, ms", "delay_mean_s", 1e3),
    ("99 % delay, ms", "delay_p99_s", 1e3),
    ("mean jitter, ms", "jitter_mean_s", 1e3),
    ("largest jitter, ms", "jitter_max_s", 1e3),
)

CONVERSATION_COLUMNS = (
    ("rate, Mb/s", "rate_bps", 1e-6),
    ("packets", "sent_packets", 1.0),
    ("lost, %", "loss_ratio", 1e2),
    ("mean delay, ms", "delay_mean_s", 1e3),
    ("99 % delay, ms", "delay_p99_s", 1e3),
    ("RFC 3550 jitter, ms", "interarrival_jitter_mean_s", 1e3),
)
"""Columns of a conversation: heading, field, and the factor from the field's unit to that of the column."""
RTP_COLUMNS = (
    ("arrived", "received_packets", 1.0),
    ("lost", "lost_packets", 1.0),
    ("reordered", "reordered_packets", 1.0),
    ("jitter, ms", "jitter_mean_s", 1e3),
    ("pictures", "frames", 1.0),
    ("freezes", "freezes", 1.0),
    ("frozen, s", "freeze_time_s", 1.0),
    ("longest freeze, s", "freeze_max_s", 1.0),
)
"""Columns of an RTP stream, in the same form."""
SERIES = {
    "rate": ("goodput, Mb/s", 1e-6),
    "cwnd": ("congestion window, KiB", 1 / 1024),
    "ssthresh": ("slow start threshold, KiB", 1 / 1024),
    "srtt": ("smoothed round-trip time, ms", 1e3),
    "delay": ("delay, ms", 1e3),
    "jitter": ("largest jitter, ms", 1e3),
    "queue": ("interface queue, packets", 1.0),
}
"""Label and conversion factor for each series of flows and nodes."""


def series_columns(table: polars.DataFrame) -> dict[str, str]:
    """Which of `SERIES` a table has, and in which column: its name, then its unit."""
    found = {}
    for what in SERIES:
        names = [name for name in table.columns if name == what or name.startswith(f"{what}_")]
        if names:
            found[what] = names[0]
    return found


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = (), kind: str = "") -> str:
    """Make a table of cells that are already HTML; the columns of `numbers` are right-aligned. `kind` is a class of
    the style sheet.
    """

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
    """Make a table of each flow's measurements, from the object of `hopcast run --json`."""

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
