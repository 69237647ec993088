"""Rows: what a paper says beside what is measured, and the verdict on it.

A claim is what an experiment is about. A remark is a further sentence of the paper about a result, whose line was set before it was run: it
is judged likewise, but influences neither the experiment's verdict nor the count of claims.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, median_low
from typing import Any, Literal, cast

from hopcast.numbers import significant, with_interval
from hopcast.statistics import ci95, mean

FACTOR = 1.5
"""A measured value within this factor of the paper's agrees with it."""
POINTS = 5.0
"""A measured percentage within so many points of the paper's agrees with it."""
NOISE = 0.10
"""What paper H calls experimental noise (its section IV): two numbers that differ by less are the same."""
UNAFFECTED = 1.0
"""Points: by less than that a loss counts as unaffected; the papers give no number."""
RESOLUTION = 0.01
"""Points: the last digit of the papers' tables of losses. What rises, rises by at least that."""

Verdict = Literal["holds", "fails", "within", "differs", "inconclusive", "measured"]
RANK = {"fails": 0, "differs": 0, "inconclusive": 1, "within": 2, "holds": 2}

Of = Literal["typical", "hardest", "best"]
"""Which of its cells stands for a sentence."""
WHICH: dict[Of, str] = {"typical": "the median", "hardest": "the hardest", "best": "the best"}
"""As a row's case names it."""

Passed = Literal["holds", "fails", "inconclusive"]
"""What can come of a remark."""
IN_WORDS: dict[Passed, str] = {"holds": "holds", "fails": "does not hold", "inconclusive": "cannot be said"}
"""As it ends the note of a remark."""
_REMARK = re.compile(rf" Remark, (?P<line>[^:]*): (?P<words>{'|'.join(IN_WORDS.values())})\.$")
"""That end, by which a remark is told from other rows: the columns have no place for it."""


@dataclass(frozen=True)
class Sample:
    """One number, measured once in each replication, in the order of the seeds."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over the replications."""
        return mean(list(self.values))

    @property
    def ci95(self) -> float | None:
        """Half the width of the 95 % interval of the mean; `None` for a single replication."""
        return ci95(list(self.values))

    @staticmethod
    def of(function: Callable[..., float], *samples: Sample) -> Sample:
        """A number computed from others, replication by replication: samples with common seeds are pairs."""
        return Sample(tuple(function(*values) for values in zip(*(sample.values for sample in samples), strict=True)))

    def first(self, count: int) -> Sample:
        """That of the first replications: those it has in common with a sample of so many."""
        return Sample(self.values[:count])

    def __sub__(self, other: Sample) -> Sample:
        return Sample.of(lambda a, b: a - b, self, other)

    def __truediv__(self, other: Sample) -> Sample:
        return Sample.of(lambda a, b: a / b if b else float("nan"), self, other)


@dataclass(frozen=True)
class Row:
    """One line of a study's table. The fields are those of the command line's contract. Raises `ValueError` where a number is none that a
    file can hold."""

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
        """For JSON."""
        return dataclasses.asdict(self)

    @property
    def remark(self) -> Passed | None:
        """What comes of a remark, as its note says; `None` of another row."""
        if (found := self._remark) is None:
            return None
        return next(name for name, words in IN_WORDS.items() if words == found["words"])

    @property
    def _remark(self) -> re.Match[str] | None:
        return _REMARK.search(self.note) if self.verdict == "measured" else None

    def paper_text(self) -> str:
        """What the paper says: a number, a range, or one end of a range. Of a remark it is its line."""
        if (found := self._remark) is not None:
            return found["line"]
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
        """A value beside the paper's number, or the nearer end of its range: the ratio, or for a percentage the difference in points."""
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
        """The same for people."""
        found = self.compared()
        if found is None:
            return ""
        return f"{found:+.1f} points" if self.unit == "%" else f"x {significant(found, 3)}"

    def measured_text(self) -> str:
        """What was measured, with its interval."""
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
    """A number beside the paper's number or range; beside nothing, it is only `measured`."""
    bounds = _tolerated(unit, paper, low, high)
    verdict: Verdict = "measured" if bounds is None else _place(measured, *bounds, "within", "differs")
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
    """A finding of the paper that the experiment is about, as an inequality: `measured` lies between `low` and `high`, where given.

    One sentence of the paper is one claim; `sentence` makes one of several cells.
    """
    bounds = (-float("inf") if low is None else low, float("inf") if high is None else high)
    verdict = _place(measured, *bounds, "holds", "fails")
    return _row(experiment, case, metric, unit, "claim", None, low, high, measured, verdict, note)


def remark(judged: Row) -> Row:
    """A further sentence of the paper about a result, whose line was set before it was run. It is judged as a claim is, but counts for no
    verdict: the row is a measured value, whose note says the line and what comes of it."""
    return dataclasses.replace(
        judged,
        kind="value",
        paper_low=None,
        paper_high=None,
        verdict="measured",
        note=f"{judged.note}. Remark, {judged.paper_text()}: {IN_WORDS[cast(Passed, judged.verdict)]}.",
    )


def average(samples: Iterable[Sample]) -> Sample:
    """Their mean, replication by replication."""
    return Sample.of(lambda *each: math.fsum(each) / len(each), *samples)


def percent(part: Sample, whole: Sample) -> Sample:
    """The part in per cent of the whole; not known where there is none."""
    return Sample.of(lambda a, b: 100.0 * a / b if b else math.nan, part, whole)


def ratio_of_means(part: Sample, whole: Sample) -> Sample:
    """For what a single replication may have next to nothing of. The values spread about that ratio as it varies (W. G. Cochran, Sampling
    Techniques, 3rd edition, theorem 2.5); not known where there is no whole."""
    base = whole.mean
    ratio = part.mean / base if base else math.nan
    return Sample.of(lambda a, b: ratio + (a - ratio * b) / base if base else math.nan, part, whole)


def typical(cells: Iterable[Sample]) -> Sample:
    """Of the cells of a sentence about a tendency ("larger segments win"): their median, replication by replication. What could not be
    measured does not count."""

    def middle(*values: float) -> float:
        known = [value for value in values if not math.isnan(value)]
        return median(known) if known else math.nan

    return Sample.of(middle, *cells)


def hardest(cells: Iterable[Sample], low: float | None, high: float | None) -> Sample:
    """Of the cells of a sentence that says the same of each ("never", "all"): that which is the furthest beyond its line, or the nearest
    to it. What could not be measured is beyond."""
    return max(cells, key=lambda cell: _beyond(cell, low, high))


def best(cells: Iterable[Sample], low: float | None, high: float | None) -> Sample:
    """Of the cells of a sentence that says it of some ("in some cases"): that which is the furthest within its line, or the nearest to it.
    What could not be measured is beyond. Of cells that are alike it is the one whose mean chance has raised the most, so that an experiment
    that asks for it says how often chance alone would pass."""
    return min(cells, key=lambda cell: _beyond(cell, low, high))


def _beyond(sample: Sample, low: float | None, high: float | None) -> float:
    """How far the mean is beyond a line, below zero within."""
    centre = sample.mean
    if math.isnan(centre):
        return math.inf
    return max(
        -math.inf if low is None else low - centre,
        -math.inf if high is None else centre - high,
    )


def judged(cells: Collection[Sample], of: Of, low: float | None, high: float | None) -> Sample:
    """What stands for the cells of a sentence."""
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
    in_passing: bool = False,
) -> list[Row]:
    """A sentence of the paper that speaks of several cells: these as values, by their cases and as they are to be `shown`, and one claim
    about what is `typical` of them, about the `hardest`, or about the `best`; one said `in_passing` is a remark."""
    if len(cells) == 1:
        ((which, found),) = cells.items()
        each = []
    else:
        which = f"{case + ', ' if case else ''}{WHICH[of]} of {len(cells)}"
        found = judged(cells.values(), of, low, high)
        each = [value(experiment, name, metric, unit, shown(sample)) for name, sample in cells.items()]
    about = claim(experiment, which, metric, unit, found, low=low, high=high, note=note)
    return [*each, remark(about) if in_passing else about]


def experiment_verdict(rows: Sequence[Row]) -> Verdict:
    """The verdict on an experiment: that of its median cell, the lower one of two, among those the paper speaks of."""
    judged = sorted((row for row in rows if row.verdict in RANK), key=lambda row: RANK[row.verdict])
    if not judged:
        return "measured"
    rank = median_low([RANK[row.verdict] for row in judged])
    verdicts = [row.verdict for row in judged if RANK[row.verdict] == rank]
    return max(sorted(set(verdicts)), key=verdicts.count)


def _tolerated(unit: str, paper: float | None, low: float | None, high: float | None) -> tuple[float, float] | None:
    """The range in which a measured value agrees with the paper's."""
    low, high = (paper, paper) if paper is not None else (low, high)
    if low is None and high is None:
        return None
    if unit == "%":
        return (
            -float("inf") if low is None else low - POINTS,
            float("inf") if high is None else high + POINTS,
        )
    return (
        -float("inf") if low is None else min(low / FACTOR, low * FACTOR),
        float("inf") if high is None else max(high / FACTOR, high * FACTOR),
    )


def _place(sample: Sample, low: float, high: float, inside: Verdict, outside: Verdict) -> Verdict:
    """Where the interval of the mean lies: wholly inside, wholly outside, or across one of the lines."""
    centre, half = sample.mean, sample.ci95 or 0.0
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
    """What a row can say of a number: nothing of one that could not be measured, or has no end."""
    return number if number is not None and math.isfinite(number) else None
