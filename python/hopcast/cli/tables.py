"""Tables for people, on standard output. Nothing in them is cut off: a name or a number without its end would be another one."""

from __future__ import annotations

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
    from hopcast.results import Result
    from hopcast.studies.rows import Row
    from hopcast.studies.sensitivity import Sensitivity

VERDICT_STYLES = {
    "holds": "green",
    "within": "green",
    "fails": "red",
    "differs": "red",
    "inconclusive": "yellow",
    "measured": "dim",
}

ANSWER_STYLES = {"depends": "red", "does not": "green", "open": "yellow"}

WIDEST = 1_000_000
"""Places that no table takes."""
LEAST = 8
"""Places of a terminal that each column of names has at least, and what stands above one of numbers."""


def print_result(result: Result) -> None:
    """What a run measured: a row for each flow, and the totals of the network."""
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
    console = _print(head, lines, numbers=range(len(names), len(head)), title=Text(_title(result), style="bold"))
    console.print(_summary(result), highlight=False)


def print_comparison(comparison: Comparison) -> None:
    """Two runs: a row for each flow and quantity, and their ratio."""
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
    """What studies found: a row for each number, claim or remark of a paper, measured-only ones left out."""
    lines: list[list[str | Text]] = []
    for row in rows:
        if row.remark is not None or row.verdict != "measured":
            name = row.remark or row.verdict
            verdict = Text(f"remark: {name}" if row.remark else name, style=VERDICT_STYLES[name])
            lines.append([row.experiment, row.case, row.metric, row.paper_text(), row.measured_text(), verdict])
    _print(("experiment", "case", "metric", "paper", "measured", "verdict"), lines, numbers=(3, 4))


def print_sensitivity(found: Sequence[Sensitivity]) -> None:
    """What became of findings under other values of what the papers leave unsaid."""
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
    _print(("experiment", "unsaid", "in place of", "tried", "agree", "its findings"), lines)


def _print(
    head: Sequence[str],
    lines: Sequence[Sequence[str | Text]],
    *,
    numbers: Collection[int] = (),
    title: Text | None = None,
) -> Console:
    """Print a table, and give the console, as wide as that was. A line without cells is a rule; `numbers` are columns.

    Where there is no terminal, the table is as wide as it needs to be. On a terminal names fold, then intervals and what stands above
    numbers; beyond that lines are longer than the terminal.
    """
    console = Console()

    def table(*, is_narrow: bool) -> tuple[Table, int]:
        """And how wide it is at least."""
        made, least = Table(title=title, title_justify="left"), 3 * len(head) + 1
        cells = [
            [f"{cell}".replace(" ± ", "\n± ") if is_narrow and at in numbers else cell for at, cell in enumerate(line)]
            for line in lines
        ]
        for at, name in enumerate(head):
            if at not in numbers:
                made.add_column(Text(name), overflow="fold")
                least += LEAST
                continue
            width = max((_width(line[at]) for line in cells if line), default=0)
            width = max(width, min(_width(name), LEAST) if is_narrow else _width(name))
            made.add_column(Text(name), overflow="fold", justify="right", width=width)
            least += width
        for line in cells:
            if line:
                made.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in line))
            else:
                made.add_section()
        return made, least

    made, least = table(is_narrow=False)
    whole = console.measure(made, options=console.options.update(max_width=WIDEST)).maximum
    if not console.is_terminal:
        console.width = max(console.width, whole)
    elif min(least, whole) > console.width:
        made, least = table(is_narrow=True)
        console.width = max(console.width, least)
    console.print(made)
    return console


def _width(cell: str | Text) -> int:
    """Of its widest line, in places of a terminal."""
    return max(map(cell_len, f"{cell}".split("\n")))


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
    """What the network did and what that took: of one run, or the mean of several with its interval."""
    totals, costs = result.json()["totals"], result.costs()

    def cost(field: str, digits: int) -> str:
        values = [float(value) for of_one in costs if (value := of_one[field]) is not None]
        return with_interval(mean(values), ci95(values), digits) if values else "–"

    return (
        f"{'' if len(result) == 1 else 'mean of a replication: '}"
        f"{_cell(totals, 'frames_sent', 1.0)} frames sent, {_cell(totals, 'collisions', 1.0)} collisions; "
        f"{cost('events', 4)} events in {cost('wall_s', 2)} s"
    )
