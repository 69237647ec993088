"""Figures of a sweep: small multiples with intervals, heat maps for two parameters, parallel plots for many."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from hopcast.figures import COLOURS, HEIGHT, INK, LITERAL, MARKERS, STYLE, WIDTH, legend_columns
from hopcast.numbers import significant
from hopcast.statistics import ci95, mean
from hopcast.sweep.plan import flat, shown, split

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hopcast.sweep.result import SweepResult

QUANTITIES = {
    "goodput_bps": ("goodput, Mb/s", 1e-6),
    "loss_ratio": ("lost, %", 1e2),
    "delay_mean_s": ("mean delay, ms", 1e3),
}
"""Fields that are drawn: label, and the factor from the field's unit to that of the label."""
MAP = "viridis"
"""Colours of heat maps and parallel plots: evenly bright, and legible for colour-blind people."""
MOST_LINES = 8
"""Lines in one panel that can be told apart."""
MOST_PLACES = 12
"""Values of a text parameter that fit on an axis."""
PANEL = 2.1
"""Height of a panel, in inches."""


@dataclass(frozen=True)
class Axis:
    """A varied parameter: several keys if their values go side by side."""

    keys: tuple[str, ...]
    values: tuple[object, ...]
    """Different values of the first key: in increasing order if they are numbers of one unit, else in that of the sweep."""
    places: tuple[float, ...]
    """Where each value is drawn: at the number, or at 0, 1, … for text."""
    unit: str
    is_number: bool

    @property
    def label(self) -> str:
        """What is written at the axis."""
        names = self.keys[0] if len(self.keys) == 1 else f"{self.keys[0]} (and {len(self.keys) - 1} with it)"
        return f"{names}, {self.unit}" if self.unit else names

    def text(self, place: float) -> str:
        """The value at a place."""
        if self.is_number:
            return significant(place, 6)
        return str(self.values[round(place)]) if 0 <= round(place) < len(self.values) else ""


@dataclass(frozen=True)
class Point:
    """A point of the sweep: its place on each axis, and mean and interval of a quantity by flow."""

    places: tuple[float, ...]
    means: Mapping[str, tuple[float, float | None]]


def axes_of(result: SweepResult) -> list[Axis]:
    """The parameters of the sweep, without those that have one value only."""
    points = result.asked.points
    columns = {key: [point[at] for point in points] for at, key in enumerate(result.keys)}
    together = {key for key, _ in flat(result.document["asked"].get("zip") or {}, "zip", "")}
    groups: dict[tuple[object, ...], list[str]] = {}
    for key, values in columns.items():
        seen: list[object] = []
        order = []
        for value in values:
            if value not in seen:
                seen.append(value)
            order.append(seen.index(value))
        if len(seen) > 1:
            groups.setdefault(("zip" if key in together else key, *order), []).append(key)
    return [_axis(tuple(keys), columns[keys[0]]) for keys in groups.values()]


def _axis(keys: tuple[str, ...], column: Sequence[object]) -> Axis:
    different: list[object] = []
    for value in column:
        if value not in different:
            different.append(value)
    parsed = [split(value) for value in different]
    units = {None if one is None else one[1] for one in parsed}
    if len(units) == 1 and None not in units:
        pairs = sorted((one[0], at) for at, one in enumerate(parsed) if one is not None)
        (unit,) = units
        return Axis(keys, tuple(different[at] for _, at in pairs), tuple(of for of, _ in pairs), unit or "", True)
    texts = tuple(range(len(different)))
    return Axis(keys, tuple(different), tuple(map(float, texts)), "", False)


def points_of(result: SweepResult, axes: Sequence[Axis], field: str) -> list[Point]:
    """Means and intervals of a field over the seeds, in the unit in which it is drawn."""
    factor = QUANTITIES[field][1]
    table = result.flows
    if table.is_empty():
        return []
    at = [result.keys.index(axis.keys[0]) for axis in axes]
    by_key: dict[tuple[object, ...], dict[str, list[float]]] = {}
    columns = [table[key].to_list() for key in (*result.keys, "name", field)]
    for *values, name, value in zip(*columns, strict=True):
        if value is not None:
            by_key.setdefault(tuple(values), {}).setdefault(name, []).append(value * factor)
    found = []
    for point in dict.fromkeys(zip(*columns[: len(result.keys)], strict=True)):
        means = {name: (mean(of), ci95(of)) for name, of in by_key.get(tuple(point), {}).items()}
        found.append(Point(tuple(_place(axis, point[index]) for axis, index in zip(axes, at, strict=True)), means))
    return found


def is_measured(result: SweepResult, axes: Sequence[Axis], flow: str, field: str) -> bool:
    """Whether any point has a value of this quantity."""
    return any(flow in point.means for point in points_of(result, axes, field))


def _place(axis: Axis, value: object) -> float:
    """The place of a value as the table has it: tables and mixed values are text there."""
    for known, place in zip(axis.values, axis.places, strict=True):
        if known == value or (isinstance(value, str) and not isinstance(known, str) and shown(known) == value):
            return place
    raise ValueError(f"{value!r} is no value of {axis.label}")


@contextmanager
def _figure(rows: int, columns: int, height: float = PANEL) -> Iterator[tuple[Figure, list[Axes]]]:
    with matplotlib.rc_context(STYLE | LITERAL):
        figure = Figure(figsize=(WIDTH, height * rows + 0.3), layout="constrained")
        yield figure, [figure.add_subplot(rows, columns, at + 1) for at in range(rows * columns)]


def small_multiples(result: SweepResult, axes: Sequence[Axis], flow: str) -> Figure:
    """A panel for each quantity of a flow against the first parameter, with 95 % intervals, and a line for each value of
    the second one.
    """
    x = axes[0]
    with _figure(len(QUANTITIES), 1) as (figure, panels):
        for row, (panel, (field, (label, _))) in enumerate(zip(panels, QUANTITIES.items(), strict=True)):
            lines: dict[float | None, list[tuple[float, float, float]]] = {}
            for point in points_of(result, axes, field):
                if flow in point.means:
                    value, half = point.means[flow]
                    lines.setdefault(point.places[1] if len(axes) > 1 else None, []).append(
                        (point.places[0], value, half or 0.0)
                    )
            entries = []
            for number, (place, line) in enumerate(sorted(lines.items(), key=lambda item: item[0] or 0.0)):
                line.sort()
                least = 0.0 if all(value >= 0.0 for _, value, _ in line) else -math.inf
                drawn = panel.errorbar(
                    [at for at, _, _ in line],
                    [value for _, value, _ in line],
                    yerr=(
                        [min(half, value - least) for _, value, half in line],
                        [half for _, _, half in line],
                    ),
                    color=COLOURS[number % len(COLOURS)],
                    marker=MARKERS[number % len(MARKERS)],
                    linestyle="-" if number < len(COLOURS) else "--",
                )
                entries.append((drawn, "" if place is None else axes[1].text(place)))
            panel.set_ylabel(label)
            _scale(panel.yaxis)
            if not any(value < 0.0 for line in lines.values() for _, value, _ in line):
                top = panel.get_ylim()[1]
                panel.set_ylim(0.0, top if top > 0.0 else 1.0)
            _places(panel.xaxis, x)
            if row == len(QUANTITIES) - 1:
                panel.set_xlabel(x.label)
            if row == 0 and len(axes) > 1:
                labels = [text for _, text in entries]
                panel.legend(
                    [drawn for drawn, _ in entries],
                    labels,
                    title=axes[1].label,
                    ncols=legend_columns(labels),
                    loc="lower left",
                    bbox_to_anchor=(0.0, 1.0),
                    borderaxespad=0.2,
                    alignment="left",
                )
    return figure


def scatters(result: SweepResult, axes: Sequence[Axis], flow: str, field: str) -> Figure:
    """A panel for each parameter: mean and interval of a quantity at every point of the sweep."""
    columns = min(len(axes), 3)
    rows = math.ceil(len(axes) / columns)
    points = [point for point in points_of(result, axes, field) if flow in point.means]
    with _figure(rows, columns) as (figure, panels):
        for at, panel in enumerate(panels):
            if at >= len(axes):
                panel.set_axis_off()
                continue
            values = [point.means[flow] for point in points]
            panel.errorbar(
                [point.places[at] for point in points],
                [value for value, _ in values],
                yerr=[half or 0.0 for _, half in values],
                fmt="o",
                markersize=3.0,
                capsize=0.0,
                elinewidth=0.8,
                alpha=0.8,
                color=COLOURS[0],
            )
            panel.set_xlabel(_broken(axes[at].label), fontsize=8.0)
            if at % columns == 0:
                panel.set_ylabel(QUANTITIES[field][0])
            _scale(panel.yaxis)
            _places(panel.xaxis, axes[at])
            if axes[at].is_number:
                panel.xaxis.set_major_locator(MaxNLocator(4))
    return figure


def heat_map(result: SweepResult, axes: Sequence[Axis], flow: str, field: str) -> Figure:
    """The mean of a quantity for each pair of values of two parameters."""
    x, y = axes[:2]
    cells = [[math.nan] * len(x.values) for _ in y.values]
    for point in points_of(result, axes[:2], field):
        if flow in point.means:
            cells[y.places.index(point.places[1])][x.places.index(point.places[0])] = point.means[flow][0]
    known = [value for row in cells for value in row if math.isfinite(value)]
    with _figure(1, 1, HEIGHT) as (figure, (panel,)):
        panel.grid(visible=False)
        image = panel.imshow(cells, aspect="auto", origin="lower", cmap=MAP, interpolation="nearest")
        bar = figure.colorbar(image, ax=panel)
        bar.set_label(QUANTITIES[field][0])
        bar.outline.set_edgecolor(INK)
        _scale(bar.ax.yaxis)
        if len(known) <= 80:
            low, high = min(known, default=0.0), max(known, default=0.0)
            for row, line in enumerate(cells):
                for at, value in enumerate(line):
                    if math.isfinite(value):
                        dark = high <= low or (value - low) / (high - low) < 0.6
                        text = significant(value, 3)
                        panel.text(
                            at, row, text, ha="center", va="center", color="white" if dark else "black", fontsize=8.5
                        )
        for of, axis in ((panel.xaxis, x), (panel.yaxis, y)):
            shown = range(0, len(axis.values), math.ceil(len(axis.values) / MOST_PLACES))
            of.set_major_locator(FixedLocator(list(shown)))
            of.set_major_formatter(FuncFormatter(lambda at, _, axis=axis: axis.text(axis.places[round(at)])))
            of.set_minor_locator(NullLocator())
        panel.set_xlabel(x.label)
        panel.set_ylabel(y.label)
    return figure


def parallel(result: SweepResult, axes: Sequence[Axis], flow: str, field: str) -> Figure:
    """A line for each point of the sweep through its values of all parameters to the mean of a quantity, which colours it."""
    points = sorted(
        (point for point in points_of(result, axes, field) if flow in point.means), key=lambda one: one.means[flow][0]
    )
    values = [point.means[flow][0] for point in points]
    low, high = min(values, default=0.0), max(values, default=1.0)
    with _figure(1, 1, HEIGHT + 0.6) as (figure, (panel,)):
        panel.grid(visible=False)
        colours: Any = matplotlib.colormaps[MAP]
        for point, value in zip(points, values, strict=True):
            heights = [
                _share(place, axis.places[0], axis.places[-1]) for place, axis in zip(point.places, axes, strict=True)
            ]
            last = _share(value, low, high)
            panel.plot([*range(len(axes)), len(axes)], [*heights, last], color=colours(last), linewidth=1.0, alpha=0.75)
        for at, axis in enumerate(axes):
            panel.axvline(at, color=INK, linewidth=0.8)
            ends = (
                axis.places
                if not axis.is_number and len(axis.places) <= MOST_PLACES
                else (axis.places[0], axis.places[-1])
            )
            for place in ends:
                text = significant(place, 3) if axis.is_number else axis.text(place)
                _mark(panel, at, _share(place, axis.places[0], axis.places[-1]), text)
        panel.axvline(len(axes), color=INK, linewidth=0.8)
        for value in (low, high):
            _mark(panel, len(axes), _share(value, low, high), significant(value, 3))
        labels = [_broken(axis.label) for axis in axes] + [QUANTITIES[field][0]]
        panel.set_xticks(range(len(axes) + 1), labels, fontsize=7.5)
        panel.tick_params(axis="x", length=0)
        panel.yaxis.set_visible(False)
        for spine in panel.spines.values():
            spine.set_visible(False)
        panel.set_xlim(-0.35, len(axes) + 0.5)
        panel.set_ylim(-0.05, 1.05)
    return figure


def _mark(panel: Axes, at: float, height: float, text: str) -> None:
    box: Any = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    panel.text(at + 0.04, height, text, ha="left", va="center", fontsize=7.5, bbox=box, color="#333a44")


def _share(value: float, low: float, high: float) -> float:
    return 0.5 if high <= low else (value - low) / (high - low)


def _broken(label: str) -> str:
    """A key on several lines, broken at its dots."""
    return label.replace(".", ".\n")


def _scale(axis: Any) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: significant(value, 6)))


def _places(axis: Any, of: Axis) -> None:
    """Ticks at the values of a parameter, if they are few."""
    if len(of.values) <= MOST_PLACES:
        axis.set_major_locator(FixedLocator(list(of.places)))
        axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda place, _: of.text(place)))
