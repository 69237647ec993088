"""Figures in one style. They have no background and no fixed text colour, so that a page can show them on light or
dark.
"""

from __future__ import annotations

import functools
import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any

import matplotlib
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from hopcast.numbers import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hopcast.lab.rows import Row

COLOURS = ("#3987cf", "#e07b2e", "#38a169", "#b565c9", "#d64f6b", "#8a8f3c")
"""Colours that most colour-blind people can tell apart, and that are legible on white and on near-black."""
MARKERS = ("o", "s", "^", "D", "v", "P")
LITERAL: Any = {"text.parse_math": False}
"""Settings for names, which are not formulas whatever characters they contain. Numbers on a logarithmic axis are
formulas.
"""
INK = "#6f7782"
"""Colour of text and axes: legible on white and on near-black. `svg` replaces it with the text colour of the page."""
WIDTH, HEIGHT = 6.4, 3.4
"""Size in inches."""
ROOM = WIDTH - 0.9
"""Inches of the width that remain besides the numbers and the label of the axis."""
GAP = 0.04
"""Inches between a number or label and the middle of the gap to the next one."""
LEGEND_ROW = 0.19
"""Inches by which each row of a legend after the first makes a figure higher, so that the axes stay as they are."""
PAPER, PAPER_RANGE = "paper", "paper: a range"
"""Names in legends."""
HOLLOW: Any = {"linestyle": ":", "linewidth": 1.0, "markerfacecolor": "none", "markersize": 8.0}
"""Marker of a paper's value, drawn around the mark of the measured value where both are equal."""
RANGE: Any = {"linestyle": ":", "linewidth": 1.0, "marker": "_", "markersize": 8.0, "markeredgewidth": 1.5}
"""Both ends of a range of a paper, and the line between them."""
DIAMOND: Any = {"markersize": 5.0, "markerfacecolor": "white", "linewidth": 1.0}
"""Marker of a paper's value on a bar."""
FILL = 0.5
"""Opacity of bars, before which their intervals stand out on light and on dark."""
PAGE_FONTS = "'DejaVu Sans', Verdana, sans-serif"
"""Font on a page: the one by which positions were computed, one of the same width, or any that the reader has."""
LONG = re.compile(r"-?\d+\.\d{3,}")
"""Numbers with more than two decimals."""
HASHED = re.compile(r"""(?<=["#])(\w*?)[0-9a-f]{10}(?=["\)])""")
"""Identifiers in which matplotlib hashes coordinates, whose last digits differ by machine: the letters before the hash."""

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
    # TrueType: publishers refuse Type 3, matplotlib's default.
    "pdf.fonttype": 42,
    "svg.hashsalt": "hopcast",
}


Entry = tuple[Any, str]
"""An entry of a legend: the drawn object and its name. Axes skip names that begin with an underscore."""


@dataclass(frozen=True)
class Line:
    """A labelled line through rows of a study, with their intervals as error bars."""

    label: str
    points: Sequence[tuple[float, Row]]


@dataclass(frozen=True)
class Curve:
    """A labelled curve over time; `None` is a gap. `colour` is an index of the colours, `half_widths` those of the
    intervals around the values, with several replications.
    """

    label: str
    seconds: Sequence[float]
    values: Sequence[float | None]
    colour: int
    half_widths: Sequence[float | None] = ()


@dataclass(frozen=True)
class Group:
    """Bars of one colour, one for each label of the axis: heights (NaN for none), half the widths of their intervals,
    and the paper's values.
    """

    label: str
    heights: Sequence[float]
    half_widths: Sequence[float]
    papers: Sequence[tuple[float, float] | None] = ()

    @staticmethod
    def of(label: str, rows: Sequence[Row]) -> Group:
        """Rows of a study."""
        return Group(
            label,
            [math.nan if row.measured is None else row.measured for row in rows],
            [row.ci95 or 0.0 for row in rows],
            [_paper(row) for row in rows],
        )


def lines(drawn: Sequence[Line], *, x: str, y: str, doubling: bool = False, factor: float = 1.0) -> Figure:
    """Draw rows of a study against a parameter, and the paper's values dotted. `doubling` places sizes that double
    each time at equal distances. `factor` converts the unit of the rows to that of the axis. If the parameter has only
    one value, the figure has bars.
    """
    drawn = [Line(line.label, [(at, _scaled(row, factor)) for at, row in line.points]) for line in drawn]
    places = sorted({at for line in drawn for at, _ in line.points})
    if len(places) == 1:
        groups = [Group.of(line.label, [row for _, row in line.points]) for line in drawn if line.points]
        return bars([f"{places[0]:g}"], groups, x=x, y=y)
    lowest = min((row.measured for line in drawn for _, row in line.points if row.measured is not None), default=0.0)
    with _axes() as (figure, axes):
        papers: list[tuple[float, float]] = []
        entries: list[Entry] = []
        for index, line in enumerate(drawn):
            points = [(at, row.measured, row.ci95 or 0.0) for at, row in line.points if row.measured is not None]
            look: Any = {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}
            drawing = axes.errorbar(
                [at for at, _, _ in points],
                [value for _, value, _ in points],
                yerr=intervals([value for _, value, _ in points], [half for *_, half in points], y),
                linestyle="-" if index < len(COLOURS) else "--",
                **look,
            )
            entries.append((drawing, line.label))
            told = [(at, paper) for at, row in line.points if (paper := _paper(row)) is not None]
            papers += [paper for _, paper in told]
            numbers = [(at, low) for at, (low, high) in told if low == high]
            if numbers:
                axes.plot(*zip(*numbers, strict=True), **HOLLOW, **look)
            for at, (low, high) in told:
                if low < high:
                    axes.plot([at, at], [low, high], **RANGE, color=look["color"])
        entries += _of_papers(axes, papers, "o", HOLLOW)
        if doubling:
            axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(FixedLocator(_apart(places, doubling=doubling)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        _finish(axes, x, y, lowest, entries)
    return figure


def curves(drawn: Sequence[Curve], *, y: str, x: str = "time, s", step: bool = False) -> Figure:
    """Draw curves over the time of a run. With `step`, a value is that of the interval that ends at its time. Without
    a curve the figure says that there is no data.
    """
    with _axes() as (figure, axes):
        lowest = 0.0
        entries: list[Entry] = []
        for number, curve in enumerate(drawn):
            values = [math.nan if value is None else value for value in curve.values]
            halves = [half or 0.0 for half in curve.half_widths or [0.0] * len(values)]
            seconds = curve.seconds
            if step:
                seconds, values, halves = _steps(seconds, values, halves)
            # Apart from each other without colours, too.
            marked = range(number, len(values), len(values) // 12 + 1) if len(drawn) > 1 and not step else ()
            colour = COLOURS[curve.colour % len(COLOURS)]
            drawing = axes.plot(
                seconds,
                values,
                color=colour,
                linestyle="-" if curve.colour < len(COLOURS) else "--",
                linewidth=1.1,
                marker=MARKERS[curve.colour % len(MARKERS)],
                markersize=3.5,
                markevery=sorted({*marked, *_alone(values)}),
                # Who comes first is seen before all others.
                zorder=2.5 - 0.5 * number / len(drawn),
            )
            entries += [(line, curve.label) for line in drawing]
            if curve.half_widths:
                axes.fill_between(
                    seconds,
                    [value - half for value, half in zip(values, halves, strict=True)],
                    [value + half for value, half in zip(values, halves, strict=True)],
                    color=colour,
                    alpha=0.2,
                    linewidth=0.0,
                )
            lowest = min([lowest, *(value for value in values if math.isfinite(value))])
        if not drawn:
            axes.text(0.5, 0.5, "nothing was recorded", transform=axes.transAxes, ha="center", va="center")
            axes.yaxis.set_major_locator(NullLocator())
        # From the start of the run, whatever is drawn: figures beside each other share their time.
        axes.set_xlim(0.0, max((curve.seconds[-1] for curve in drawn if curve.seconds), default=1.0))
        _finish(axes, x, y, lowest, entries, least=1)
    return figure


def _steps(
    seconds: Sequence[float], values: Sequence[float], halves: Sequence[float]
) -> tuple[list[float], list[float], list[float]]:
    """The corners of steps, each as high as its value from the previous time to its own. The first step is as long as
    the second.
    """
    if len(seconds) < 2:
        return list(seconds), list(values), list(halves)
    starts = [2.0 * seconds[0] - seconds[1], *seconds[:-1]]
    corners = [place for start, end in zip(starts, seconds, strict=True) for place in (start, end)]
    return corners, [value for value in values for _ in range(2)], [half for half in halves for _ in range(2)]


def _alone(values: Sequence[float]) -> list[int]:
    """Mark values between gaps, which no line shows."""
    gaps = [True, *(math.isnan(value) for value in values), True]
    return [at for at in range(len(values)) if gaps[at] and not gaps[at + 1] and gaps[at + 2]]


def bars(labels: Sequence[str], groups: Sequence[Group], *, y: str, x: str = "") -> Figure:
    """Draw bars next to each other for each label, and marks for the paper's values."""
    with _axes() as (figure, axes):
        _finish(axes, x, y, _lowest(groups), _bars(axes, labels, groups, y))
    return figure


def panels(labels: Sequence[str], drawn: Sequence[tuple[str, Sequence[Group]]]) -> Figure:
    """Draw bars next to each other for each label, in one panel per quantity: its label and the groups of bars."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 0.75 * HEIGHT * len(drawn)), layout="constrained")
        for index, (y, groups) in enumerate(drawn):
            axes = figure.add_subplot(len(drawn), 1, index + 1)
            entries = _bars(axes, labels, groups, y)
            # One legend is enough: what is side by side is the same in all of them.
            _finish(axes, "", y, _lowest(groups), entries if index == 0 else [])
    return figure


def _lowest(groups: Sequence[Group]) -> float:
    return min((height for group in groups for height in group.heights if math.isfinite(height)), default=0.0)


def intervals(values: Sequence[float], half_widths: Sequence[float], y: str) -> tuple[list[float], list[float]]:
    """Lengths of intervals below and above values with the label `y`, as drawn. Intervals of the t distribution are
    unbounded: here they end at zero and, in %, at 100, unless a value is beyond.
    """
    least = 0.0 if all(value >= 0.0 for value in values if math.isfinite(value)) else -math.inf
    is_share = y.endswith("%") and all(value <= 100.0 for value in values if math.isfinite(value))
    most = 100.0 if is_share else math.inf
    pairs = list(zip(values, half_widths, strict=True))
    below = [min(half, max(value - least, 0.0)) for value, half in pairs]
    return below, [min(half, max(most - value, 0.0)) for value, half in pairs]


def _bars(axes: Axes, labels: Sequence[str], groups: Sequence[Group], y: str) -> list[Entry]:
    """Draw the groups, and return the entries of the legend."""
    entries: list[Entry] = []
    width = 0.8 / len(groups)
    for index, group in enumerate(groups):
        places = [at + (index - (len(groups) - 1) / 2) * width for at in range(len(labels))]
        for place, height in zip(places, group.heights, strict=True):
            if math.isnan(height):
                axes.text(place, 0.0, "–", ha="center", va="bottom")
        drawing = axes.bar(
            places,
            group.heights,
            width * 0.92,
            yerr=intervals(group.heights, group.half_widths, y) if any(group.half_widths) else None,
            color=to_rgba(COLOURS[index % len(COLOURS)], FILL),
            edgecolor=COLOURS[index % len(COLOURS)],
            ecolor=INK,
            # As wide as fits in its bar.
            capsize=min(3.0, 0.2 * 72.0 * ROOM * width / len(labels)),
        )
        entries.append((drawing, group.label))
        for place, paper in zip(places, group.papers, strict=False):
            if paper is not None and paper[0] == paper[1]:
                axes.plot(place, paper[0], "D", color=INK, **DIAMOND)
            elif paper is not None:
                axes.plot([place, place], paper, color=INK, **RANGE)
    papers = [paper for group in groups for paper in group.papers if paper is not None]
    entries += _of_papers(axes, papers, "D", DIAMOND)
    # Whatever is drawn: panels below each other share their places.
    axes.set_xlim(-0.6, len(labels) - 0.4)
    axes.xaxis.set_major_locator(FixedLocator(list(range(len(labels)))))
    folded = _folded(labels)
    axes.set_xticklabels(
        folded or labels,
        rotation=0 if folded else 30,
        ha="center" if folded else "right",
        rotation_mode="anchor",
        parse_math=False,
    )
    axes.grid(visible=False, axis="x")
    return entries


@dataclass(frozen=True)
class Place:
    """A node of a network: its name, its position in metres (`None` without a place), and its marker."""

    label: str
    position: tuple[float, float] | None
    marker: str = "o"
    is_hollow: bool = False


@dataclass(frozen=True)
class Way:
    """A flow from one node of a network to another; `colour` is an index of the colours."""

    label: str
    source: str
    target: str
    colour: int


MOST_NAMES = 60
"""Nodes whose names fit into a drawing of a network."""


def floor(places: Sequence[Place], ways: Sequence[Way], wires: Sequence[tuple[str, str]] = ()) -> Figure:
    """Draw a network to scale: its nodes, its flows as arrows, its wires as dotted lines. Nodes without a place stand in a row
    above the others.
    """
    spots = _spots(places)
    with _axes() as (figure, axes):
        figure.set_size_inches(WIDTH, 4.2)
        for one, other in wires:
            (x, y), (to_x, to_y) = spots[one], spots[other]
            axes.plot([x, to_x], [y, to_y], color=INK, linestyle=":", linewidth=1.2, zorder=1)
        entries: list[Entry] = []
        for way in ways:
            colour = COLOURS[way.colour % len(COLOURS)]
            look: Any = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.4, "shrinkA": 5, "shrinkB": 5}
            bend = f"arc3,rad={0.06 * (1 + way.colour):g}"
            axes.annotate(
                "", spots[way.target], spots[way.source], arrowprops=look | {"connectionstyle": bend}, zorder=2
            )
            entries += [(line, way.label) for line in axes.plot([], [], color=colour)]
        for place in places:
            x, y = spots[place.label]
            fill = "none" if place.is_hollow else INK
            axes.plot([x], [y], marker=place.marker, color=INK, markerfacecolor=fill, linestyle="", zorder=3)
            if len(places) <= MOST_NAMES:
                with matplotlib.rc_context(LITERAL):
                    axes.annotate(place.label, (x, y), (4, 4), textcoords="offset points", fontsize=8.0)
        axes.set_aspect("equal", adjustable="datalim")
        axes.margins(0.12)
        axes.set_xlabel("x, m")
        axes.set_ylabel("y, m")
        if entries:
            handles, labels = zip(*entries, strict=True)
            with matplotlib.rc_context(LITERAL):
                figure.legend(handles, labels, loc="outside upper center", ncols=legend_columns(labels))
        return figure


def _spots(places: Sequence[Place]) -> dict[str, tuple[float, float]]:
    """Where each node is drawn."""
    known = [place.position for place in places if place.position is not None] or [(0.0, 0.0)]
    (left, right), (bottom, top) = ((min(values), max(values)) for values in zip(*known, strict=True))
    extent = max(right - left, top - bottom) or 10.0
    lost = [place.label for place in places if place.position is None]
    step = extent / max(len(lost), 1)
    row = {label: (left + (index + 0.5) * step, top + 0.25 * extent) for index, label in enumerate(lost)}
    return {place.label: place.position or row[place.label] for place in places}


def svg(figure: Figure, prefix: str = "") -> str:
    """Return the figure as an SVG element for a page, in the page's text colour; the bytes are the same each time.

    Identifiers begin with `prefix`, so that several figures fit on one page; those of marks and clip paths are numbered. The element is small: text stays text,
    coordinates have two decimals (a hundredth of a point), and marks of one style share it.
    """
    buffer = io.StringIO()
    with matplotlib.rc_context(STYLE | {"svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"'DejaVu Sans'[^;\"]*", PAGE_FONTS, text)
    text = re.sub(
        r'\b(?:d|x|y|width|height|transform)="[^"]*"', lambda attribute: LONG.sub(_rounded, attribute[0]), text
    )
    text = re.sub(r"<g( [^>]*)?>\n((?: *<use [^>]*/>\n){2,})", _styled_once, text)
    numbers: dict[str, int] = {}
    text = HASHED.sub(lambda name: f"{name[1]}{numbers.setdefault(name[0], len(numbers) + 1)}", text)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}", text)
    # The page sets the size; the view box keeps the proportions.
    head, body = text.split(">", 1)
    return re.sub(r' (width|height)="[^"]*"', "", head) + ">" + body


def _rounded(number: re.Match[str]) -> str:
    """Format a number with at most two decimals."""
    short = f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if short == "-0" else short


def _styled_once(group: re.Match[str]) -> str:
    """The marks of a line, with their style at the group instead of at each mark."""
    styles = set(re.findall(r' style="[^"]*"', group[2]))
    if len(styles) > 1:
        return group[0]
    return f"<g{group[1] or ''}{''.join(styles)}>\n" + re.sub(r' style="[^"]*"', "", group[2])


def save(figure: Figure, file: IO[bytes], kind: str, title: str | None = None) -> None:
    """Write the figure to an open file as `"svg"`, `"png"` or `"pdf"`; the bytes are the same each time."""
    # A figure does not say when it was drawn.
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    metadata = undated.get(kind, {}) | ({} if title is None else {"Title": title})
    with matplotlib.rc_context(STYLE):
        figure.savefig(file, format=kind, metadata=metadata, dpi=200)


def picture(figure: Figure) -> str:
    """Return the figure as a standalone SVG file, with its own text colour."""
    return svg(figure).replace("currentColor", INK)


def pdf(figure: Figure, title: str) -> bytes:
    """Return the figure as a PDF document; the bytes are the same each time."""
    buffer = io.BytesIO()
    save(figure, buffer, "pdf", title)
    return buffer.getvalue()


@contextmanager
def _axes() -> Iterator[tuple[Figure, Axes]]:
    """Make a figure with one pair of axes. The style holds while it is drawn; `svg` sets it again."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        yield figure, figure.add_subplot()


def _of_papers(axes: Axes, papers: Sequence[tuple[float, float]], mark: str, look: dict[str, Any]) -> list[Entry]:
    """The legend's entries for values of a paper: numbers with this mark, ranges, or both. A single number says so."""
    entries: list[Entry] = []
    numbers = sum(low == high for low, high in papers)
    if numbers:
        label = PAPER if numbers > 1 or len(papers) > 1 else "paper: one number"
        entries += [(line, label) for line in axes.plot([], [], marker=mark, color=INK, **({"linestyle": ""} | look))]
    if numbers < len(papers):
        entries += [(line, PAPER_RANGE) for line in axes.plot([], [], color=INK, **RANGE)]
    return entries


def _scaled(row: Row, factor: float) -> Row:
    """The row with its numbers in another unit."""
    if factor == 1.0:
        return row

    def scaled(number: float | None) -> float | None:
        return None if number is None else number * factor

    return replace(
        row,
        measured=scaled(row.measured),
        ci95=scaled(row.ci95),
        paper=scaled(row.paper),
        paper_low=scaled(row.paper_low),
        paper_high=scaled(row.paper_high),
    )


def _finish(axes: Axes, x: str, y: str, lowest: float, entries: Sequence[Entry], least: int = 2) -> None:
    """Add labels, a legend if there are several `entries`, and start the axis at zero unless values (without error
    bars) are below.
    """
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    low, high = axes.get_ylim()
    axes.set_ylim(low if lowest < -1e-12 else 0.0, high if high > 0.0 else 1.0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: significant(value, 6)))
    if len(entries) >= least:
        handles, labels = zip(*entries, strict=True)
        # Above the axes, where no curve can run through it.
        place: Any = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
        with matplotlib.rc_context(LITERAL):
            columns = legend_columns(labels)
            axes.legend(handles, labels, ncols=columns, **place)
        # As high as several rows of a legend ask for, instead of lower axes.
        figure = axes.get_figure(root=True)
        assert figure is not None
        figure.set_figheight(figure.get_figheight() + LEGEND_ROW * (math.ceil(len(labels) / columns) - 1))


def _paper(row: Row) -> tuple[float, float] | None:
    """The two ends of a paper's value; both are equal for a single number."""
    if row.kind != "value":
        return None
    if row.paper is not None:
        return row.paper, row.paper
    if row.paper_low is not None and row.paper_high is not None:
        return row.paper_low, row.paper_high
    return None


def legend_columns(labels: Sequence[str], room: float = ROOM) -> int:
    """Number of columns that fit in this width in inches; at most four."""
    em = STYLE["font.size"] / 72.0
    # The handle, the space after it, and that between columns: matplotlib's defaults.
    beside = (2.0 + 0.8 + 2.0) * em
    for columns in range(min(len(labels), 4), 1, -1):
        # As matplotlib fills them: one after the other, the first ones with one more.
        rows, longer = divmod(len(labels), columns)
        starts = [column * rows + min(column, longer) for column in range(columns + 1)]
        taken = [labels[start:end] for start, end in pairwise(starts)]
        if sum(max(map(_inches, column)) + beside for column in taken) <= room:
            return columns
    return 1


def _apart(places: Sequence[float], *, doubling: bool) -> list[float]:
    """Positions on the axis whose numbers do not overlap those before them; always includes the last one."""
    if len(places) < 2:
        return list(places)
    scale: Callable[[float], float] = math.log2 if doubling else float
    first, last = scale(places[0]), scale(places[-1])
    centres = [(scale(place) - first) / (last - first) * 0.9 * ROOM for place in places]
    halves = [_inches(f"{place:g}") / 2.0 + GAP for place in places]
    kept: list[int] = []
    for index, (centre, half) in enumerate(zip(centres, halves, strict=True)):
        while index == len(places) - 1 and kept and centres[kept[-1]] + halves[kept[-1]] > centre - half:
            kept.pop()
        if not kept or centres[kept[-1]] + halves[kept[-1]] <= centre - half:
            kept.append(index)
    return [places[index] for index in kept]


def _folded(labels: Sequence[str]) -> list[str] | None:
    """Split labels into at most three lines so that they fit next to each other; `None` if they don't fit."""
    slot = ROOM / max(len(labels), 1) - GAP
    folded = []
    for label in labels:
        rows: list[str] = []
        for word in label.split(" "):
            if _inches(word) > slot:
                return None
            if rows and _inches(f"{rows[-1]} {word}") <= slot:
                rows[-1] += f" {word}"
            else:
                rows.append(word)
        if len(rows) > 3:
            return None
        folded.append("\n".join(rows))
    return folded


@functools.cache
def _inches(text: str) -> float:
    """Width of a text."""
    if not text.strip():
        return 0.0
    with matplotlib.rc_context(LITERAL):
        path = TextPath((0.0, 0.0), text, size=STYLE["font.size"], prop=FontProperties(family=STYLE["font.family"]))
    return float(path.get_extents().width) / 72.0
