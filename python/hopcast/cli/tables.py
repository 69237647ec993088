"""Tables for people, on standard output. They never cut off text: a shortened name or number could be mistaken for
another one.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hopcast.numbers import significant, with_interval
from hopcast.statistics import ci95, mean

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from hopcast.compare import Comparison
    from hopcast.lab.register import Register
    from hopcast.lab.rows import Row
    from hopcast.lab.sensitivity import Sensitivity
    from hopcast.results import Result

VERDICT_STYLES = {
    "holds": "green",
    "within": "green",
    "fails": "red",
    "differs": "red",
    "inconclusive": "yellow",
    "measured": "dim",
}

ANSWER_STYLES = {"depends": "red", "does not": "green", "open": "yellow"}

LEAST = 12
"""Columns of a terminal after which a word, such as a name, is split."""


def print_result(result: Result) -> None:
    """Print the results of a run: the sums of a streaming cloud, a row for each flow, and the totals of the network."""
    document = result.json()
    names = ("flow", "from → to", "protocol")
    shown = any(flow["hiccups"] is not None for flow in document["flows"])
    players = ("start-up\ns", "hiccups", "hiccups\ns") if shown else ()
    numbers = ("goodput\nMb/s", "lost\n%", "delay mean\nms", "delay 99 %\nms", "jitter mean\nms", *players)
    lines = []
    for flow in document["flows"]:
        playing = (("start_up_s", 1.0), ("hiccups", 1.0), ("hiccup_time_s", 1.0)) if shown else ()
        lines.append(
            [
                flow["name"],
                f"{flow['from']} → {flow['to']}",
                flow["protocol"],
                _cell(flow, "goodput_bps", 1e-6),
                _cell(flow, "loss_ratio", 1e2),
                _cell(flow, "delay_mean_s", 1e3),
                _cell(flow, "delay_p99_s", 1e3),
                _cell(flow, "jitter_mean_s", 1e3),
                *(_cell(flow, field, factor) for field, factor in playing),
            ]
        )
    head = (*names, *numbers)
    title = Text(_title(result), style="bold")
    if "cloud" in document:
        console = _print_cloud(document["cloud"]["totals"], title)
        title = Text()
    if lines or "cloud" not in document:
        console = _print(head, lines, numbers=range(len(names), len(head)), title=title)
    # A number is no place to begin a new line: its thousands are parted by a space that rich takes for one.
    console.print("\n".join(textwrap.wrap(_summary(result), console.width)), highlight=False, soft_wrap=True)


def _print_cloud(totals: dict[str, Any], title: Text) -> Console:
    """Print the sums of a streaming cloud in a row."""
    columns = {
        "requests": "offered",
        "stored\nthere": "local",
        "admitted": "admitted",
        "refused": "refused",
        "not\nfound": "not_found",
        "completed": "completed",
        "without\nhiccup": "completed_without_hiccup",
        "hiccups\nper hour": "hiccups_per_hour",
        "stalled\ns": "stalled_s",
        "start-up\nmedian, s": "start_up_median_s",
    }
    line = [_cell(totals, field, 1.0) for field in columns.values()]
    return _print(tuple(columns), [line], numbers=range(len(columns)), title=title)


def print_comparison(comparison: Comparison) -> None:
    """Print two runs: a row for each flow and quantity, with their ratio."""
    lines: list[list[str | Text]] = []
    last = None
    for line in comparison.lines:
        cells = [
            "–" if value is None else with_interval(value, interval)
            for value, interval in ((line.first, line.first_ci95), (line.second, line.second_ci95))
        ]
        ratio = "–" if line.ratio is None else significant(line.ratio, 3)
        if last not in (None, line.flow):
            lines.append([])
        name = line.flow if line.flow != last else ""
        lines.append([name, f"{line.quantity}, {line.unit}", *cells, ratio])
        last = line.flow
    console = _print(("flow", "quantity", *comparison.labels, "ratio"), lines, numbers=(2, 3, 4))
    for label, lonely in zip(comparison.labels, comparison.lonely, strict=True):
        if lonely:
            console.print(Text(f"Only in {label}: {', '.join(lonely)}"))


def print_rows(rows: list[Row]) -> None:
    """Print findings of studies: a row for each number or claim of a paper. Values that are only measured follow if an
    experiment has nothing else: its paper then says nothing of them, or there is none.
    """
    lines: list[list[str | Text]] = []
    compared = {row.experiment for row in rows if row.verdict != "measured"}
    if not compared:
        measured: list[list[str | Text]] = [[row.experiment, row.case, row.metric, row.measured_text()] for row in rows]
        _print(("id", "case", "metric", "measured"), measured, numbers=(3,))
        return
    for row in rows:
        if row.verdict != "measured" or row.experiment not in compared:
            verdict = Text(row.verdict, style=VERDICT_STYLES[row.verdict])
            lines.append([row.experiment, row.case, row.metric, row.paper_text(), row.measured_text(), verdict])
    _print(("id", "case", "metric", "paper", "measured", "verdict"), lines, numbers=(3, 4))


def print_register(registers: Sequence[Register], rows: Sequence[Row]) -> None:
    """Print the sentences that these rows judge, with the line of each."""
    lines: list[list[str | Text]] = []
    for said in (said for register in registers for said in register.values()):
        row = said.row_among(row for row in rows if row.experiment == said.experiment)
        if row is not None:
            cells = (said.id, said.section, said.measured, said.of or "", said.line())
            lines.append([*cells, Text(row.verdict, style=VERDICT_STYLES[row.verdict])])
    if lines:
        _print(("sentence", "where", "measured", "cells", "line", "verdict"), lines, numbers=(4,))


def print_sensitivity(found: Sequence[Sensitivity]) -> None:
    """Print how findings change under other values of unstated parameters."""
    lines: list[list[str | Text]] = [
        [
            one.experiment,
            one.parameter,
            one.chosen,
            one.alternative,
            f"{one.agree_chosen} → {one.agree} of {one.rows}",
            Text(one.answer, style=ANSWER_STYLES[one.answer]),
        ]
        for one in found
    ]
    _print(("id", "parameter", "chosen", "tried", "agree", "its findings"), lines)


def _print(
    head: Sequence[str],
    lines: Sequence[Sequence[str | Text]],
    *,
    numbers: Collection[int] = (),
    title: Text | None = None,
) -> Console:
    """Print a table, and return the console, which is as wide as the table. A line without cells is a rule; `numbers`
    are columns.

    Without a terminal the table is as wide as necessary. On a terminal, first names wrap, then intervals and headings
    of numbers, then the space between columns shrinks; lines that still don't fit are longer than the terminal.
    """
    console = Console()
    looks = [
        _look(head, lines, numbers, is_folded, padding) for is_folded, padding in ((False, 1), (True, 1), (True, 0))
    ]
    if console.is_terminal:
        look = next((look for look in looks if sum(look.least) + look.frame <= console.width), looks[-1])
        console.width = max(console.width, sum(look.least) + look.frame)
    else:
        look = looks[0]
        console.width = max(console.width, sum(look.wanted) + look.frame)
    made = Table(title=title, title_justify="left", padding=(0, look.padding))
    for at, (name, width) in enumerate(zip(head, look.widths(console.width), strict=True)):
        made.add_column(Text(name), overflow="fold", justify="right" if at in numbers else "left", width=width)
    for line in look.lines:
        if line:
            made.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in line))
        else:
            made.add_section()
    console.print(made)
    return console


@dataclass(frozen=True)
class _Look:
    """A table ready to print; widths are those of columns, in characters of a terminal."""

    lines: Sequence[Sequence[str | Text]]
    least: list[int]
    wanted: list[int]
    padding: int

    @property
    def frame(self) -> int:
        """Characters that rules and the space on both sides of them take."""
        return (1 + 2 * self.padding) * len(self.least) + 1

    def widths(self, room: int) -> list[int]:
        """Distribute this table width: the column that lacks the most gets the next character."""
        found = list(self.least)
        for _ in range(room - self.frame - sum(found)):
            at = max(range(len(found)), key=lambda at: self.wanted[at] - found[at])
            if found[at] < self.wanted[at]:
                found[at] += 1
        return found


def _look(
    head: Sequence[str],
    lines: Sequence[Sequence[str | Text]],
    numbers: Collection[int],
    is_folded: bool,
    padding: int,
) -> _Look:
    """Return the table; with `is_folded`, intervals are below their numbers."""
    if is_folded:
        lines = [
            [f"{cell}".replace(" ± ", "\n± ") if at in numbers else cell for at, cell in enumerate(line)]
            for line in lines
        ]
    least, wanted = [], []
    for at, name in enumerate(head):
        cells = [line[at] for line in lines if line]
        words = [_longest_word(cell) for cell in (name, *cells)]
        # What stands above numbers folds with them.
        heading = words[0] if is_folded and at in numbers else _width(name)
        wanted.append(max([heading, *map(_width, cells)]))
        least.append(wanted[-1] if at in numbers else min(max(words), LEAST))
    return _Look(lines, least, wanted, padding)


def _width(cell: str | Text) -> int:
    """Width of the widest line, in characters of a terminal."""
    return max(map(cell_len, f"{cell}".split("\n")))


def _longest_word(cell: str | Text) -> int:
    """Width in characters of a terminal."""
    return max(map(cell_len, f"{cell}".split()), default=0)


def _title(result: Result) -> str:
    count = len(result)
    seeds = "1 replication" if count == 1 else f"{count} replications, mean ± half of the 95 % interval"
    return f"{result.scenario.name} ({result.scenario.duration_s:g} s, {seeds})"


def _cell(record: dict[str, Any], field: str, factor: float) -> str:
    interval = record.get(f"{field}_ci95")
    value = record.get(field)
    if value is None:
        return "–"
    return with_interval(value * factor, None if interval is None else interval * factor)


def _summary(result: Result) -> str:
    """Print the totals of the network and the cost of the run: of one run, or means of several with intervals."""
    totals, costs = result.json()["totals"], result.costs()

    def cost(field: str, digits: int) -> str:
        values = [float(value) for of_one in costs if (value := of_one[field]) is not None]
        return with_interval(mean(values), ci95(values), digits) if values else "–"

    return (
        f"{'' if len(result) == 1 else 'mean of a replication: '}"
        f"{_cell(totals, 'frames_sent', 1.0)} frames sent, {_cell(totals, 'collisions', 1.0)} collisions; "
        f"{cost('events', 4)} events in {cost('wall_s', 2)} s"
    )
