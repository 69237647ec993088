"""Figures in one look. They carry no background and no fixed ink, so that a page can show them on light or dark."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from hopcast.numbers import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hopcast.studies.rows import Row

COLOURS = ("#3987cf", "#e07b2e", "#38a169", "#b565c9", "#d64f6b", "#8a8f3c")
"""Apart from each other for most colour-blind eyes, and legible on white and on near-black."""
MARKERS = ("o", "s", "^", "D", "v", "P")
INK = "#6f7782"
"""Of text and axes: legible on white and on near-black. `svg` turns it into the ink of the page."""
WIDTH, HEIGHT = 6.4, 3.4
"""Inches."""

STYLE: Any = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.0,
    "errorbar.capsize": 3.0,
    "svg.fonttype": "path",
    "svg.hashsalt": "hopcast",
}


@dataclass(frozen=True)
class Line:
    """A labelled line through rows of a study, with their intervals as error bars."""

    label: str
    points: Sequence[tuple[float, Row]]


@dataclass(frozen=True)
class Curve:
    """A labelled curve over time; `None` is a gap. `colour` is its place among the colours."""

    label: str
    seconds: Sequence[float]
    values: Sequence[float | None]
    colour: int


def lines(drawn: Sequence[Line], *, x: str, y: str, doubling: bool = False) -> Figure:
    """Rows of a study against a parameter. `doubling` sets sizes that double each time at even distances."""
    with _axes() as (figure, axes):
        for index, line in enumerate(drawn):
            points = [(at, row) for at, row in line.points if row.measured is not None]
            axes.errorbar(
                [at for at, _ in points],
                [row.measured or 0.0 for _, row in points],
                yerr=[row.ci95 or 0.0 for _, row in points],
                label=line.label,
                color=COLOURS[index % len(COLOURS)],
                marker=MARKERS[index % len(MARKERS)],
            )
        places = sorted({at for line in drawn for at, _ in line.points})
        if doubling:
            axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(FixedLocator(places))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        _finish(axes, x, y, len(drawn))
    return figure


def curves(drawn: Sequence[Curve], *, y: str, step: bool = False) -> Figure:
    """Curves over the time of a run."""
    with _axes() as (figure, axes):
        for curve in drawn:
            axes.plot(
                curve.seconds,
                [math.nan if value is None else value for value in curve.values],
                label=curve.label,
                color=COLOURS[curve.colour % len(COLOURS)],
                drawstyle="steps-pre" if step else "default",
                linewidth=1.1,
            )
        # From the start of the run, whatever is drawn: figures beside each other share their time.
        axes.set_xlim(0.0, max((curve.seconds[-1] for curve in drawn if curve.seconds), default=1.0))
        _finish(axes, "time, s", y, len(drawn))
    return figure


Bars = Sequence[tuple[str, Sequence[float], Sequence[float]]]
"""Bars of one look each: their label, their heights, and half the widths of their intervals."""


def bars(labels: Sequence[str], groups: Bars, *, y: str) -> Figure:
    """Bars side by side for each label; a group is its own label, its heights and half the widths of its intervals."""
    with _axes() as (figure, axes):
        _bars(axes, labels, groups)
        _finish(axes, "", y, len(groups))
    return figure


def panels(labels: Sequence[str], drawn: Sequence[tuple[str, Bars]]) -> Figure:
    """Bars side by side for each label, once for each quantity, one below the other: its label and the groups of all."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 0.75 * HEIGHT * len(drawn)), layout="constrained")
        for index, (y, groups) in enumerate(drawn):
            axes = figure.add_subplot(len(drawn), 1, index + 1)
            _bars(axes, labels, groups)
            # One legend is enough: what is side by side is the same in all of them.
            _finish(axes, "", y, len(groups) if index == 0 else 1)
    return figure


def _bars(axes: Axes, labels: Sequence[str], groups: Bars) -> None:
    width = 0.8 / len(groups)
    for index, (name, heights, intervals) in enumerate(groups):
        places = [at + (index - (len(groups) - 1) / 2) * width for at in range(len(labels))]
        axes.bar(
            places,
            heights,
            width * 0.92,
            yerr=intervals if any(intervals) else None,
            label=name,
            color=COLOURS[index % len(COLOURS)],
            ecolor=INK,
        )
    axes.xaxis.set_major_locator(FixedLocator(list(range(len(labels)))))
    crowded = sum(len(label) for label in labels) > 60
    axes.set_xticklabels(labels, rotation=30 if crowded else 0, ha="right" if crowded else "center")
    axes.grid(visible=False, axis="x")


def svg(figure: Figure, prefix: str = "") -> str:
    """The figure as an SVG element for a page: in the page's ink, the same bytes each time.

    Its identifiers begin with `prefix`, so that several figures can stand on one page.
    """
    buffer = io.StringIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}", text)
    # The page sets the size; the view box keeps the proportions.
    head, body = text.split(">", 1)
    return re.sub(r' (width|height)="[^"]*"', "", head) + ">" + body


def save(figure: Figure, file: IO[bytes], kind: str) -> None:
    """Write the figure to an open file as `"svg"`, `"png"` or `"pdf"`: the same bytes each time."""
    # A figure does not say when it was drawn.
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with matplotlib.rc_context(STYLE):
        figure.savefig(file, format=kind, metadata=undated.get(kind), dpi=200)


@contextmanager
def _axes() -> Iterator[tuple[Figure, Axes]]:
    """A figure with one pair of axes. The style holds while it is drawn; `svg` sets it again."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        yield figure, figure.add_subplot()


def _finish(axes: Axes, x: str, y: str, count: int) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, 0.0) if low < -1e-12 and _dips(axes) else 0.0, high if high > 0.0 else 1.0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: significant(value, 6)))
    if count > 1:
        # Above the axes, where no curve can run through it.
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=min(count, 4), borderaxespad=0.2)


def _dips(axes: Axes) -> bool:
    """Whether anything drawn is below zero, error bars apart."""
    data: list[Any] = [line.get_ydata() for line in axes.get_lines()]
    return any(float(value) < 0.0 for values in data for value in values)
