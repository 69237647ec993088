"""Tables for people, on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hopcast.numbers import significant, with_interval
from hopcast.statistics import ci95, mean

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def print_result(result: Result) -> None:
    """What a run measured: a row for each flow, and the totals of the network."""
    document = result.json()
    console = Console()
    table = Table(title=Text(_title(result), style="bold"), title_justify="left")
    for column in ("flow", "from → to", "protocol"):
        table.add_column(column)
    shown = any(flow["hiccups"] is not None for flow in document["flows"])
    players = ("start-up\ns", "hiccups", "hiccups\ns") if shown else ()
    for column in ("goodput\nMb/s", "lost\n%", "delay mean\nms", "delay 99 %\nms", "jitter mean\nms", *players):
        table.add_column(column, justify="right")
    for flow in document["flows"]:
        playing = (("start_up_s", 1.0), ("hiccups", 1.0), ("hiccup_time_s", 1.0)) if shown else ()
        table.add_row(
            Text(flow["name"]),
            Text(f"{flow['from']} → {flow['to']}"),
            flow["protocol"],
            _cell(flow, "goodput_bps", 1e-6),
            _cell(flow, "loss_ratio", 1e2),
            _cell(flow, "delay_mean_s", 1e3),
            _cell(flow, "delay_p99_s", 1e3),
            _cell(flow, "jitter_mean_s", 1e3),
            *(_cell(flow, field, factor) for field, factor in playing),
        )
    console.print(table)
    console.print(_summary(result), highlight=False)


def print_comparison(comparison: Comparison) -> None:
    """Two runs: a row for each flow and quantity, and their ratio."""
    console = Console()
    table = Table()
    table.add_column("flow")
    table.add_column("quantity")
    for column in (*comparison.labels, "ratio"):
        table.add_column(Text(column), justify="right")
    last = None
    for line in comparison.lines:
        cells = [
            "–" if value is None else with_interval(value, interval)
            for value, interval in ((line.first, line.first_ci95), (line.second, line.second_ci95))
        ]
        ratio = "–" if line.ratio is None else significant(line.ratio, 3)
        if last not in (None, line.flow):
            table.add_section()
        name = line.flow if line.flow != last else ""
        table.add_row(Text(name), f"{line.quantity}, {line.unit}", *cells, ratio)
        last = line.flow
    console.print(table)
    for label, lonely in zip(comparison.labels, comparison.lonely, strict=True):
        if lonely:
            console.print(Text(f"Only in {label}: {', '.join(lonely)}"))


def print_rows(rows: list[Row]) -> None:
    """What studies found: a row for each number, claim or remark of a paper, measured-only ones left out."""
    console = Console()
    table = Table()
    for column in ("experiment", "case", "metric"):
        table.add_column(column)
    for column in ("paper", "measured"):
        table.add_column(column, justify="right")
    table.add_column("verdict")
    for row in rows:
        if row.remark is not None or row.verdict != "measured":
            name = row.remark or row.verdict
            verdict = Text(f"remark: {name}" if row.remark else name, style=VERDICT_STYLES[name])
            cells = (row.experiment, row.case, row.metric, row.paper_text(), row.measured_text())
            table.add_row(*map(Text, cells), verdict)
    console.print(table)


def print_sensitivity(found: Sequence[Sensitivity]) -> None:
    """What became of findings under other values of what the papers leave unsaid."""
    table = Table()
    for column in ("experiment", "unsaid", "in place of", "tried", "agree", "its findings"):
        table.add_column(column)
    for one in found:
        table.add_row(
            one.experiment,
            Text(one.parameter),
            Text(one.chosen),
            Text(one.alternative),
            f"{one.agree_chosen} → {one.agree} of {one.rows}",
            Text(one.answer, style=ANSWER_STYLES[one.answer]),
        )
    Console().print(table)


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
