"""The report of a sweep: small multiples with intervals, a heat map for two parameters, a parallel plot for many."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from hopcast import tables
from hopcast.figures import svg
from hopcast.report import html
from hopcast.sweep import plots
from hopcast.sweep.plan import shown

if TYPE_CHECKING:
    from hopcast.sweep.result import SweepResult

MOST_FLOWS = 6
"""Flows that are drawn."""


def section(result: SweepResult) -> list[str]:
    """The page's body."""
    counts = result.document["counts"]
    wanted = "" if counts["runs"] is None else f" of {counts['runs']}"
    state = "" if result.complete else " The sweep is not complete."
    axes = plots.axes_of(result)
    flows = list(dict.fromkeys(result.flows["name"].to_list())) if counts["finished"] else []
    body = [
        "<h1>hopcast: a sweep</h1>",
        f'<p class="lead">{counts["points"]} points, {counts["finished"]}{wanted} runs.{state}</p>',
        "<p>Points are means over the seeds; bars are their 95 % confidence intervals.</p>",
        *_asked(result),
    ]
    for number, flow in enumerate(flows[:MOST_FLOWS]):
        body += [f"<h2>Flow {escape(flow)}</h2>", *_figures(result, axes, flow, f"s{number}")]
    if len(flows) > MOST_FLOWS:
        body.append(f"<p>{len(flows) - MOST_FLOWS} more flows are in the table of the sweep.</p>")
    provenance = result.document["provenance"]
    told = f"hopcast {provenance['version']}, scenario {provenance['scenario_sha256']}, first seed {provenance['seed']}"
    return [*body, "<h2>Provenance</h2>", f"<p>{escape(told)}</p>"]


def _asked(result: SweepResult) -> list[str]:
    rows = []
    for at, key in enumerate(result.keys):
        values = list(dict.fromkeys(shown(point[at]) for point in result.asked.points))
        text = ", ".join(values) if len(values) <= plots.MOST_PLACES else f"{len(values)} values"
        rows.append([f"<code>{escape(key)}</code>", escape(text)])
    return [tables.table(["key", "values"], rows)] if rows else []


def _figures(result: SweepResult, axes: list[plots.Axis], flow: str, prefix: str) -> list[str]:
    """The figures of a flow: those that suit the number of parameters."""
    drawn = []
    if not axes:
        return ["<p>No key has more than one value.</p>"]
    # Few values make the lines, many the axis.
    ordered = sorted(axes, key=lambda axis: (axis.is_number, len(axis.values)), reverse=True)
    is_grid = len(axes) <= 2 and all(len(axis.values) <= plots.MOST_LINES for axis in ordered[1:])
    if is_grid:
        drawn.append(("Against the varied parameters", plots.small_multiples(result, ordered, flow)))
    for field, (label, _) in plots.QUANTITIES.items():
        if not plots.is_measured(result, axes, flow, field):
            continue
        if len(axes) == 2 and is_grid:
            drawn.append((label, plots.heat_map(result, ordered, flow, field)))
        if not is_grid:
            drawn.append((f"{label}: each point of the sweep", plots.scatters(result, axes, flow, field)))
            drawn.append((f"{label}: a line for each point of the sweep", plots.parallel(result, axes, flow, field)))
    return [html.figure(title, svg(figure, f"{prefix}-{at}-")) for at, (title, figure) in enumerate(drawn)]
