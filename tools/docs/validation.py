"""Figures of `docs/validation.md`, drawn from the tables above them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
from channel import drawn, legend
from matplotlib.figure import Figure

from hopcast.figures import COLOURS, HEIGHT, INK, MARKERS, STYLE, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"
STRINGS = ("ns-3", "ns-3-like", "ns-2", "ns-2-persistent")
TOOLS = ("hopcast", "ns-3", "ns-2")
"""In the order of their colours."""
AGREEMENT = 0.1
"""Difference of the ratio from 1 that the page counts as agreement."""

Rows = list[dict[str, str]]
"""Rows of a table: cells by the names of their columns. Of two columns with one name the second has a 2 after it."""


def figures() -> dict[str, str]:
    """Every figure: name and text."""
    page = PAGE.read_text(encoding="utf-8")
    return {
        "figures/validation-cell.svg": drawn(1, lambda axes: cell(axes, table(page, "validation-cell"))),
        **{
            f"figures/validation-string-{name}.svg": string(table(page, f"validation-string-{name}"))
            for name in STRINGS
        },
    }


def table(page: str, figure: str) -> Rows:
    """The table that is last before a figure."""
    above = page[: page.index(f"(figures/{figure}.svg)")].splitlines()
    rule = max(at for at, line in enumerate(above) if re.match(r"\|[-:| ]+\|$", line))
    names: list[str] = []
    for name in cells(above[rule - 1]):
        names.append(f"{name}2" if name in names else name)
    lines: Rows = []
    for line in above[rule + 1 :]:
        if not line.startswith("|"):
            break
        lines.append(dict(zip(names, cells(line), strict=True)))
    return lines


def cells(line: str) -> list[str]:
    """Texts of a row."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def number(text: str) -> tuple[float, float]:
    """A number and half its interval, 0 without one."""
    value, _, half = text.partition(" ± ")
    return float(value), float(half or 0.0)


def cell(axes: Axes, rows: Rows) -> None:
    """Throughput of a cell against its stations, between the models."""
    stations = [int(row["stations"]) for row in rows]
    low, high = ([float(row[name]) for row in rows] for name in ("EIFS − 3 %", "DIFS + 3 %"))
    axes.fill_between(stations, low, high, color=INK, alpha=0.2, linewidth=0.0, label="the models, 3 % more and less")
    for wait, style in (("DIFS", "--"), ("EIFS", ":")):
        of_model = [float(row[f"Bianchi, {wait}"]) for row in rows]
        axes.plot(stations, of_model, style, color=INK, label=f"Bianchi, {wait} after a collision")
    for tool in TOOLS:
        draw(axes, stations, [number(row[tool]) for row in rows], tool)
    axes.set_xscale("log")
    axes.set_xticks(stations, [str(count) for count in stations])
    axes.minorticks_off()
    axes.set(xlabel="saturated stations", ylabel="throughput of all stations, Mb/s")
    legend(axes)


def string(rows: Rows) -> str:
    """TCP over hops, one column of panels for each window and use of RTS: goodputs, and below them their ratio, since
    the goodputs hide each other.
    """
    peer = next(tool for tool in TOOLS[1:] if tool in rows[0])
    groups = list(dict.fromkeys((row["window"], row["RTS"]) for row in rows))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 1.3 * HEIGHT), layout="constrained")
        grid = figure.subplots(2, len(groups), sharex=True, sharey="row")
        for (window, rts), above, below in zip(groups, *grid, strict=True):
            of_group = [row for row in rows if (row["window"], row["RTS"]) == (window, rts)]
            hops = [int(row["hops"]) for row in of_group]
            ours = [number(f"{row['hopcast']} ± {row['± 95 %2']}") for row in of_group]
            theirs = [number(f"{row[peer]} ± {row['± 95 %']}") for row in of_group]
            draw(above, hops, theirs, peer)
            draw(above, hops, ours, "hopcast")
            above.set_title(f"window {window}, RTS {rts}", fontsize=STYLE["font.size"])
            below.axhspan(1.0 - AGREEMENT, 1.0 + AGREEMENT, color=INK, alpha=0.15, linewidth=0.0)
            below.axhline(1.0, color=INK, linewidth=0.8)
            pairs = list(zip(ours, theirs, strict=True))
            ratios = [our / their for (our, _), (their, _) in pairs]
            # Of independent runs, to the first order.
            halves = [our / their * math.hypot(a / our, b / their) for (our, a), (their, b) in pairs]
            below.errorbar(hops, ratios, yerr=halves, color=COLOURS[0], marker=MARKERS[0], markersize=3.5)
            below.set_xticks(hops)
            below.set_xlabel("hops")
        above, below = grid[0][0], grid[1][0]
        above.set_yscale("log")
        above.set_yticks([0.1, 0.2, 0.5, 1.0], ["0.1", "0.2", "0.5", "1"])
        above.minorticks_off()
        above.set_ylabel("goodput, Mb/s")
        below.set_ylabel(f"hopcast / {peer}, ratio")
        # hopcast is drawn last, over the other, and named first.
        handles, labels = (entries[::-1] for entries in above.get_legend_handles_labels())
        figure.legend(handles, labels, loc="outside upper left", ncols=2, fontsize=8.0)
        return picture(figure)


def draw(axes: Axes, places: Sequence[int], points: Sequence[tuple[float, float]], tool: str) -> None:
    """Means with their intervals."""
    at = TOOLS.index(tool)
    axes.errorbar(
        places,
        [value for value, _ in points],
        yerr=[half or math.nan for _, half in points],
        color=COLOURS[at],
        marker=MARKERS[at],
        markersize=3.5,
        linewidth=1.1,
        linestyle="-" if tool == "hopcast" else "--",
        label=tool,
    )
