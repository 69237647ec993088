"""H12, scene b once more: whom a limit of stalls per hour admits and refuses wrongly.

All clips of the scene are shown, so it is known of each whether it stalls. A limit on the predicted probability admits some of those that stall, and refuses
some of those that don't. The closed form predicts by the buffer alone, with the true parameters of the link: no profile can tell more of a clip to come.

The area is the probability that of two clips, one of which stalls, that one was predicted to (J. A. Hanley and B. J. McNeil, Radiology 143(1), 1982): 1 for
a prophet, and one half for somebody who says the same of all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hopcast.lab.experiment import Table
from hopcast.lab.rows import Row, Sample, value
from hopcast_papers.h2o.places import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Clip(NamedTuple):
    """What was predicted for a clip, by each estimate as a probability, and whether it stalled."""

    predicted: dict[str, float]
    stalled: bool


PROFILES, CLOSED_FORM = "profiles", "closed form"
LIMITS = (0.1, 0.3, 1.0, 3.0, 6.0, 12.0, 30.0, 60.0)
"""Stalls per hour that are tolerated."""
WRONGLY_ADMITTED, WRONGLY_REFUSED = "admitted of those that stall", "refused of those that don't"


def case(estimate: str, limit: float) -> str:
    """The name of the rows of a limit."""
    return f"b, by {estimate}, {limit:g} stalls per hour"


def tolerated(limit: float, length: float) -> float:
    """The probability of a stall in `length` seconds, of a Poisson process with `limit` per hour."""
    return -math.expm1(-limit * length / 3600)


def area(clips: Sequence[Clip], estimate: str) -> float:
    """The probability that a clip that stalls was predicted to, rather than one that does not. Equal predictions count half."""
    stalled, fine = ([one.predicted[estimate] for one in clips if one.stalled is which] for which in (True, False))
    above = sum((one > other) + (one == other) / 2 for one in stalled for other in fine)
    return above / (len(stalled) * len(fine)) if stalled and fine else math.nan


def rows(clips: Sequence[Clip], length: float) -> list[Row]:
    """For each estimate and limit the shares that are admitted and refused wrongly, and the areas. The clips last `length` seconds."""
    stalled, fine = ([one for one in clips if one.stalled is which] for which in (True, False))
    if not stalled or not fine:
        return []
    found: list[Row] = []
    for estimate in (PROFILES, CLOSED_FORM):
        for limit in LIMITS:
            most = tolerated(limit, length)
            admitted = 100 * sum(one.predicted[estimate] <= most for one in stalled) / len(stalled)
            refused = 100 * sum(one.predicted[estimate] > most for one in fine) / len(fine)
            found.append(value("H12", case(estimate, limit), WRONGLY_ADMITTED, "%", Sample((admitted,))))
            found.append(value("H12", case(estimate, limit), WRONGLY_REFUSED, "%", Sample((refused,))))
        found.append(value("H12", f"b, by {estimate}", "area", "", Sample((area(clips, estimate),))))
    return found


def figures(table: Table) -> list[tuple[str, Figure]]:
    """Clips that were admitted and refused wrongly, along the limit."""
    import matplotlib
    from matplotlib.figure import Figure

    from hopcast.figures import COLOURS, MARKERS, STYLE

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5.0, 4.6), layout="constrained")
        axes = figure.subplots()
        axes.plot([0, 100], [100, 0], color="#6f7782", linestyle="--", label="by chance")
        for place, estimate in enumerate((PROFILES, CLOSED_FORM)):
            known = [limit for limit in LIMITS if (case(estimate, limit), WRONGLY_REFUSED) in table]
            across, up = (
                [number(table, case(estimate, limit), metric) for limit in known]
                for metric in (WRONGLY_REFUSED, WRONGLY_ADMITTED)
            )
            # Without a limit all are admitted, and with a limit of less than nothing none.
            axes.plot(
                [100, *across, 0],
                [0, *up, 100],
                color=COLOURS[place],
                marker=MARKERS[place],
                markevery=range(1, len(known) + 1),
                label=estimate,
            )
            told: dict[tuple[float, float], list[str]] = {}
            for limit, at in zip(known, zip(across, up, strict=True), strict=True):
                told.setdefault(at, []).append(f"{limit:g}")
            for at, limits in told.items():
                axes.annotate(
                    limits[0] if len(limits) == 1 else f"{limits[0]} to {limits[-1]}",
                    at,
                    textcoords="offset points",
                    xytext=(7, 5) if place == 0 else (-7, -11),
                    ha="left" if place == 0 else "right",
                    fontsize=8,
                    color=COLOURS[place],
                )
        axes.set_xlabel("refused of the clips that don't stall, %")
        axes.set_ylabel("admitted of the clips that stall, %")
        axes.set_xlim(-9, 103)
        axes.set_ylim(-8, 103)
        axes.legend(loc="upper right")
    return [("b: clips admitted and refused wrongly, by the limit in stalls per hour", figure)]
