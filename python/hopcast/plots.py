"""Figures of one result."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hopcast.figures import Curve, Group, bars, curves
from hopcast.tables import SERIES, series_columns

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

    from hopcast.results import Result

MOST_NODES = 6
"""Nodes whose queues are drawn: the number of colours."""


def plot(result: Result, what: str) -> Figure:
    """Draw `"goodput"` or `"delays"` of each flow over all replications, or one of `SERIES` of the first
    replication.
    """
    if what == "goodput":
        return goodput(result.json())
    if what == "delays":
        return delay(result.json())
    if what in SERIES:
        return series(result.series, what)
    known = ", ".join(["goodput", "delays", *SERIES])
    raise ValueError(f"no figure {what!r}; there are {known}")


def goodput(document: dict[str, Any]) -> Figure:
    """Draw the goodput of each flow."""
    return _of_flows(document, [("goodput", "goodput_bps", 1e-6)], "goodput, Mb/s")


def delay(document: dict[str, Any]) -> Figure:
    """Draw the mean and the 99th percentile of each flow's delay."""
    return _of_flows(document, [("mean", "delay_mean_s", 1e3), ("99 %", "delay_p99_s", 1e3)], "delay, ms")


def series(table: polars.DataFrame, what: str) -> Figure:
    """Draw one quantity of each flow or node over time, in the first replication. Flows and nodes without it are left
    out. Of more than six nodes, the six with the longest queues are drawn.
    """
    label, factor = SERIES[what]
    if table.is_empty():
        return curves([], y=label)
    column = series_columns(table)[what]
    subject = "node" if what == "queue" else "flow"
    rows_of = table.filter(table["seed"] == table["seed"].min(), table[subject].is_not_null())
    drawn = []
    # A flow has one colour, whatever is drawn of it.
    for colour, ((name,), rows) in enumerate(rows_of.group_by([subject], maintain_order=True)):
        values = [None if value is None else value * factor for value in rows[column].to_list()]
        if any(value is not None for value in values):
            drawn.append(Curve(str(name), rows["time_s"].to_list(), values, colour))
    if what == "queue" and len(drawn) > MOST_NODES:
        label = f"queue, packets ({MOST_NODES} longest of {len(drawn)})"
        drawn = _longest(drawn)
    replications = table["seed"].n_unique()
    x = "time, s" if replications == 1 else f"time, s (the first of {replications} replications)"
    return curves(drawn, x=x, y=label)


def _longest(drawn: list[Curve]) -> list[Curve]:
    """The curves with the largest values, in their order, each with the colour of its place."""
    by_peak = sorted(drawn, key=lambda curve: max(value for value in curve.values if value is not None), reverse=True)
    kept = {curve.label for curve in by_peak[:MOST_NODES]}
    return [replace(curve, colour=place) for place, curve in enumerate(one for one in drawn if one.label in kept)]


def _of_flows(document: dict[str, Any], fields: list[tuple[str, str, float]], y: str) -> Figure:
    flows = document["flows"]
    groups = [
        Group(
            label,
            [math.nan if flow[field] is None else flow[field] * factor for flow in flows],
            [(flow.get(f"{field}_ci95") or 0.0) * factor for flow in flows],
        )
        for label, field, factor in fields
    ]
    return bars([flow["name"] for flow in flows], groups, y=y)
