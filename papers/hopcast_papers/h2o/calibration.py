"""H12, scene b once more: how often clips stalled, by the probability that profiles predicted for them.

The clips of all buffers are taken together, and told apart by what was predicted. Brier's score is the mean square of the predicted probability less one if
the clip stalled, and less zero if not (G. W. Brier, Monthly Weather Review 78(1), 1950): 0 for a prophet, and 0.25 for somebody who always says one half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopcast.lab.experiment import Table
from hopcast.lab.rows import Row, Sample, value
from hopcast_papers.h2o.places import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLASSES = ((0.0, 0.0), (0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0))
"""More than the first, and at most the second. In the first class no stall is predicted at all."""
ALL = "b, all buffers"


def case(low: float, high: float) -> str:
    """The name of a class."""
    return "b, no stall predicted" if high == 0 else f"b, predicted {100 * low:g} to {100 * high:g} %"


def rows(streams: Sequence[dict[str, Any]]) -> list[Row]:
    """For each class the predicted and the observed share of clips that stall, and how many clips it has; and Brier's score of all."""
    told = [
        (float(one["predicted_stall"]), one["hiccups"] > 0) for one in streams if one["predicted_stall"] is not None
    ]
    found: list[Row] = []
    for low, high in CLASSES:
        inside = [(said, stalled) for said, stalled in told if (low < said <= high if high else said == 0)]
        name = case(low, high)
        found.append(value("H12", name, "clips", "", Sample((float(len(inside)),))))
        if inside:
            said = 100 * sum(said for said, _ in inside) / len(inside)
            stalled = 100 * sum(stalled for _, stalled in inside) / len(inside)
            found.append(value("H12", name, "stalled, predicted", "%", Sample((said,))))
            found.append(value("H12", name, "stalled, observed", "%", Sample((stalled,))))
    if told:
        score = sum((said - stalled) ** 2 for said, stalled in told) / len(told)
        found.append(value("H12", ALL, "Brier's score", "", Sample((score,))))
    return found


def interval(share: float, count: float) -> tuple[float, float]:
    """The 95 % interval of a share of `count` clips (E. B. Wilson, J. American Statistical Association 22(158), 1927)."""
    z = 1.96
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return middle - half, middle + half


def figures(table: Table) -> list[tuple[str, Figure]]:
    """Observed against predicted shares, with the line on which both are alike."""
    import matplotlib
    from matplotlib.figure import Figure

    from hopcast.figures import COLOURS, STYLE

    names = [case(*one) for one in CLASSES if (case(*one), "stalled, observed") in table]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5.0, 4.6), layout="constrained")
        axes = figure.subplots()
        axes.plot([0, 100], [0, 100], color="#6f7782", linestyle="--", label="as predicted")
        said, seen = ([number(table, name, f"stalled, {of}") for name in names] for of in ("predicted", "observed"))
        counts = [number(table, name, "clips") for name in names]
        ends = [interval(share / 100, count) for share, count in zip(seen, counts, strict=True)]
        lengths = [
            [max(share - 100 * low, 0.0) for share, (low, _) in zip(seen, ends, strict=True)],
            [max(100 * high - share, 0.0) for share, (_, high) in zip(seen, ends, strict=True)],
        ]
        axes.errorbar(said, seen, yerr=lengths, color=COLOURS[0], marker="o", capsize=2.0, label="observed")
        for at, height, count in zip(said, seen, counts, strict=True):
            axes.annotate(f"{count:.0f}", (at, height), textcoords="offset points", xytext=(7, -11), fontsize=8)
        axes.set_xlabel("predicted to stall, %")
        axes.set_ylabel("clips that stalled, %")
        axes.set_xlim(-3, 103)
        axes.set_ylim(-3, 103)
        axes.legend(loc="upper left")
    return [("b: clips that stalled, by the predicted probability; numbers of clips, and 95 % intervals", figure)]
