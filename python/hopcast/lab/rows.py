"""Rows: the paper's value, the measured value, and the verdict.

A value is a number that the paper may have, too. A claim is a sentence of the paper that an experiment tests.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, median_low
from typing import Any, Literal

from hopcast.numbers import significant, with_interval
from hopcast.statistics import ci95, mean

FACTOR = 1.5
"""A measured value within this factor of the paper's agrees with it."""
POINTS = 5.0
"""A measured percentage within this number of points of the paper's agrees with it, if the paper's is large."""
SMALL, SMALL_POINTS = 10.0, 1.0
"""Per cent: below this number of the paper, a factor of `FACTOR` or one point count."""

Verdict = Literal["holds", "fails", "within", "differs", "inconclusive", "measured"]
RANK = {"fails": 0, "differs": 0, "inconclusive": 1, "within": 2, "holds": 2}

Of = Literal["typical", "hardest", "best"]
"""Which of its cells represents a sentence."""
WHICH: dict[Of, str] = {"typical": "the median", "hardest": "the hardest", "best": "the best"}
"""Part of the row's case."""


@dataclass(frozen=True)
class Sample:
    """One number, measured once in each replication, in the order of the seeds."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the replications."""
        return mean(list(self.values))

    @property
    def ci95(self) -> float | None:
        """Half the width of the 95 % interval of the mean; `None` for a single replication."""
        return ci95(list(self.values))

    @staticmethod
    def of(function: Callable[..., float], *samples: Sample) -> Sample:
        """Compute a number from others, replication by replication: samples with common seeds are pairs."""
        return Sample(tuple(function(*values) for values in zip(*(sample.values for sample in samples), strict=True)))

    def first(self, count: int) -> Sample:
        """The sample of the first replications, as many as the other sample has."""
        return Sample(self.values[:count])

    def __sub__(self, other: Sample) -> Sample:
        return Sample.of(lambda a, b: a - b, self, other)

    def __truediv__(self, other: Sample) -> Sample:
        return Sample.of(lambda a, b: a / b if b else float("nan"), self, other)


@dataclass(frozen=True)
class Row:
    """One line of a study's table. The fields are part of the command line's contract. Raises `ValueError` for
    numbers that a file can't hold.
    """

    experiment: str
    case: str
    metric: str
    unit: str
    kind: Literal["value", "claim"]
    paper: float | None
    paper_low: float | None
    paper_high: float | None
    measured: float | None
    ci95: float | None
    replications: int
    verdict: Verdict
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("paper", "paper_low", "paper_high", "measured", "ci95"):
            number = getattr(self, name)
            if number is not None and not (isinstance(number, int | float) and math.isfinite(number)):
                place = f"{self.experiment}, {self.case!r}, {self.metric!r}"
                raise ValueError(f"row {place}: {name} = {number!r}: must be a finite number or None")

    def as_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        return dataclasses.asdict(self)

    def paper_text(self) -> str:
        """The paper's value: a number, a range, or one end of a range."""
        unit = f" {self.unit}" if self.unit else ""
        if self.paper is not None:
            return significant(self.paper) + unit
        low, high = self.paper_low, self.paper_high
        if low is None:
            return "–" if high is None else f"≤ {significant(high)}{unit}"
        if high is None:
            return f"≥ {significant(low)}{unit}"
        return f"{significant(low)} … {significant(high)}{unit}"

    def compared(self) -> float | None:
        """The measured value compared with the paper's number, or the nearer end of its range: the ratio, or for a
        percentage the difference in points.
        """
        centre = self.measured
        if (
            self.kind != "value"
            or centre is None
            or (self.paper, self.paper_low, self.paper_high) == (None, None, None)
        ):
            return None
        paper = self.paper
        if paper is None:
            paper = max(-float("inf") if self.paper_low is None else self.paper_low, centre)
            paper = min(float("inf") if self.paper_high is None else self.paper_high, paper)
        if self.unit == "%":
            return centre - paper
        return centre / paper if paper else None

    def compared_text(self) -> str:
        """The same as text, for people."""
        found = self.compared()
        if found is None:
            return ""
        return f"{found:+.1f} points" if self.unit == "%" else f"x {significant(found, 3)}"

    def measured_text(self) -> str:
        """The measured value with its interval, as text."""
        if self.measured is None:
            return "–"
        return with_interval(self.measured, self.ci95) + (f" {self.unit}" if self.unit else "")


def value(
    experiment: str,
    case: str,
    metric: str,
    unit: str,
    measured: Sample,
    *,
    paper: float | None = None,
    low: float | None = None,
    high: float | None = None,
    note: str = "",
) -> Row:
    """Compare a number with the paper's number or range; without one, it is only `measured`."""
    bounds = tolerated(unit, paper, low, high)
    verdict: Verdict = (
        "measured" if bounds is None else _place(measured.mean, measured.ci95, *bounds, "within", "differs")
    )
    return _row(experiment, case, metric, unit, "value", paper, low, high, measured, verdict, note)


def claim(
    experiment: str,
    case: str,
    metric: str,
    unit: str,
    measured: Sample,
    *,
    low: float | None = None,
    high: float | None = None,
    note: str = "",
) -> Row:
    """A finding of the paper that the experiment tests, as an inequality: `measured` lies between `low` and `high`,
    if given.

    One sentence of the paper is one claim; `sentence` makes one from several cells.
    """
    verdict = by_line(measured.mean, measured.ci95, low, high)
    return _row(experiment, case, metric, unit, "claim", None, low, high, measured, verdict, note)


def by_line(mean: float, half: float | None, low: float | None, high: float | None) -> Verdict:
    """Verdict on a mean, with half the width of its interval, by a line: between `low` and `high`, if given."""
    bounds = (-math.inf if low is None else low, math.inf if high is None else high)
    return _place(mean, half, *bounds, "holds", "fails")


def word_by_line(row: Row, low: float | None, high: float | None) -> str:
    """`holds`, `fails`, or `open` where the interval crosses the line: the verdict on a row that does not count, for tables."""
    found = by_line(math.nan if row.measured is None else row.measured, row.ci95, low, high)
    return "open" if found == "inconclusive" else found


def average(samples: Iterable[Sample]) -> Sample:
    """Their mean, replication by replication."""
    return Sample.of(lambda *each: math.fsum(each) / len(each), *samples)


def percent(part: Sample, whole: Sample) -> Sample:
    """The part in per cent of the whole; unknown if the whole is zero."""
    return Sample.of(lambda a, b: 100.0 * a / b if b else math.nan, part, whole)


def ratio_of_means(part: Sample, whole: Sample) -> Sample:
    """For quantities of which a single replication may have very little. The values deviate from the ratio as it
    varies (W. G. Cochran, Sampling Techniques, 3rd edition, theorem 2.5); unknown if the whole is zero.
    """
    base = whole.mean
    ratio = part.mean / base if base else math.nan
    return Sample.of(lambda a, b: ratio + (a - ratio * b) / base if base else math.nan, part, whole)


def typical(cells: Iterable[Sample]) -> Sample:
    """For a sentence about a tendency ("larger segments win"): the median of its cells, replication by replication.
    Values that could not be measured do not count.
    """

    def middle(*values: float) -> float:
        known = [value for value in values if not math.isnan(value)]
        return median(known) if known else math.nan

    return Sample.of(middle, *cells)


def hardest(cells: Iterable[Sample], low: float | None, high: float | None) -> Sample:
    """For a sentence about each cell ("never", "all"): the cell that is farthest beyond its threshold, or nearest to
    it. A value that could not be measured is beyond.
    """
    return max(cells, key=lambda cell: _beyond(cell, low, high))


def best(cells: Iterable[Sample], low: float | None, high: float | None) -> Sample:
    """For a sentence about some cells ("in some cases"): the cell that is farthest within its threshold, or nearest
    to it. A value that could not be measured is beyond. If the cells are alike, this is the one whose mean chance has
    raised the most, so an experiment that uses it reports how often chance alone would pass.
    """
    return min(cells, key=lambda cell: _beyond(cell, low, high))


def _beyond(sample: Sample, low: float | None, high: float | None) -> float:
    """Distance of the mean beyond a threshold, negative within."""
    centre = sample.mean
    if math.isnan(centre):
        return math.inf
    return max(
        -math.inf if low is None else low - centre,
        -math.inf if high is None else centre - high,
    )


def judged(cells: Collection[Sample], of: Of, low: float | None, high: float | None) -> Sample:
    """The value that represents the cells of a sentence."""
    if of == "typical":
        return typical(cells)
    return (hardest if of == "hardest" else best)(cells, low, high)


def sentence(
    experiment: str,
    case: str,
    metric: str,
    unit: str,
    cells: Mapping[str, Sample],
    *,
    of: Of,
    low: float | None = None,
    high: float | None = None,
    note: str,
    shown: Callable[[Sample], Sample] = lambda cell: cell,
) -> list[Row]:
    """A sentence of the paper about several cells: the cells as values, by their cases and as they should be `shown`,
    and one claim about the `typical`, the `hardest`, or the `best` of them.
    """
    if len(cells) == 1:
        ((which, found),) = cells.items()
        each = []
    else:
        which = f"{case + ', ' if case else ''}{WHICH[of]} of {len(cells)}"
        found = judged(cells.values(), of, low, high)
        each = [value(experiment, name, metric, unit, shown(sample)) for name, sample in cells.items()]
    about = claim(experiment, which, metric, unit, found, low=low, high=high, note=note)
    return [*each, about]


def experiment_verdict(rows: Sequence[Row]) -> Verdict:
    """The verdict on an experiment: that of its median cell (the lower one of two), among those with a value in the
    paper.
    """
    judged = sorted((row for row in rows if row.verdict in RANK), key=lambda row: RANK[row.verdict])
    if not judged:
        return "measured"
    rank = median_low([RANK[row.verdict] for row in judged])
    verdicts = [row.verdict for row in judged if RANK[row.verdict] == rank]
    return max(sorted(set(verdicts)), key=verdicts.count)


def tolerated(
    unit: str, paper: float | None, low: float | None = None, high: float | None = None
) -> tuple[float, float] | None:
    """The range in which a measured value agrees with the paper's number or range; `None` without either."""
    low, high = (paper, paper) if paper is not None else (low, high)
    if low is None and high is None:
        return None
    least = -math.inf if low is None else min(low / FACTOR, low * FACTOR)
    most = math.inf if high is None else max(high / FACTOR, high * FACTOR)
    if unit != "%":
        return least, most
    if low is not None:
        least = low - POINTS if low >= SMALL else min(least, low - SMALL_POINTS)
    if high is not None:
        most = high + POINTS if high >= SMALL else max(most, high + SMALL_POINTS)
    return least, most


def agrees(measured: float, unit: str, paper: float) -> bool:
    """Whether a number agrees with the paper's."""
    least, most = tolerated(unit, paper) or (-math.inf, math.inf)
    return least <= measured <= most


def _place(centre: float, half: float | None, low: float, high: float, inside: Verdict, outside: Verdict) -> Verdict:
    """Position of the mean's interval: wholly inside, wholly outside, or across one of the thresholds."""
    half = half or 0.0
    if not math.isfinite(centre):
        return "inconclusive"
    if low <= centre - half and centre + half <= high:
        return inside
    if centre + half < low or high < centre - half:
        return outside
    return "inconclusive"


def _row(
    experiment: str,
    case: str,
    metric: str,
    unit: str,
    kind: Literal["value", "claim"],
    paper: float | None,
    low: float | None,
    high: float | None,
    measured: Sample,
    verdict: Verdict,
    note: str,
) -> Row:
    centre, half = _known(measured.mean), _known(measured.ci95)
    return Row(
        experiment=experiment,
        case=case,
        metric=metric,
        unit=unit,
        kind=kind,
        paper=paper,
        paper_low=low,
        paper_high=high,
        measured=centre,
        ci95=None if centre is None else half,
        replications=len(measured.values),
        verdict=verdict,
        note=note,
    )


def _known(number: float | None) -> float | None:
    """A number for a row: `None` if it could not be measured, or is infinite."""
    return number if number is not None and math.isfinite(number) else None
