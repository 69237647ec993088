"""Conversations between real nodes of an emulation, in the report."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from hopcast import tables
from hopcast.figures import Curve, curves, svg
from hopcast.numbers import significant
from hopcast.report import html
from hopcast.tables import CONVERSATION_COLUMNS, RTP_COLUMNS

if TYPE_CHECKING:
    import polars

MOST = 6
"""Largest number of conversations in a figure: the number of colours."""


def section(document: dict[str, Any], series: polars.DataFrame | None) -> list[str]:
    """Tables and figures of the conversations in a run's object, with their series if there are any."""
    found = document["conversations"]
    if not found:
        return []
    rows = [
        [
            escape(one["name"]),
            *(_cell(one, field, factor) for _, field, factor in CONVERSATION_COLUMNS),
            escape(_causes(one)),
        ]
        for one in found
    ]
    head = ["conversation", *(name for name, _, _ in CONVERSATION_COLUMNS), "lost, by cause"]
    return [
        '<section id="conversations">',
        "<h2>Conversations between real nodes</h2>",
        "<p>Delays are one-way, from the device of one real node to that of the other. A lost packet counts for the first cause for which "
        "it was dropped on the way. Retry limits are losses on the air: collisions, noise, or a receiver out of range.</p>",
        tables.table(head, rows, numbers=range(1, len(head) - 1)),
        *_rtp(found),
        *_figures(found, series),
        "</section>",
    ]


def _causes(one: dict[str, Any]) -> str:
    """Numbers of lost packets by cause, the largest first."""
    causes = {name.replace("_", " "): count for name, count in one.get("drops", {}).items() if count}
    if held := one.get("held_packets", 0):
        causes["held by a real node"] = held
    ordered = sorted(causes.items(), key=lambda cause: -cause[1])
    return ", ".join(f"{name} {count}" for name, count in ordered) or "–"


def _rtp(found: list[dict[str, Any]]) -> list[str]:
    rows = [
        [
            escape(one["name"]),
            f"<code>0x{stream['ssrc']:08x}</code>",
            *(_cell(stream, field, factor) for _, field, factor in RTP_COLUMNS),
        ]
        for one in found
        for stream in one["rtp"]
    ]
    if not rows:
        return []
    head = ["conversation", "SSRC", *(name for name, _, _ in RTP_COLUMNS)]
    return [
        "<h3>RTP</h3>",
        "<p>A picture counts when all its packets have arrived. A freeze is a time between two pictures of at least three times the mean, "
        "and at least 150 ms above the mean, of the 30 before it, as the W3C's WebRTC statistics define it.</p>",
        tables.table(head, rows, numbers=range(2, len(head))),
    ]


def _figures(found: list[dict[str, Any]], series: polars.DataFrame | None) -> list[str]:
    """Figures over time of the conversations with the most bytes."""
    if series is None or series.is_empty():
        return []
    largest = sorted(found, key=lambda one: one["sent_bytes"], reverse=True)[:MOST]
    names = [one["name"] for one in found if one in largest]
    first = series.filter(series["seed"] == series["seed"].min())
    of_each = {name: first.filter(first["conversation"] == name).to_dict(as_series=False) for name in names}
    drawn = []
    for what, title, label, value in (
        ("rate", "Rate over time", "rate, Mb/s", _rate),
        ("delay", "Mean one-way delay over time", "delay, ms", _delay),
        ("lost", "Packets lost, of those sent in each interval", "lost, %", _lost),
        ("frozen", "Time for which a picture was frozen", "frozen, ms in an interval", _frozen),
    ):
        lines = [
            Curve(name, rows["time_s"], values, colour)
            for colour, (name, rows) in enumerate(of_each.items())
            if any(values := value(rows))
        ]
        if lines:
            drawn.append(html.figure(title, svg(curves(lines, x="time, s", y=label), f"conversations-{what}-")))
    return ['<div class="figures">', *drawn, "</div>"] if drawn else []


Rows = dict[str, list[Any]]
"""The series of one conversation, by column."""


def _rate(rows: Rows) -> list[float | None]:
    return [rate * 1e-6 for rate in rows["rate_bps"]]


def _delay(rows: Rows) -> list[float | None]:
    return [None if delay is None else delay * 1e3 for delay in rows["delay_s"]]


def _lost(rows: Rows) -> list[float | None]:
    return [
        1e2 * lost / sent if sent else None
        for lost, sent in zip(rows["lost_packets"], rows["sent_packets"], strict=True)
    ]


def _frozen(rows: Rows) -> list[float | None]:
    return [None if time is None else time * 1e3 for time in rows["freeze_time_s"]]


def _cell(record: dict[str, Any], field: str, factor: float) -> str:
    value = record[field]
    return "–" if value is None else significant(value * factor)
